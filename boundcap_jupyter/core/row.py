"""One row of the screen: characters in columns, each with the pen that wrote it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from boundcap_jupyter.core.sgr import PLAIN, Style, transition


class Pen(NamedTuple):
    """What a character is written with: its style and the address of the link that it belongs to, or ""."""

    style: Style = PLAIN
    link: str = ""


PLAIN_PEN = Pen()

# What most rows have none of. Shared, since a list weighs as much as a line; never added to, but replaced.
_NO_PARTS: list[str] = []
_NO_COLS: list[int] = []
_NO_PENS: list[Pen] = []
_PLAIN_AND_ENDED = (PLAIN, PLAIN, True)

#: Pieces of appended text that stand beside each other: a piece weighs much more than a character.
_MAX_PARTS = 4096


class Row:
    """Characters in columns from 0 to `size`, a column a code point.

    `start` and `line` say where in the stream the row began: raw bytes and newlines before it. `cut` counts the
    columns that were dropped at its front because it grew too wide. `end` is the style in which the cursor left it.
    """

    __slots__ = (
        "_cols",
        "_has_links",
        "_hidden",
        "_parts",
        "_pens",
        "_rendered",
        "_rendered_with",
        "_text",
        "cut",
        "end",
        "line",
        "size",
        "start",
    )

    def __init__(self, start: int, line: int, text: str = "", end: Style = PLAIN) -> None:
        self.start = start
        self.line = line
        self.size = len(text)
        self.cut = 0
        self.end = end
        self._text = text
        # Columns that were dropped at the front and are still there: to remove them one by one would copy the row for
        # each. `_text`, `_parts` and `_cols` count them, nobody outside does.
        self._hidden = 0
        # Text appended since `_text` was last whole, so that appending does not copy the row each time.
        self._parts = _NO_PARTS
        # Runs of one pen, `_cols[0]` always 0; both empty for a row that is plain throughout.
        self._cols = _NO_COLS
        self._pens = _NO_PENS
        # True if one of the pens has, or had, a link.
        self._has_links = False
        self._rendered = ""
        self._rendered_with: tuple[Style, Style, bool] | None = None

    @property
    def text(self) -> str:
        return self._whole[self._hidden :]

    @property
    def _whole(self) -> str:
        if self._parts:
            self._text += "".join(self._parts)
            self._parts = _NO_PARTS
        return self._text

    def write(self, column: int, text: str, pen: Pen) -> None:
        """Put `text` at `column`, over what is there; columns between the end of the row and it become blanks."""
        if column > self.size:
            self.write(self.size, " " * (column - self.size), PLAIN_PEN)
        end = column + len(text)
        hidden = self._hidden
        if column == self.size:
            self._add(text)
        else:
            whole = self._whole
            self._text = whole[: hidden + column] + text + whole[hidden + end :]
        size_before = self.size
        self.size = max(size_before, end)
        if self._cols or pen != PLAIN_PEN:
            self._paint(hidden + column, hidden + end, pen, hidden + size_before)
        self._rendered_with = None

    def append(self, spans: Iterable[tuple[str, Pen]]) -> None:
        """Put texts, none of them empty, behind what is there, each with its pen: cheaper than a `write` for each."""
        if not self._cols:
            self._cols, self._pens = [0], [PLAIN_PEN]
        cols, pens = self._cols, self._pens
        size = self.size
        for text, pen in spans:
            if pens[-1] != pen:
                column = self._hidden + size
                if cols[-1] == column:
                    pens[-1] = pen
                else:
                    cols.append(column)
                    pens.append(pen)
                self._has_links = self._has_links or pen.link != ""
            self._add(text)
            size += len(text)
        self.size = size
        self._rendered_with = None

    def _add(self, text: str) -> None:
        if not self._text:
            self._text = text
        elif not self._parts:
            self._parts = [text]
        else:
            self._parts.append(text)
            if len(self._parts) > _MAX_PARTS:
                self._parts[:] = ["".join(self._parts)]

    def erase_right(self, column: int) -> None:
        """Remove everything from `column` on."""
        if column < self.size:
            keep = bisect_left(self._cols, self._hidden + column)
            del self._cols[keep:], self._pens[keep:]
            self._text, self.size = self._whole[: self._hidden + column], column
            self._rendered_with = None

    def erase_left(self, column: int) -> None:
        """Blank everything up to and with `column`; nothing remains of a row that ends there."""
        if column + 1 >= self.size:
            self.clear()
        else:
            self.write(0, " " * (column + 1), PLAIN_PEN)

    def clear(self) -> None:
        self._parts, self._cols, self._pens = _NO_PARTS, _NO_COLS, _NO_PENS
        self._text, self.size, self._hidden = "", 0, 0
        self._rendered_with = None

    def drop_front(self, count: int) -> None:
        """Remove the first `count` columns: the rest moves to the left."""
        self.cut += count
        self.size -= count
        self._hidden += count
        self._rendered_with = None
        # As much as is left: so each column is copied once.
        if self._hidden > self.size:
            self._remove_hidden()

    def _remove_hidden(self) -> None:
        hidden, self._hidden = self._hidden, 0
        self._text = self._whole[hidden:]
        if self._cols:
            first = bisect_right(self._cols, hidden) - 1
            self._cols = [0, *(column - hidden for column in self._cols[first + 1 :])]
            self._pens = self._pens[first:]

    def beginning(self, columns: int) -> Row:
        """A copy of the first `columns` columns, ending in the style of the last."""
        if self._hidden:
            self._remove_hidden()
        row = Row(self.start, self.line, self._whole[:columns])
        keep = bisect_left(self._cols, columns)
        row._cols, row._pens, row._has_links = self._cols[:keep], self._pens[:keep], self._has_links
        row.end = row.style_at(max(0, columns - 1))
        return row

    @property
    def least_bytes(self) -> int:
        """Bytes that the rendered row has at least: its text in UTF-8, four a change of pen, and its links.

        More only for a row that was cut at its front, which is too wide for any view as it is.
        """
        text = self.text
        size = len(text) if text.isascii() else len(text.encode())
        if not self._cols:
            return size
        size += 4 * (len(self._cols) - 1)
        if self._has_links:
            # A link is written once for all runs of it, whatever their styles.
            pens = pairwise([PLAIN_PEN, *self._pens])
            size += sum(len(pen.link) for before, pen in pens if pen.link != before.link)
        return size

    def style_at(self, column: int) -> Style:
        return self._pen_at(column).style

    def render(self, before: Style, *, ended: bool, first: int = 0) -> str:
        """The row as a view's text, from column `first` on, where `before` is the style in force in front of it.

        `ended` adds what closes the row: the change to the style that the cursor left it in, and a newline. The text
        is kept until the row changes, so that a view costs only what is new.
        """
        if first:
            return self._render(before, ended, first)
        plain = ended and before is PLAIN and self.end is PLAIN
        key = _PLAIN_AND_ENDED if plain else (before, self.end, ended)
        if self._rendered_with != key:
            self._rendered = self._render(before, ended, 0)
            self._rendered_with = key
        return self._rendered

    def _render(self, before: Style, ended: bool, first: int) -> str:
        close = "\n" if ended else ""
        text, hidden = self._whole, self._hidden
        if not self._cols:
            if first >= self.size:
                return f"{_change(before, self.end)}{close}"
            return f"{_change(before, PLAIN)}{text[hidden + first :]}{_change(PLAIN, self.end)}{close}"
        parts: list[str] = []
        style, link = before, ""
        first += hidden
        size = hidden + self.size
        index = max(0, bisect_right(self._cols, first) - 1)
        for run in range(index, len(self._cols)):
            begin = max(first, self._cols[run])
            end = self._cols[run + 1] if run + 1 < len(self._cols) else size
            if begin >= end:
                continue
            pen = self._pens[run]
            if pen.link != link:
                parts.append(f"\x1b]8;;{pen.link}\x1b\\")
                link = pen.link
            parts += _change(style, pen.style), text[begin:end]
            style = pen.style
        if link:
            parts.append("\x1b]8;;\x1b\\")
        return f"{''.join(parts)}{_change(style, self.end)}{close}"

    def _pen_at(self, column: int) -> Pen:
        return self._pens[bisect_right(self._cols, self._hidden + column) - 1] if self._cols else PLAIN_PEN

    def _paint(self, begin: int, end: int, pen: Pen, size_before: int) -> None:
        """Set the pen of the columns from `begin` to `end`; those from `end` on keep theirs."""
        if not self._cols:
            self._cols, self._pens = [0], [PLAIN_PEN]
        self._has_links = self._has_links or pen.link != ""
        after = self._pen_at(end - self._hidden) if end < size_before else None
        low = bisect_left(self._cols, begin)
        high = bisect_right(self._cols, end)
        cols, pens = [begin], [pen]
        if after is not None and after != pen:
            cols.append(end)
            pens.append(after)
        if low and self._pens[low - 1] == pen:
            del cols[0], pens[0]
        self._cols[low:high] = cols
        self._pens[low:high] = pens


def _change(before: Style, after: Style) -> str:
    """`transition`, which has to look its styles up, for the many times that there is none."""
    return "" if before is after else transition(before, after)
