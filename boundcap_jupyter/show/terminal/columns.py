"""The columns that text takes in a terminal: rows are clipped to them, with their colours and without their links."""

from __future__ import annotations

from collections.abc import Iterable

from wcwidth import wcwidth

from boundcap_jupyter.core.sgr import PLAIN, Style, transition
from boundcap_jupyter.core.text import spans

#: Columns from one tab stop to the next, what every terminal begins with.
TAB_STOP = 8

_ELLIPSIS = "…"
#: What is shown of a piece of a row, the columns that this takes, and its colours.
_Cell = tuple[str, int, Style]


def clip(text: str, columns: int, style: Style = PLAIN, *, colours: bool = False) -> str:
    """The beginning of a row that takes at most `columns` columns of a terminal, "…" for what is cut.

    `style` is in force where the row starts; with `colours` they are written, and end with the row. Tabs become spaces.
    Costs a look at what is shown, not at what is cut.
    """
    cells: list[_Cell] = []
    width = 0
    for span in spans(text, transition(PLAIN, style)):
        for character in span.text:
            # The view has no control characters but the tab; what wcwidth does not know either is one column.
            took = TAB_STOP - width % TAB_STOP if character == "\t" else max(0, wcwidth(character))
            width += took
            if width > columns:
                return _written(_ended(cells, columns, span.style), colours)
            cells.append((" " * took if character == "\t" else character, took, span.style))
    return _written(cells, colours)


def _ended(cells: list[_Cell], columns: int, style: Style) -> list[_Cell]:
    """The cells with an ellipsis, which needs a column of its own, and a wide character is two."""
    if columns < 1:
        return []
    width = sum(took for _, took, _ in cells)
    while width >= columns:
        width -= cells.pop()[1]
    return [*cells, (_ELLIPSIS, 1, style)]


def _written(cells: Iterable[_Cell], colours: bool) -> str:
    if not colours:
        return "".join(text for text, _, _ in cells)
    pen, parts = PLAIN, []
    for text, _, style in cells:
        parts += [transition(pen, style), text]
        pen = style
    return "".join([*parts, transition(pen, PLAIN)])
