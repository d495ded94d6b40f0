"""Earlier runs as a table, in text and in HTML: bounded, and safe whatever stands in a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from boundcap_jupyter.core.status import RunStatus
from boundcap_jupyter.core.view import OutputMetadata
from boundcap_jupyter.show import summary
from boundcap_jupyter.show.markup import QUIET, escaped
from boundcap_jupyter.show.palette import BACKGROUND, FOREGROUND

#: Rows. A person who looks for an older run narrows it down.
MAX_ROWS = 50
#: Characters of a command in a row of text.
_COMMAND = 60

_HEADINGS = ("id", "started", "state", "duration", "lines", "bytes", "command")
_CELL = f"padding:2px 12px 2px 0;text-align:left;white-space:nowrap;color:{FOREGROUND}"


@dataclass(frozen=True, slots=True)
class Row:
    """A run in the list: None for what is not known; `damage` says why, then."""

    id: str
    command: str | Sequence[str] = ""
    started: datetime | None = None
    status: RunStatus | None = None
    metadata: OutputMetadata | None = None
    damage: str = ""


def listing_text(rows: Sequence[Row], total: int) -> str:
    """The table with a line for each run, and one that says how many are not in it."""
    if not rows:
        return "no runs"
    table = [_HEADINGS, *(_cells(row) for row in rows[:MAX_ROWS])]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(_HEADINGS) - 1)]
    lines = ["  ".join([*map(str.ljust, cells[:-1], widths), cells[-1]]).rstrip() for cells in table]
    return "\n".join([*lines, *_rest(rows, total)])


def listing_html(rows: Sequence[Row], total: int) -> str:
    """The same in inline styles on its own background."""
    if not rows:
        return "<div>no runs</div>"
    head = "".join(f"<th style='{_CELL};color:{QUIET}'>{name}</th>" for name in _HEADINGS)
    body = "".join(
        "<tr>" + "".join(f"<td style='{_CELL}'>{escaped(cell)}</td>" for cell in _cells(row)) + "</tr>"
        for row in rows[:MAX_ROWS]
    )
    rest = "".join(f"<div style='color:{QUIET}'>{escaped(line)}</div>" for line in _rest(rows, total))
    return (
        f"<div style='background:{BACKGROUND};padding:8px 12px;overflow:auto;font-family:monospace;font-size:12px'>"
        f"<table style='background:{BACKGROUND};border-collapse:collapse'><tr>{head}</tr>{body}</table>{rest}</div>"
    )


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
        summary.duration(row.status.duration),
        summary.number(facts.total_lines),
        summary.number(facts.total_bytes),
        label if len(label) <= _COMMAND else label[: _COMMAND - 2] + " …",
    )


def _rest(rows: Sequence[Row], total: int) -> list[str]:
    more = total - min(len(rows), MAX_ROWS)
    return [f"… and {summary.number(more)} more"] if more > 0 else []
