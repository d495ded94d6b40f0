r"""A block of rows that is redrawn in place, below whatever stands above it, in a terminal whose size may change.

    ESC[?2026h                 the terminal shows the frame as a whole, if it knows how
    ESC[?25l  ESC[?7l          no cursor and no wrapping within it
    \r row ESC[K \r\n row …    from the cursor on, downwards
    ESC[J                      whatever else is below
    ESC[nA \r                  back to the start of the first row
    ESC[?7h  ESC[?25h  ESC[?2026l

Between frames the cursor stands at the start of the first row, and nothing is ever written above it. So a terminal that
wraps the rows anew when it is resized (most do, xterm does not) takes the cursor along, and how many rows they take
then need not be known: the next frame begins there and erases the rest. Rows that a terminal takes for wider than they
are do not wrap either. And whatever ends the program finds the cursor, the wrapping and the colours as they were.

All of it is ECMA-48 and DEC private modes, as prompt_toolkit uses them; the synchronised update is
https://gist.github.com/christianparpart/d8a62cc1ab659194337d73e399004036: who does not know a mode ignores it.
"""

from __future__ import annotations

from collections.abc import Sequence

#: Seconds after which a frame is drawn as a whole: what others wrote into the block does not stay.
WHOLE_AFTER = 5.0

_BEGIN = "\x1b[?2026h\x1b[?25l\x1b[?7l"
_END = "\x1b[?7h\x1b[?25h\x1b[?2026l"
_CLEAR_RIGHT = "\x1b[K"
_CLEAR_BELOW = "\x1b[J"


class Painter:
    """Knows what it drew last. Writes nothing itself."""

    def __init__(self) -> None:
        self._rows: Sequence[str] = ()
        self._size: tuple[int, int] | None = None
        self._whole_at = float("-inf")

    def frame(self, rows: Sequence[str], size: tuple[int, int], now: float) -> str:
        """What to write at once to show `rows` in a terminal of this size, "" if they are shown.

        A row takes no more columns than the terminal has, holds no newline and leaves no colour. `now` in seconds.
        """
        whole = size != self._size or len(rows) != len(self._rows)
        if not whole and list(rows) == list(self._rows):
            return ""
        whole = whole or now - self._whole_at >= WHOLE_AFTER
        drawn, at = [_BEGIN, "\r"], 0
        for index, row in enumerate(rows):
            if whole or row != self._rows[index]:
                drawn += ["\r\n" * (index - at), row, _CLEAR_RIGHT]
                at = index
        if whole:
            drawn.append(_CLEAR_BELOW)
            self._whole_at = now
        drawn += [f"\x1b[{at}A" if at else "", "\r", _END]
        self._rows, self._size = list(rows), size
        return "".join(drawn)

    def erase(self) -> str:
        """What to write to take the block away."""
        drawn = self._size is not None
        self.forget()
        return "\r" + _CLEAR_BELOW if drawn else ""

    def forget(self) -> None:
        """What was drawn is not at the cursor any more: the next frame is whole, and until then nothing is erased."""
        self._rows, self._size = (), None
