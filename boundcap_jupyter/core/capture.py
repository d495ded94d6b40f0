"""The bounded state of one output stream.

`feed` takes bytes and returns those that must be spilled now; `view` says what is shown; `finish` ends the stream.
Nothing else happens here: no file, no clock, no thread.

Bytes are counted as they come and gather in a buffer. Only for a view, or when the buffer is full, are they interpreted
(`screen`), and what can no longer be seen never is: if plain lines at the end of the buffer fill a view by themselves,
everything before them is dropped (`skip`). So a flood costs little more than counting its newlines, and any chunking of
the same bytes gives the same view, totals and spill.
"""

from __future__ import annotations

from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.screen import MAX_WIDTH, Screen
from boundcap_jupyter.core.skip import fresh_start, stays_below, style_after
from boundcap_jupyter.core.text import plain
from boundcap_jupyter.core.totals import Totals
from boundcap_jupyter.core.view import OutputMetadata, OutputView, Truncation
from boundcap_jupyter.core.window import Window, head_window, tail_window, utf8_length

#: Bytes. More would be cheaper still, but the buffer is what a capture weighs.
BUFFER = 384 * 1024
#: Bytes at the end of the buffer in which a complete view is looked for first: 2,000 short lines fit in.
WINDOW = 24 * 1024
#: Bytes that are interpreted at a time.
STEP = 96 * 1024


class OutputCapture:
    """Holds the head or the tail of a stream within `limits`, and totals of all of it.

    Memory: the buffer, the rows of about two views, and a row of at most 65,536 columns or `max_bytes`.
    """

    def __init__(self, limits: OutputLimits | None = None) -> None:
        self.limits = limits or OutputLimits()
        self.totals = Totals()
        self._head = self.limits.retain == "head"
        # One more than a view can show, so that a row that was cut never looks complete.
        width = max(MAX_WIDTH, self.limits.max_bytes + 1)
        self._screen = Screen(max_width=width, keep_start=self._head)
        self._buffer = bytearray()
        self._prefix: bytearray | None = bytearray()
        self._capacity = max(BUFFER, 6 * self.limits.max_bytes)
        self._window = WINDOW
        #: The beginning of the stream is held and can not change any more.
        self._complete = False
        self._finished = False

    @property
    def overflowed(self) -> bool:
        """True once the raw totals have passed a limit, or a finished view does not show all: a spill is needed."""
        return self._prefix is None

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes of the stream; return those that belong into the spill now.

        Nothing does until the raw totals first pass a limit; then everything so far does, and from then on all that
        comes. Raises ValueError for what is not bytes or comes after `finish`. Costs a scan for newlines.
        """
        if not isinstance(data, bytes):
            raise ValueError(f"data must be bytes, not {type(data).__name__}")
        if self._finished:
            raise ValueError(f"data came after the end of the stream: {len(data)} bytes")
        self.totals.add(data)
        spill = self._overflow(data)
        if not self._complete:
            self._buffer += data
            if len(self._buffer) >= self._capacity and (self._head or not self._skip()):
                self._interpret()
        return spill

    def finish(self) -> bytes:
        """The stream is over. Returns what belongs into the spill if the view, against expectation, does not show all.

        That is so when few bytes take much room: NUL and invalid bytes are shown by characters of three.
        """
        if self._finished:
            return b""
        self._interpret()
        self._screen.finish()
        self._finished = True
        prefix = self._prefix
        if prefix is None or self._select().cut_by is None:
            return b""
        self._prefix = None
        return bytes(prefix)

    def view(self) -> OutputView:
        """What is shown now. Costs the interpretation of what came since the last view, at most one buffer."""
        self._interpret()
        window = self._select()
        omitted_bytes, omitted_lines = self._omitted(window)
        text = window.text
        totals, limits = self.totals, self.limits
        truncation = Truncation(
            truncated=window.cut_by is not None,
            truncated_by=window.cut_by,
            total_lines=totals.lines,
            total_bytes=totals.byte_count,
            output_lines=window.lines,
            output_bytes=window.size,
            last_line_partial=window.partial == "last",
            first_line_exceeds_limit=window.partial == "beginning",
            max_lines=limits.max_lines,
            max_bytes=limits.max_bytes,
        )
        metadata = OutputMetadata(
            truncation=truncation,
            last_line_bytes=totals.last_line_bytes,
            omitted_bytes=omitted_bytes,
            omitted_lines=omitted_lines,
            first_line_partial=window.partial == "first",
            lead_sgr=window.lead_sgr,
        )
        return OutputView(text, metadata, rows=window.rows)

    # --- the spill

    def _overflow(self, data: bytes) -> bytes:
        if self._prefix is None:
            return data
        if self.totals.byte_count <= self.limits.max_bytes and self.totals.lines <= self.limits.max_lines:
            self._prefix += data
            return b""
        spill = bytes(self._prefix) + data if self._prefix else data
        self._prefix = None
        return spill

    # --- the shown rows

    def _select(self) -> Window:
        screen = self._screen
        screen.settle()
        select = head_window if self._head else tail_window
        return select(screen.rows, screen.lead, screen.base, self.limits)

    def _omitted(self, window: Window) -> tuple[int, int]:
        """Raw bytes and newlines that are not held.

        All of the lines that are not shown and, of a line that is shown in part, every byte that is not: all but those
        of its shown characters.
        """
        if window.cut_by is None:
            return 0, 0
        rows, totals = self._screen.rows, self.totals
        if self._head:
            if window.partial:
                return totals.byte_count - _raw_length(window), totals.newlines
            return totals.byte_count - rows[window.end].start, totals.newlines - rows[window.end].line
        row = rows[window.first]
        if not window.partial:
            return row.start, row.line
        after = window.first + 1
        end = rows[after].start if after < len(rows) else totals.byte_count - self._screen.undecoded
        return max(1, end - _raw_length(window)), row.line

    # --- the buffer

    def _interpret(self) -> None:
        if not self._buffer:
            return
        if not self._head:
            self._skip()
        data = bytes(self._buffer)
        self._buffer.clear()
        # In steps, so that the rows of a long stretch never stand in memory together.
        for begin in range(0, len(data), STEP):
            self._screen.feed(data[begin : begin + STEP])
            if self._head:
                self._complete = self._head_is_complete()
                if self._complete:
                    return
            else:
                self._trim()

    def _trim(self) -> None:
        """Forget the frozen rows that no view can show any more."""
        screen, limits = self._screen, self.limits
        size = 0
        least = max(0, screen.frozen - limits.max_lines)
        index = screen.frozen
        while index > least and size <= limits.max_bytes:
            index -= 1
            size += screen.rows[index].size + 1
        # The row in front of what fills a view may still be shown by its end.
        screen.drop_rows(max(0, index - 1))

    def _head_is_complete(self) -> bool:
        """True when the frozen rows alone fill the view: nothing that comes can change it."""
        screen, limits = self._screen, self.limits
        if screen.frozen > limits.max_lines:
            return True
        if not screen.frozen:
            return False
        return sum(row.size + 1 for row in screen.rows[: screen.frozen]) > limits.max_bytes

    def _skip(self) -> bool:
        """Drop the front of the buffer without interpreting it, if what follows fills a view whatever came before.

        Tries longer and longer ends of the buffer, beginning with what sufficed the last time. True if it did.
        """
        size = len(self._buffer)
        while 2 * self._window <= size:
            begin = self._buffer.find(b"\n", size - self._window) + 1
            if not begin:
                return False
            tail = bytes(self._buffer[begin:])
            if not stays_below(tail):
                return False
            fresh = fresh_start(tail, self.limits)
            if fresh:
                self._restart(begin + fresh, self.totals.newlines - tail.count(b"\n", fresh))
                return True
            self._window *= 2
        # Perhaps there were only few lines just now: look at a shorter end again when there are more.
        self._window = max(WINDOW, self._window // 4)
        return False

    def _restart(self, begin: int, line: int) -> None:
        """Go on with a new screen at `begin` in the buffer, where `line` newlines of the stream lie before it."""
        screen = self._screen
        skipped = bytes(self._buffer[:begin])
        screen.restart(
            base=screen.base + len(screen.rows),
            origin=self.totals.byte_count - len(self._buffer) + begin,
            line=line,
            style=style_after(screen.style, screen.held.encode() + skipped),
        )
        del self._buffer[:begin]


def _raw_length(window: Window) -> int:
    """Bytes of the stream that the shown part of the cut line stands for.

    Exact for valid text: colours are not counted, a replacement character and a shown NUL are one byte each.
    """
    text = plain(window.rows.texts[0])
    return utf8_length(text) - 2 * (text.count("\ufffd") + text.count("\u2400"))
