"""The bounded text with its metadata, at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

SpillState = Literal["none", "open", "complete", "incomplete"]
#: What becomes of a run whose complete output can not be kept.
OnSpillFailure = Literal["fail", "continue"]


@dataclass(frozen=True, slots=True)
class Truncation:
    """What the limits did to the stream.

    `total_bytes` counts every raw byte of the command, `total_lines` its newlines, plus one for a last line without.
    `output_bytes` is the UTF-8 length of the shown text, `output_lines` its lines. `truncated_by` names the limit that
    cut the view, None when nothing was cut.
    """

    truncated: bool
    truncated_by: Literal["lines", "bytes"] | None
    total_lines: int
    total_bytes: int
    output_lines: int
    output_bytes: int
    last_line_partial: bool
    first_line_exceeds_limit: bool
    max_lines: int
    max_bytes: int


@dataclass(frozen=True, slots=True)
class OutputMetadata:
    """What is known of the stream beside its shown text.

    `omitted_bytes` and `omitted_lines` count raw bytes and newlines before (tail) or after (head) what is held; they
    are zero exactly when nothing was cut. `lead_sgr` is the escape sequence of the colours in force where the text
    starts, or "". `spill_bytes` counts bytes in the spill file.
    """

    truncation: Truncation
    last_line_bytes: int = 0
    omitted_bytes: int = 0
    omitted_lines: int = 0
    first_line_partial: bool = False
    lead_sgr: str = ""
    binary: bool = False
    spill_path: str | None = None
    spill_state: SpillState = "none"
    spill_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Rows:
    """Where the text of a view stands in its stream: what `diff` needs to align two views without searching.

    `first_id` numbers the first row; ids increase by one a row and never come back. `first_cut` counts the characters
    cut off the start of that row. `texts` are the rows, each with its newline, and join to the text of the view.
    """

    first_id: int
    first_cut: int
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutputView:
    """Bounded text and metadata. `head` is the frozen beginning when both ends are kept, else "".

    `rows` never travels and does not take part in comparison: a view that was folded from updates has none.
    """

    text: str
    metadata: OutputMetadata
    head: str = ""
    rows: Rows | None = field(default=None, compare=False, repr=False)
