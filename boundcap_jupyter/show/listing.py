"""Earlier runs as a table, in text and in HTML: bounded, and safe whatever stands in a record."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from boundcap_jupyter.core.status import RunStatus
from boundcap_jupyter.core.view import OutputMetadata
from boundcap_jupyter.show import summary
from boundcap_jupyter.show.markup import QUIET, escaped
from boundcap_jupyter.show.palette import BACKGROUND, FOREGROUND
from boundcap_jupyter.show.terminal.columns import clip

#: Rows. A person who looks for an older run narrows it down.
MAX_ROWS = 50
#: Characters of a command in a row of text.
_COMMAND = 60
#: Columns of it that are to be seen in a terminal: enough to know a command again.
_LEAST_COMMAND = 16

_HEADINGS = ("id", "started", "state", "duration", "lines", "bytes", "command")
#: What goes first where a terminal is too narrow: the result of the run says it too, and the id tells the day.
_DISPENSABLE = ("bytes", "lines", "started", "duration")
#: Between two columns of text.
_GAP = "  "
_FONT = "font-family:Menlo,Consolas,DejaVu Sans Mono,monospace;font-size:12px"
#: JupyterLab gives rows a background of their own, and another under the pointer: that of a cell covers both.
_CELL = f"padding:2px 10px 2px 0;text-align:left;vertical-align:top;color:{FOREGROUND};background:{BACKGROUND}"
#: On a narrow page cells break, so that all of a run is in sight. Of what breaks a long word, JupyterLab's sanitiser
#: leaves a table this alone.
_COMMAND_CELL = f"{_CELL};min-width:96px;word-break:break-all"
_WHOLE = "<span style='white-space:nowrap'>"
#: Where other cells may break: an id halfway, a time behind the day, words before what they say more closely.
_BREAKS = re.compile(r"(?<=[0-9]{8}-[0-9]{6}-)|(?<=[0-9]{4}-[0-9]{2}-[0-9]{2}) |(?<=·) |(?<=at least) ")


@dataclass(frozen=True, slots=True)
class Row:
    """A run in the list: None for what is not known; `damage` says why, then."""

    id: str
    command: str | Sequence[str] = ""
    started: datetime | None = None
    status: RunStatus | None = None
    metadata: OutputMetadata | None = None
    damage: str = ""


def listing_text(rows: Sequence[Row], total: int, columns: int | None = None) -> str:
    """The table with a line for each run, and one that says how many are not in it.

    In a terminal a line takes at most `columns` of its columns: facts that a reader can do without are left out where
    there is no room for them and the beginning of the command, and what is still too long is cut.
    """
    if not rows:
        return "no runs"
    table = [_HEADINGS, *(_cells(row) for row in rows[:MAX_ROWS])]
    widths = {name: max(len(cells[place]) for cells in table) for place, name in enumerate(_HEADINGS)}
    widths["command"] = min(widths["command"], _LEAST_COMMAND)
    if columns is not None:
        for name in _DISPENSABLE:
            if sum(widths.values()) + len(_GAP) * (len(widths) - 1) > columns:
                del widths[name]
    lines = []
    for cells in table:
        *facts, command = (cell for cell, name in zip(cells, _HEADINGS, strict=True) if name in widths)
        lines.append(_GAP.join([*map(str.ljust, facts, widths.values()), command]).rstrip())
    lines += _rest(rows, total)
    return "\n".join(lines if columns is None else (clip(line, columns) for line in lines))


def listing_html(rows: Sequence[Row], total: int) -> str:
    """The same in inline styles on its own background, as wide as the page lets it be."""
    if not rows:
        return "<div>no runs</div>"
    head = "".join(f"<th style='{_CELL};color:{QUIET}'>{name}</th>" for name in _HEADINGS)
    body = "".join(f"<tr>{_html_cells(_cells(row))}</tr>" for row in rows[:MAX_ROWS])
    rest = "".join(f"<div style='color:{QUIET}'>{escaped(line)}</div>" for line in _rest(rows, total))
    return (
        f"<div style='background:{BACKGROUND};padding:8px 12px;overflow:auto;{_FONT}'>"
        f"<table style='margin:0;border-collapse:collapse;{_FONT}'><tr>{head}</tr>{body}</table>"
        f"{rest}</div>"
    )


def _html_cells(cells: tuple[str, ...]) -> str:
    *facts, command = cells
    # A space at which a line may break stands between what may not.
    whole = (_BREAKS.sub(rf"</span>\g<0>{_WHOLE}", escaped(fact)) for fact in facts)
    parts = [f"<td style='{_CELL}'>{_WHOLE}{fact}</span></td>" for fact in whole]
    return "".join([*parts, f"<td style='{_COMMAND_CELL}'>{escaped(command)}</td>"])


def _cells(row: Row) -> tuple[str, ...]:
    if row.status is None or row.metadata is None or row.started is None:
        return row.id, "", "damaged", "", "", "", summary.printable(row.damage)[:_COMMAND]
    facts = row.metadata.truncation
    label = summary.printable(summary.command_label(row.command))
    return (
        row.id,
        # In the time of whoever reads.
        row.started.astimezone().strftime("%Y-%m-%d %H:%M:%S"),
        summary.state_label(row.status),
        summary.took(row.status),
        summary.number(facts.total_lines),
        summary.number(facts.total_bytes),
        label if len(label) <= _COMMAND else label[: _COMMAND - 2] + " …",
    )


def _rest(rows: Sequence[Row], total: int) -> list[str]:
    more = total - min(len(rows), MAX_ROWS)
    return [f"… and {summary.number(more)} more"] if more > 0 else []
