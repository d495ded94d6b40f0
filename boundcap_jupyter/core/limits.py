"""How much of a stream is held and shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

Retain = Literal["tail", "head", "both"]

#: A view that a person still scans, and that a page still carries as a whole.
DEFAULT_BYTES = 50 * 1024
DEFAULT_LINES = 2000

#: Below this a view could not hold one escape sequence and one character of text.
MIN_BYTES = 64


class Bound(NamedTuple):
    """The room for one stretch of text."""

    max_bytes: int
    max_lines: int


@dataclass(frozen=True, slots=True)
class OutputLimits:
    """The bound of a view, validated once.

    `max_bytes` counts UTF-8 bytes of the shown text (at least 64), `max_lines` its lines (at least 1). `retain` names
    the end of the stream that is kept: "tail", "head", or "both" with a quarter of each limit for the head.

    Raises ValueError that names the field and the value.
    """

    max_bytes: int = DEFAULT_BYTES
    max_lines: int = DEFAULT_LINES
    retain: Retain = "tail"

    def __post_init__(self) -> None:
        for name, least in (("max_bytes", MIN_BYTES), ("max_lines", 1)):
            value = getattr(self, name)
            # bool is an int, but nobody means "one line" by True.
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} must be an integer of at least {least}, not {value!r}")
        if self.retain not in get_args(Retain):
            raise ValueError(f"retain must be 'tail', 'head' or 'both', not {self.retain!r}")
