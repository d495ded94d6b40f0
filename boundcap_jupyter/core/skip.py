"""What can be said of raw bytes without interpreting them: that a view need not look further back.

A flood is far longer than a view. If the lines at its end only write, and fill a view by themselves, then nothing
older is ever shown again, and of all of it only the colours that it left behind matter. To find that out costs a few
searches in the bytes of about one view; to interpret them costs a hundred times as much.

Where the cursor moves, it can still be said from which row on it never climbs back to an older one (`new_ground`): then
only what follows needs to be interpreted, and whether it fills a view is seen when that is done.
"""

from __future__ import annotations

import re

from boundcap_jupyter.core.charset import Charset
from boundcap_jupyter.core.limits import Bound
from boundcap_jupyter.core.screen import REACH

#: SGR, and the erasing of nothing that tools put behind it: neither moves the cursor.
_HARMLESS = re.compile(rb"\x1b\[(?:[0-9;:]{0,48}m|0?K)")
#: A sequence that the end of the data leaves open.
_OPEN = re.compile(rb"\x1b(?:\[[0-?]{0,48}[ -/]{0,4})?\Z")
#: Sequences after which no earlier colour counts, in the forms that programs write alone.
_RESETS = (b"\x1b[0m", b"\x1b[m")
#: What moves the cursor up, and perhaps more: ESC M and two control sequences.
_UP = re.compile(rb"\x1b(?:M|\[([0-9]{0,48})(?:;[0-9;]*)?[AF])")
#: Bytes that are never shown. C1 controls, of two bytes, are told by their first.
_UNSEEN = bytes(sorted({*range(0x01, 0x20), 0x7F} - {0x09}))
_NOT_ASCII = bytes(range(0x80, 0x100))


def fresh_start(tail: bytes | bytearray, bound: Bound, charset: Charset) -> int:
    """Where in `tail` a view can begin whatever came before it, 0 if nowhere, -1 if a longer one will do no better.

    `tail` starts behind a newline, where the parser is in its first state. If it only writes, then after as many
    newlines as the cursor reaches it stands in a fresh last row, and never leaves the last row again. So if the lines
    from there on, down to those that it can still reach at the end, fill the view, nothing older is shown again.
    """
    sequences = harmless_bytes(tail)
    if sequences < 0:
        return -1
    fresh = _after_newlines(tail, REACH)
    reach = _before_newlines(tail, REACH)
    if not 0 < fresh < reach:
        return 0
    lines = tail[fresh:reach]
    # Text over text: less is shown than there are bytes.
    if b"\b" in lines or (b"\r" in lines and lines.count(b"\r") != lines.count(b"\r\n")):
        return -1
    # What is clear without counting is not counted.
    if len(lines) > bound.max_bytes and _least_shown(lines, charset) - sequences > bound.max_bytes:
        return fresh
    return fresh if lines.count(b"\n") > bound.max_lines else 0


def _least_shown(lines: bytes | bytearray, charset: Charset) -> int:
    """How many bytes of text and of escape sequences `lines` come to at least."""
    if not charset.is_utf_8:
        # What the other bytes come to is not said; two that look like ASCII come to two bytes in any of the charsets.
        return len(lines.translate(None, _UNSEEN + _NOT_ASCII))
    controls = 2 * lines.count(b"\xc2") if b"\xc2" in lines else 0
    return len(lines.translate(None, _UNSEEN)) - controls


def harmless_bytes(data: bytes | bytearray) -> int:
    """The length of all escape sequences in `data`, -1 if one of them moves the cursor or might.

    One that is left open at the end has not done so yet.
    """
    # Looking whether a byte is there is many times faster than counting it.
    if b"\x1b" not in data:
        return 0
    sequences = _HARMLESS.findall(data)
    is_open = _OPEN.search(data, max(0, len(data) - 64)) is not None
    return sum(map(len, sequences)) if len(sequences) + is_open == data.count(b"\x1b") else -1


def new_ground(data: bytes | bytearray) -> int:
    """Where in `data` a new row begins that the cursor never climbs above again, whatever came before; 0 if nowhere.

    `data` starts behind a newline. Costs a search for moves upwards, and a little for each.
    """
    ground = position = 0
    # Rows under the cursor, at most. When there are none a newline makes a new row.
    below = REACH - 1
    # Rows from that one down to the cursor, at least.
    height = 0
    for match in [*_UP.finditer(data), None]:
        at, climb = (match.start(), max(1, int(match[1] or 1))) if match else (len(data), 0)
        newlines = data.count(b"\n", position, at)
        if ground:
            height += newlines
        elif newlines > below:
            ground = _after_newlines(data, below + 1, position)
            height = newlines - below - 1
        else:
            below -= newlines
        if ground and climb > height:
            ground, below = 0, REACH - 1
        elif not ground:
            below = min(REACH - 1, below + climb)
        else:
            height -= climb
        position = at
    return ground


def _after_newlines(data: bytes | bytearray, count: int, position: int = 0) -> int:
    """Where the line after the first `count` newlines from `position` on begins, 0 if there are fewer."""
    for _ in range(count):
        position = data.find(b"\n", position) + 1
        if not position:
            return 0
    return position


def _before_newlines(data: bytes | bytearray, count: int) -> int:
    """Where the line that holds the last but `count` newline ends, -1 if there are fewer."""
    position = len(data)
    for _ in range(count + 1):
        position = data.rfind(b"\n", 0, position)
        if position < 0:
            return -1
    return position + 1
