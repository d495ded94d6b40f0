"""Terminals that are resized as real ones are, each in its way, and all that ever stood on them."""

from __future__ import annotations

import pyte

#: What a terminal does with rows that are wider than it becomes: most wrap them, xterm cuts them off.
WRAPS, CUTS = "wraps", "cuts"


class Terminal:
    """A screen with its scrollback. `feed` takes what a program writes."""

    def __init__(self, columns: int, lines: int, when_narrower: str = WRAPS) -> None:
        self._when_narrower = when_narrower
        self._restart(columns, lines)

    def _restart(self, columns, lines):
        self.screen = pyte.HistoryScreen(columns, lines, history=10_000)
        self._stream = pyte.Stream(self.screen)

    def feed(self, text: str) -> None:
        # As the line discipline of a terminal does.
        self._stream.feed(text.replace("\r\n", "\n").replace("\n", "\r\n"))

    def rows(self) -> list[str]:
        """All rows, those that were scrolled away first, without the empty ones below the last text."""
        rows = [_text(row, self.screen.columns) for row in self.screen.history.top]
        rows += [row.rstrip() for row in self.screen.display]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def shown(self) -> list[str]:
        """The rows in sight."""
        return [row.rstrip() for row in self.screen.display]

    def resize(self, columns: int, lines: int) -> None:
        """Every row is taken for a line of its own; the cursor, at the start of one, goes with it, and is in sight."""
        rows = self.rows()
        at = len(self.screen.history.top) + self.screen.cursor.y
        assert self.screen.cursor.x == 0
        rows += [""] * (at + 1 - len(rows))
        anew, cursor = [], 0
        for index, row in enumerate(rows):
            if index == at:
                cursor = len(anew)
            pieces = [row[start : start + columns] for start in range(0, len(row), columns)] or [""]
            anew += pieces if self._when_narrower == WRAPS else pieces[:1]
        # What is below a cursor that would go out of sight is given up.
        anew = anew[: cursor + lines]
        self._restart(columns, lines)
        self._stream.feed("\r\n".join(anew))
        up = len(anew) - 1 - cursor
        self._stream.feed("\r" + (f"\x1b[{up}A" if up else ""))


def _text(row, columns):
    return "".join(row[x].data for x in range(columns)).rstrip()
