"""Which rows of a screen a view shows: the largest part of them that both limits allow.

| case                                                    | shown                                                 |
|---------------------------------------------------------|-------------------------------------------------------|
| tail                                                    | the last whole lines                                  |
| tail, they fill less than half of `max_bytes`           | before them the end of the next older line            |
| tail, the last line alone exceeds `max_bytes`           | the end of that line                                  |
| head                                                    | the first whole lines                                 |
| head, the first line alone exceeds `max_bytes`          | the beginning of that line                            |

A line is measured as it is shown: UTF-8 bytes with its newline and its colours. The row after a last newline is no
line. Only a line that `max_bytes` keeps out is shown in part; what `max_lines` keeps out is out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.row import Row
from boundcap_jupyter.core.sgr import PLAIN, Style, transition
from boundcap_jupyter.core.view import Rows

Partial = Literal["", "first", "last", "beginning"]


@dataclass(frozen=True, slots=True)
class Window:
    """The shown rows: `first` and `end` are indices into the screen's, `partial` says which line is cut and how."""

    rows: Rows
    first: int
    end: int
    lead: Style
    lines: int
    size: int
    cut_by: Literal["lines", "bytes"] | None
    partial: Partial = ""

    @property
    def text(self) -> str:
        return "".join(self.rows.texts)

    @property
    def lead_sgr(self) -> str:
        return transition(PLAIN, self.lead)


def tail_window(rows: list[Row], lead: Style, base: int, limits: OutputLimits) -> Window:
    """The end of the rows. Costs what is shown; a row whose text is unchanged is not rendered again."""
    end = len(rows)
    last = _last_line(rows)
    texts: list[str] = []
    size = 0
    cut_by: Literal["lines", "bytes"] | None = None
    first = end
    while first > 0:
        index = first - 1
        if index <= last and last - index >= limits.max_lines:
            cut_by = "lines"
            break
        text = _text(rows, index, lead)
        if size + utf8_length(text) > limits.max_bytes:
            cut_by = "bytes"
            break
        size += utf8_length(text)
        texts.append(text)
        first = index
    partial: Partial = ""
    cut = 0
    style = _before(rows, first, lead)
    if cut_by == "bytes" and (first > last or 2 * size < limits.max_bytes):
        row = rows[first - 1]
        cut, text = _line_end(rows, first - 1, limits.max_bytes - size)
        # What closes a row in many colours can be longer than what is left: then there is no room for any of it.
        if cut < row.size:
            style = row.style_at(cut)
            # A row can fit after all, since the colour that it starts in now stands in front of the text.
            if cut:
                partial = "last" if first > last else "first"
            elif row.start == 0:
                cut_by = None
            first -= 1
            size += utf8_length(text)
            texts.append(text)
    texts.reverse()
    first_cut = rows[first].cut + cut if first < end else 0
    return Window(
        Rows(base + first, first_cut, tuple(texts)), first, end, style, max(0, last + 1 - first), size, cut_by, partial
    )


def head_window(rows: list[Row], lead: Style, base: int, limits: OutputLimits) -> Window:
    """The beginning of the rows. Costs what is shown; a row whose text is unchanged is not rendered again."""
    last = _last_line(rows)
    texts: list[str] = []
    size = 0
    cut_by: Literal["lines", "bytes"] | None = None
    end = 0
    while end < len(rows):
        if end == limits.max_lines and end <= last:
            cut_by = "lines"
            break
        text = _text(rows, end, lead)
        if size + utf8_length(text) > limits.max_bytes:
            cut_by = "bytes"
            break
        size += utf8_length(text)
        texts.append(text)
        end += 1
    partial: Partial = ""
    if cut_by == "bytes" and end == 0:
        partial = "beginning"
        text = _line_beginning(rows[0], lead, limits.max_bytes)
        size = utf8_length(text)
        texts.append(text)
    lines = min(len(texts), last + 1)
    return Window(Rows(base, rows[0].cut, tuple(texts)), 0, end, lead, lines, size, cut_by, partial)


def utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _last_line(rows: list[Row]) -> int:
    """Index of the last row that is a line: an empty row at the end is none. -1 if there is no line."""
    return len(rows) - 1 if rows[-1].size else len(rows) - 2


def _before(rows: list[Row], index: int, lead: Style) -> Style:
    return rows[index - 1].end if index else lead


def _text(rows: list[Row], index: int, lead: Style) -> str:
    row = rows[index]
    if index < len(rows) - 1:
        return row.render(_before(rows, index, lead), ended=True)
    # The last row is open; while it is empty, a change of colour in it waits for something to colour.
    return row.render(_before(rows, index, lead), ended=False) if row.size else ""


def _line_end(rows: list[Row], index: int, budget: int) -> tuple[int, str]:
    """(columns cut, text) of the longest end of a row that fits into `budget` bytes."""
    row = rows[index]
    ended = index < len(rows) - 1

    def render(cut: int) -> str:
        return row.render(row.style_at(cut), ended=ended, first=cut)

    # Every column takes a byte at least, so no shorter cut can fit.
    low = max(0, row.size - budget)
    cut = _smallest(low, row.size, lambda cut: utf8_length(render(cut)) <= budget)
    return cut, render(cut)


def _line_beginning(row: Row, lead: Style, budget: int) -> str:
    """The longest beginning of a row that fits into `budget` bytes."""

    def render(columns: int) -> str:
        beginning = row.beginning(columns)
        return beginning.render(lead, ended=False)

    most = min(row.size, budget)
    dropped = _smallest(0, most, lambda fewer: utf8_length(render(most - fewer)) <= budget)
    return render(most - dropped)


def _smallest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """The smallest number from `low` to `high` that fits, where all above one that fits do too."""
    if fits(low):
        return low
    while low < high:
        middle = (low + high) // 2
        if fits(middle):
            high = middle
        else:
            low = middle + 1
    return low
