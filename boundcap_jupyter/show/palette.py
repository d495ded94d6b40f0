"""The colours of the static result, the same as those of the panel: twin of js/src/core/palette.ts and ink.ts.

The result stands on a background of its own, since a colour that reads on white and on black does not exist. Whatever
colours a command asks for, its text reads: the contrast is at least 4.5:1 (WCAG 2.2, success criterion 1.4.3).
"""

from __future__ import annotations

from functools import lru_cache

from boundcap_jupyter.core.sgr import Colour, Style

Rgb = tuple[int, int, int]

BACKGROUND = "#1b1f27"
FOREGROUND = "#d6dae2"
#: Black, red, green, yellow, blue, magenta, cyan, white, then the same, bright. Each reads on the background, so black
#: is a grey.
ANSI = (
    "#868d99",
    "#f2777a",
    "#7fc98a",
    "#e0b25e",
    "#6fa8f0",
    "#d08ce0",
    "#5cc4cc",
    "#c8cdd6",
    "#9aa2b0",
    "#ff9a9c",
    "#a3e3a8",
    "#f5d083",
    "#9cc6ff",
    "#e6b3f2",
    "#8fe3e8",
    "#ffffff",
)

#: Ratio of text to its background.
READABLE = 4.5
#: How far faint text goes towards its background: seen as weaker, still read.
_FAINT_SHARE = 0.35
#: A colour that cannot be read is moved in steps of an eighth: the first that reads keeps most of its hue.
_STEPS = 8
#: Steps of the 6 x 6 x 6 cube of palette colours 16 to 231, as xterm has them.
_CUBE = (0, 95, 135, 175, 215, 255)

_BLACK, _WHITE = (0, 0, 0), (255, 255, 255)


def rgb(colour: Colour) -> Rgb:
    """Red, green and blue, 0 to 255 each, of a palette index or of itself."""
    if isinstance(colour, tuple):
        return colour
    if colour < len(ANSI):
        return from_hex(ANSI[colour])
    if colour >= 232:
        grey = 8 + 10 * (colour - 232)
        return grey, grey, grey
    cell = colour - 16
    return _CUBE[cell // 36], _CUBE[cell // 6 % 6], _CUBE[cell % 6]


def from_hex(text: str) -> Rgb:
    value = int(text[1:], 16)
    return value >> 16, value >> 8 & 255, value & 255


def to_hex(colour: Rgb) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def contrast(one: Rgb, other: Rgb) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def readable(foreground: Rgb, background: Rgb) -> Rgb:
    """The nearest colour on the way to white or black, whichever contrasts more, that reads on the background."""
    goal = _WHITE if contrast(_WHITE, background) >= contrast(_BLACK, background) else _BLACK
    for step in range(_STEPS):
        tried = _mix(foreground, goal, step / _STEPS)
        if contrast(tried, background) >= READABLE:
            return tried
    return goal


@lru_cache(maxsize=1024)
def ink(style: Style) -> tuple[str | None, str | None]:
    """(text colour, background) of a style as "#rrggbb", None where the block's own is right.

    Concealed text has the colour of its background, as on a terminal: it is there, to be selected.
    """
    wanted = None if style.foreground is None else rgb(style.foreground)
    behind = None if style.background is None else rgb(style.background)
    if style.inverse:
        wanted, behind = behind or _GROUND, wanted or _TEXT
    ground = behind or _GROUND
    background = behind and to_hex(behind)
    if style.conceal:
        return to_hex(ground), background
    if wanted is None and behind is None and not style.faint:
        return None, None
    text = wanted or _TEXT
    return to_hex(readable(_mix(text, ground, _FAINT_SHARE) if style.faint else text, ground)), background


def _mix(one: Rgb, other: Rgb, share: float) -> Rgb:
    # Half a step up, as JavaScript's Math.round: `round` would go to the even number.
    red, green, blue = (int(a + (b - a) * share + 0.5) for a, b in zip(one, other, strict=True))
    return red, green, blue


def _luminance(colour: Rgb) -> float:
    red, green, blue = (_LINEAR[channel] for channel in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


_LINEAR = [
    share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in (n / 255 for n in range(256))
]
_GROUND = from_hex(BACKGROUND)
_TEXT = from_hex(FOREGROUND)
