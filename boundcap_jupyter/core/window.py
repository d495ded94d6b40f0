"""Which rows of a screen a view shows: the largest part of them that both limits allow.

| case                                                    | shown                                                 |
|---------------------------------------------------------|-------------------------------------------------------|
| tail                                                    | the last whole lines                                  |
| tail, they fill less than half of the bytes             | before them the end of the next older line            |
| tail, the last line alone exceeds the bytes             | the end of that line                                  |
| head                                                    | the first whole lines                                 |
| head, the first line alone exceeds the bytes            | the beginning of that line                            |

A line is measured as it is shown: UTF-8 bytes with its newline and its colours. The row after a last newline is no
line. Only a line that the bytes keep out is shown in part; what the number of lines keeps out is out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from boundcap_jupyter.core.charset import Charset
from boundcap_jupyter.core.limits import Bound
from boundcap_jupyter.core.row import Row
from boundcap_jupyter.core.screen import Screen
from boundcap_jupyter.core.sgr import PLAIN, Style, transition
from boundcap_jupyter.core.text import plain
from boundcap_jupyter.core.view import Rows

Partial = Literal["", "first", "last", "beginning"]


class Place(NamedTuple):
    """A place in the stream: raw bytes and newlines before it."""

    byte_count: int
    newlines: int


@dataclass(frozen=True, slots=True)
class Window:
    """The shown rows; `begins` and `ends` are where they do in the stream, `partial` says which line is cut and how.

    Of a line that is shown in part, those bytes lie outside that its shown characters do not stand for.
    """

    rows: Rows
    lead: Style
    lines: int
    size: int
    cut_by: Literal["lines", "bytes"] | None
    partial: Partial
    begins: Place
    ends: Place

    @property
    def text(self) -> str:
        return "".join(self.rows.texts)

    @property
    def lead_sgr(self) -> str:
        return transition(PLAIN, self.lead)


def tail_window(screen: Screen, bound: Bound) -> Window:
    """The end of the rows. Costs what is shown; a row whose text is unchanged is not rendered again."""
    screen.settle()
    rows, last = screen.rows, _last_line(screen)
    texts: list[str] = []
    size = 0
    cut_by: Literal["lines", "bytes"] | None = None
    first = len(rows)
    while first > 0:
        index = first - 1
        if index <= last and last - index >= bound.max_lines:
            cut_by = "lines"
            break
        text = _text(screen, index)
        if size + utf8_length(text) > bound.max_bytes:
            cut_by = "bytes"
            break
        size += utf8_length(text)
        texts.append(text)
        first = index
    partial: Partial = ""
    cut = 0
    style = _before(screen, first)
    if cut_by == "bytes" and (first > last or 2 * size < bound.max_bytes):
        row = rows[first - 1]
        cut, text = _line_end(screen, first - 1, bound.max_bytes - size)
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
    begins = _row_place(screen, first)
    if partial:
        end = _row_place(screen, first + 1).byte_count
        shown_bytes = _raw_length(texts[0], screen.charset)
        # Blanks that a move of the cursor made are shown and were never printed.
        begins = Place(max(begins.byte_count + 1, end - shown_bytes), begins.newlines)
    shown = Rows(screen.base + first, rows[first].cut + cut if first < len(rows) else 0, tuple(texts))
    return Window(shown, style, max(0, last + 1 - first), size, cut_by, partial, begins, _stream_end(screen))


def head_window(screen: Screen, bound: Bound) -> Window:
    """The beginning of the rows. Costs what is shown; a row whose text is unchanged is not rendered again."""
    screen.settle()
    rows, last = screen.rows, _last_line(screen)
    texts: list[str] = []
    size = 0
    cut_by: Literal["lines", "bytes"] | None = None
    end = 0
    while end < len(rows):
        if end == bound.max_lines and end <= last:
            cut_by = "lines"
            break
        text = _text(screen, end)
        if size + utf8_length(text) > bound.max_bytes:
            cut_by = "bytes"
            break
        size += utf8_length(text)
        texts.append(text)
        end += 1
    partial: Partial = ""
    ends = _row_place(screen, end)
    if cut_by == "bytes" and end == 0:
        partial = "beginning"
        text = _line_beginning(rows[0], screen.lead, bound.max_bytes)
        size = utf8_length(text)
        texts.append(text)
        ends = Place(min(_raw_length(text, screen.charset), _row_place(screen, 1).byte_count - 1), 0)
    shown = Rows(screen.base, rows[0].cut, tuple(texts))
    lines = min(len(texts), last + 1)
    return Window(shown, screen.lead, lines, size, cut_by, partial, _row_place(screen, 0), ends)


def utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _last_line(screen: Screen) -> int:
    """Index of the last row that is a line: an empty row at the end is none. -1 if there is no line."""
    rows = screen.rows
    return len(rows) - 1 if rows[-1].size else len(rows) - 2


def _stream_end(screen: Screen) -> Place:
    return Place(screen.origin - screen.undecoded, screen.line)


def _row_place(screen: Screen, index: int) -> Place:
    """Where a row begins, and behind the last where the stream does not go on yet."""
    if index == len(screen.rows):
        return _stream_end(screen)
    row = screen.rows[index]
    return Place(row.start, row.line)


def _before(screen: Screen, index: int) -> Style:
    return screen.rows[index - 1].end if index else screen.lead


def _text(screen: Screen, index: int) -> str:
    row = screen.rows[index]
    if index < len(screen.rows) - 1:
        return row.render(_before(screen, index), ended=True)
    # The last row is open; while it is empty, a change of colour in it waits for something to colour.
    return row.render(_before(screen, index), ended=False) if row.size else ""


def _line_end(screen: Screen, index: int, budget: int) -> tuple[int, str]:
    """(columns cut, text) of the longest end of a row that fits into `budget` bytes."""
    row = screen.rows[index]
    ended = index < len(screen.rows) - 1

    def render(cut: int) -> str:
        return row.render(row.style_at(cut), ended=ended, first=cut)

    # Every column takes a byte at least, so no shorter cut can fit.
    low = max(0, row.size - budget)
    cut = _smallest(low, row.size, lambda cut: utf8_length(render(cut)) <= budget)
    return cut, render(cut)


def _line_beginning(row: Row, lead: Style, budget: int) -> str:
    """The longest beginning of a row that fits into `budget` bytes."""

    def render(columns: int) -> str:
        return row.beginning(columns).render(lead, ended=False)

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


def _raw_length(text: str, charset: Charset) -> int:
    """Bytes of the stream that the shown part of a line stands for.

    Colours are not counted. A replacement character and a shown NUL are taken for one byte each, which is what they
    stand for, unless the text holds these characters itself.
    """
    text = plain(text)
    marks = text.count("\ufffd") + text.count("\u2400")
    return marks + charset.length(text.replace("\ufffd", "").replace("\u2400", "") if marks else text)
