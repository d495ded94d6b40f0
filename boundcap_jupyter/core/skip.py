"""What can be said of raw bytes without interpreting them: that a view need not look further back.

A flood is far longer than a view. If the lines at its end only write, and fill a view by themselves, then nothing
older is ever shown again, and of all of it only the colours that it left behind matter. To find that out costs a few
searches in the bytes of about one view; to interpret them costs a hundred times as much.
"""

from __future__ import annotations

import re

from boundcap_jupyter.core.charset import Charset
from boundcap_jupyter.core.limits import Bound
from boundcap_jupyter.core.screen import REACH
from boundcap_jupyter.core.sgr import PLAIN, Style, apply_sgr

#: SGR, and the erasing of nothing that tools put behind it: neither moves the cursor.
_HARMLESS = re.compile(rb"\x1b\[(?:([0-9;:]{0,48})m|0?K)")
#: A sequence that the end of the data leaves open.
_OPEN = re.compile(rb"\x1b(?:\[[0-?]{0,48}[ -/]{0,4})?\Z")
#: Sequences after which no earlier colour counts, in the forms that programs write alone.
_RESETS = (b"\x1b[0m", b"\x1b[m")
#: Bytes that are never shown. C1 controls, of two bytes, are told by their first.
_UNSEEN = bytes(sorted({*range(0x01, 0x20), 0x7F} - {0x09}))
_NOT_ASCII = bytes(range(0x80, 0x100))


def stays_below(data: bytes) -> bool:
    """True if no escape sequence in `data` moves the cursor; one that is left open at the end has not done so yet."""
    escapes = data.count(b"\x1b")
    if not escapes:
        return True
    is_open = _OPEN.search(data, max(0, len(data) - 64)) is not None
    return len(_HARMLESS.findall(data)) + is_open == escapes


def fresh_start(tail: bytes, bound: Bound, charset: Charset) -> int:
    """Where in `tail` a view can begin whatever came before it, 0 if nowhere.

    `tail` starts behind a newline, where the parser is in its first state, and `stays_below`. After as many newlines as
    the cursor reaches it stands in a fresh last row, and never leaves the last row again. So if the lines from there
    on, down to those that it can still reach at the end, fill the view, nothing older is shown again.
    """
    fresh = _after_newlines(tail, REACH)
    reach = _before_newlines(tail, REACH)
    if not 0 < fresh < reach:
        return 0
    lines = tail[fresh:reach]
    # Text over text: less is shown than there are bytes.
    if b"\b" in lines or lines.count(b"\r") != lines.count(b"\r\n"):
        return 0
    sequences = sum(4 + len(parameters) for parameters in _HARMLESS.findall(lines)) if b"\x1b" in lines else 0
    if charset.is_utf_8:
        shown = len(lines.translate(None, _UNSEEN)) - sequences - 2 * lines.count(b"\xc2")
    else:
        # What the other bytes come to is not said; two that look like ASCII come to two bytes in any of the charsets.
        shown = len(lines.translate(None, _UNSEEN + _NOT_ASCII)) - sequences
    return fresh if shown > bound.max_bytes or lines.count(b"\n") > bound.max_lines else 0


def style_after(style: Style, data: bytes) -> Style:
    """The style that the colours in `data` leave. Costs a search for the last reset, and a look at what follows it."""
    if b"\x1b" not in data:
        return style
    reset = max(data.rfind(sequence) for sequence in _RESETS)
    if reset >= 0:
        style = PLAIN
    for match in _HARMLESS.finditer(data, max(0, reset)):
        if match[1] is not None:
            style = apply_sgr(style, match[1].decode())
    return style


def _after_newlines(data: bytes, count: int) -> int:
    """Where the line after the first `count` newlines begins, 0 if there are fewer."""
    position = 0
    for _ in range(count):
        position = data.find(b"\n", position) + 1
        if not position:
            return 0
    return position


def _before_newlines(data: bytes, count: int) -> int:
    """Where the line that holds the last but `count` newline ends, -1 if there are fewer."""
    position = len(data)
    for _ in range(count + 1):
        position = data.rfind(b"\n", 0, position)
        if position < 0:
            return -1
    return position + 1
