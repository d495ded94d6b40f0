"""What is held of a stream: its beginning, its end.

Bytes gather in a buffer. Only for a window, or when the buffer is full, are they interpreted (`screen`), and what can
no longer be seen never is:

- The beginning is complete once rows that the cursor can not reach any more fill it. Nothing is looked at after that.
- The end forgets the rows that no window can show any more. If the lines at the end of a full buffer fill a window
  whatever came before them (`skip`), all before them is dropped without being interpreted.

So a flood costs little more than copying it, and any chunking of the same bytes gives the same windows.
"""

from __future__ import annotations

from boundcap_jupyter.core.limits import Bound
from boundcap_jupyter.core.screen import Screen
from boundcap_jupyter.core.sgr import style_after
from boundcap_jupyter.core.skip import fresh_start, new_ground
from boundcap_jupyter.core.totals import Totals
from boundcap_jupyter.core.window import Window, head_window, tail_window

#: Bytes. More would be cheaper still, but the buffer is what a capture weighs.
BUFFER = 384 * 1024
#: Bytes at the end of the buffer in which a complete view is looked for at least: 2,000 very short lines fit in.
SEARCH = 6 * 1024
#: Full buffers that are interpreted without another try to do with less.
PATIENCE = 8
#: Bytes that are interpreted at a time, so that the rows of a long stretch never stand in memory together.
STEP = 32 * 1024


class Beginning:
    """The first rows of a stream, as many as `bound` allows."""

    def __init__(self, screen: Screen, bound: Bound) -> None:
        self._screen = screen
        self._bound = bound
        self._buffer = bytearray()
        #: What is held can not change any more.
        self._complete = False

    def feed(self, data: bytes) -> None:
        if self._complete:
            return
        self._buffer += data
        if len(self._buffer) >= BUFFER:
            self._interpret()

    def finish(self) -> None:
        """The stream is over."""
        self._interpret()
        if not self._complete:
            self._screen.finish()

    def window(self) -> Window:
        self._interpret()
        return head_window(self._screen, self._bound)

    def _interpret(self) -> None:
        data = bytes(self._buffer)
        self._buffer.clear()
        for begin in range(0, len(data), STEP):
            if self._complete:
                return
            self._screen.feed(data[begin : begin + STEP])
            self._complete = self._is_full()

    def _is_full(self) -> bool:
        """True when the frozen rows alone fill the bound."""
        frozen = self._screen.frozen
        if frozen > self._bound.max_lines:
            return True
        return _least_bytes(self._screen) > self._bound.max_bytes


class End:
    """The last rows of a stream, as many as a window of `bound` can show at any time."""

    def __init__(self, screen: Screen, bound: Bound, totals: Totals) -> None:
        self._screen = screen
        self._bound = bound
        #: Of the stream up to the end of the buffer: whoever feeds counts first.
        self._totals = totals
        self._buffer = bytearray()
        self._capacity = max(BUFFER, 5 * bound.max_bytes)
        self._search = self._reading = SEARCH
        self._patience = 0

    def feed(self, data: bytes) -> None:
        if len(self._buffer) + len(data) < self._capacity:
            self._buffer += data
            return
        # In a large piece the end of the stream is found without a copy of the rest.
        piece: bytes | bytearray = data
        if 2 * len(data) < self._capacity:
            self._buffer += data
            piece = self._take()
        if not self._skip_to_lines(piece):
            self._buffer += piece
            self._read()

    def finish(self) -> None:
        """The stream is over."""
        self._interpret()
        self._screen.finish()

    def window(self, bound: Bound | None = None) -> Window:
        """What a window shows; `bound` may be smaller than that of the whole."""
        self._interpret()
        return tail_window(self._screen, bound or self._bound)

    def _interpret(self) -> None:
        data = self._take()
        if not self._skip_to_lines(data):
            self._buffer = data
        self._read()

    def _take(self) -> bytearray:
        """What is in the buffer, which is empty then."""
        data, self._buffer = self._buffer, bytearray()
        return data

    def _read(self) -> None:
        """Interpret what is in the buffer, or as much of it as is needed."""
        data = self._take()
        if self._skip_to_rows(data):
            return
        for begin in range(0, len(data), STEP):
            self._screen.feed(data[begin : begin + STEP])
            self._trim()

    def _trim(self) -> None:
        """Forget the frozen rows that no window can show any more."""
        screen, bound = self._screen, self._bound
        size = 0
        least = max(0, screen.frozen - bound.max_lines)
        index = screen.frozen
        while index > least and size <= bound.max_bytes:
            index -= 1
            size += screen.rows[index].least_bytes + 1
        # The row in front of what fills a window may still be shown by its end.
        screen.drop_rows(max(0, index - 1))

    def _skip_to_lines(self, data: bytes | bytearray) -> bool:
        """Find lines in `data` that only write and fill a window by their bytes, whatever came before.

        The buffer, which `data` follows, then begins with them. Tries longer and longer ends of `data`, beginning with
        what sufficed the last time.
        """
        size = len(data)
        while 2 * self._search <= size:
            begin = data.find(b"\n", size - self._search) + 1
            if not begin:
                return False
            fresh = fresh_start(data[begin:], self._bound, self._screen.charset)
            if fresh < 0:
                return False
            if fresh:
                self._screen = self._new_screen(data, begin + fresh)
                self._buffer[:] = data[begin + fresh :]
                # A little less may do, and what is found is interpreted.
                self._search = max(SEARCH, self._search * 63 // 64)
                return True
            self._search = self._search * 5 // 4
        # Perhaps there were only few lines just now: look at a shorter end again when there are more.
        self._search = max(SEARCH, self._search // 4)
        return False

    def _skip_to_rows(self, data: bytes | bytearray) -> bool:
        """Interpret an end of `data` by itself, if the cursor can not leave it, and see whether it fills a window.

        Then it is all that is needed. Tries ends as `_skip_to_lines` does, but what it tries in vain is costly: after a
        failure it waits until it can not cost much of the whole.
        """
        size = len(data)
        if 2 * self._reading > size:
            return False
        if self._patience:
            self._patience -= 1
            return False
        while 2 * self._reading <= size:
            begin = data.find(b"\n", size - self._reading) + 1
            ground = new_ground(data[begin:]) if begin else 0
            if ground:
                screen = self._new_screen(data, begin + ground)
                for at in range(begin + ground, size, STEP):
                    screen.feed(data[at : at + STEP])
                if screen.frozen > self._bound.max_lines or _least_bytes(screen) > self._bound.max_bytes:
                    self._screen = screen
                    self._trim()
                    self._reading = max(SEARCH, self._reading * 63 // 64)
                    return True
            self._reading = self._reading * 3 // 2
        self._reading = max(SEARCH, self._reading // 4)
        self._patience = PATIENCE
        return False

    def _new_screen(self, data: bytes | bytearray, begin: int) -> Screen:
        """A screen for what follows `begin` in `data`, behind a newline: empty, but for the style at that place."""
        screen = self._screen
        style = screen.style
        if screen.held or b"\x1b" in self._buffer or data.find(b"\x1b", 0, begin) >= 0:
            style = style_after(style, screen.held + (self._buffer + data[:begin]).decode("latin-1"))
        return screen.fresh(
            base=screen.base + len(screen.rows),
            origin=screen.origin + len(self._buffer) + begin,
            line=self._totals.newlines - data.count(b"\n", begin),
            style=style,
        )


def _least_bytes(screen: Screen) -> int:
    """Bytes that the rows which can not change any more have at least."""
    return sum(row.least_bytes + 1 for row in screen.rows[: screen.frozen])
