"""Colours and attributes: SGR escape sequences (ECMA-48 §8.3.117, ISO 8613-6 colours) read and written.

A style is what the terminal's pen would be. Text is written with the shortest sequence from one style to the next, so
a view holds only well-formed sequences, however wild the input was.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, Union

#: A palette index from 0 to 255, or red, green and blue from 0 to 255 each.
Colour = Union[int, tuple[int, int, int]]

#: Parameter bytes of one control sequence that are looked at; a longer one is none of a colour's.
MAX_PARAMETER_BYTES = 48

#: The sequence that sets colours and attributes, its parameters in the group.
SGR = re.compile(rf"\x1b\[([0-9;:]{{0,{MAX_PARAMETER_BYTES}}})m")
#: After these no earlier colour counts, in the forms that programs write alone.
_RESETS = ("\x1b[0m", "\x1b[m")


@dataclass(frozen=True, slots=True)
class Style:
    """The terminal's pen. Blinking is read as nothing: it is a nuisance on a page."""

    bold: bool = False
    faint: bool = False
    italic: bool = False
    underline: bool = False
    inverse: bool = False
    conceal: bool = False
    strike: bool = False
    foreground: Colour | None = None
    background: Colour | None = None


PLAIN = Style()

_SET = {1: "bold", 2: "faint", 3: "italic", 4: "underline", 7: "inverse", 8: "conceal", 9: "strike"}
_CODES = {name: code for code, name in _SET.items()}
_ON: dict[int, dict[str, Any]] = {code: {name: True} for code, name in _SET.items()} | {21: {"underline": True}}
_OFF: dict[int, dict[str, Any]] = {
    22: {"bold": False, "faint": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"inverse": False},
    28: {"conceal": False},
    29: {"strike": False},
}


@lru_cache(maxsize=4096)
def apply_sgr(style: Style, parameters: str) -> Style:
    """The style after `ESC [ parameters m`. What is unknown is passed over. Cached: programs repeat theirs."""
    fields_ = parameters.split(";")
    position = 0
    while position < len(fields_):
        head, *subs = fields_[position].split(":")
        code = int(head or 0)
        position += 1
        if code in (38, 48, 58):
            if subs:
                colour = _colour([int(sub or 0) for sub in subs], colon=True)
            else:
                rest = [int(field.partition(":")[0] or 0) for field in fields_[position : position + 4]]
                colour = _colour(rest)
                # `5;n` or `2;r;g;b`; an unknown kind takes its own field alone.
                position += {5: 2, 2: 4}.get(rest[0] if rest else -1, 1)
            if colour is not None and code != 58:
                style = replace(style, foreground=colour) if code == 38 else replace(style, background=colour)
        elif code == 4 and subs:
            style = replace(style, underline=subs[0] != "0")
        else:
            style = _simple(style, code)
    return style


def lasting_sgr(text: str) -> str:
    """The colour sequences in `text` that still count at its end, in their order.

    Costs a search for the last reset and one for colours in what follows it.
    """
    if "\x1b" not in text:
        return ""
    reset = max(text.rfind(sequence) for sequence in _RESETS)
    return "".join(f"\x1b[{parameters}m" for parameters in SGR.findall(text, max(0, reset)))


def style_after(style: Style, text: str) -> Style:
    """The style that the colours in `text` leave, whatever else is in it.

    An escape character ends the sequence before it, so what looks like a colour is one.
    """
    for parameters in SGR.findall(lasting_sgr(text)):
        style = apply_sgr(style, parameters)
    return style


def _simple(style: Style, code: int) -> Style:
    if code == 0:
        return PLAIN
    if change := _ON.get(code) or _OFF.get(code):
        return replace(style, **change)
    if 30 <= code <= 37:
        return replace(style, foreground=code - 30)
    if 40 <= code <= 47:
        return replace(style, background=code - 40)
    if 90 <= code <= 97:
        return replace(style, foreground=code - 82)
    if 100 <= code <= 107:
        return replace(style, background=code - 92)
    if code == 39:
        return replace(style, foreground=None)
    if code == 49:
        return replace(style, background=None)
    return style


def _colour(values: list[int], *, colon: bool = False) -> Colour | None:
    """The colour of `5;n` or `2;r;g;b`; ISO 8613-6 puts a colour space between `2` and red in the form with colons."""
    kind, *rest = values or [0]
    if kind == 2 and colon and len(rest) >= 4:
        rest = rest[1:]
    if any(value > 255 for value in rest[:3]):
        return None
    if kind == 5 and rest:
        return rest[0]
    if kind == 2 and len(rest) >= 3:
        return rest[0], rest[1], rest[2]
    return None


@lru_cache(maxsize=4096)
def transition(before: Style, after: Style) -> str:
    """The shortest sequence that turns one style into the other, "" when they are the same."""
    if before == after:
        return ""
    if after == PLAIN:
        return "\x1b[0m"
    changed = [field.name for field in fields(Style) if getattr(before, field.name) != getattr(after, field.name)]
    # By identity: palette colour 0 equals False, but is a colour.
    if not any(getattr(after, name) is off for name in changed for off in (False, None)):
        return f"\x1b[{';'.join(_codes(after, changed))}m"
    return f"\x1b[{';'.join(['0', *_codes(after, [field.name for field in fields(Style)])])}m"


def _codes(style: Style, names: list[str]) -> list[str]:
    codes: list[str] = []
    for name in names:
        value = getattr(style, name)
        if value is True:
            codes.append(str(_CODES[name]))
        elif isinstance(value, tuple):
            codes += [_extended(name), "2", *map(str, value)]
        elif value is not None and value is not False:
            codes += _palette(name, value)
    return codes


def _extended(name: str) -> str:
    return "38" if name == "foreground" else "48"


def _palette(name: str, index: int) -> list[str]:
    base = 30 if name == "foreground" else 40
    if index < 8:
        return [str(base + index)]
    if index < 16:
        return [str(base + 52 + index)]
    return [_extended(name), "5", str(index)]
