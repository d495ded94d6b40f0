"""Markdown: tables, and numbers as people read them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"


@dataclass
class Table:
    title: str
    headers: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        lines = [f"### {self.title}", ""]
        if self.rows:
            # The first column has names, the others numbers.
            rule = ["---", *("--:" for _ in self.headers[1:])]
            cells = [self.headers, rule, *([_cell(text) for text in row] for row in self.rows)]
            lines += ["| " + " | ".join(row) + " |" for row in cells]
            lines.append("")
        for note in self.notes:
            lines += [note, ""]
        return "\n".join(lines)


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", text)


NOTHING = "–"


def seconds(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f} s"


def milliseconds(value: float | None) -> str:
    """From seconds."""
    return NOTHING if value is None else f"{1000 * value:.1f} ms"


def megabytes(value: float | None) -> str:
    """In 10^6 bytes."""
    if value is None:
        return NOTHING
    return f"{value / 1e6:,.0f} MB" if value >= 1e8 else f"{value / 1e6:.1f} MB"


def kilobytes(value: float | None) -> str:
    """In 10^3 bytes."""
    return NOTHING if value is None else f"{value / 1e3:,.0f} kB"


def count(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"


def ratio(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def binary_size(value: int) -> str:
    """As `--size` takes it: 1 GiB, 64 MiB."""
    for unit in ("bytes", "KiB", "MiB"):
        if value < 1024 or value % 1024:
            return f"{value:,} {unit}"
        value //= 1024
    return f"{value:,} GiB"


def around(document: Path) -> tuple[str, str]:
    """What stands before and after the two marks of a document. Raises ValueError if it has not got them."""
    before, begin, rest = document.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{document} must have a line {BEGIN} and after it a line {END}")
    return before, after


def write_between(document: Path, text: str) -> None:
    """Put the text between the two marks of a document. Raises ValueError if it has not got them."""
    before, after = around(document)
    document.write_text(f"{before}{BEGIN}\n\n{text.strip()}\n\n{END}{after}")
