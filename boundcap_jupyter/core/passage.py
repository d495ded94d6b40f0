"""Older lines of a stream than a view holds, read from its complete bytes as a terminal would show them.

A view knows its own place in the stream; what stands before it is somewhere in a file of any size. So a passage reads
backwards from a place, at most `RAW` bytes, and interprets these alone:

    | context, to know the colours | the passage | beyond: rows are still written over |
                                   ^ begins      ^ end

What a progress display of more than `BEYOND` bytes does to rows before `end` is not seen, and a colour that was set
more than `CONTEXT` bytes before is not known. All else is as a capture of the whole stream would have it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from boundcap_jupyter.core.charset import Charset
from boundcap_jupyter.core.limits import Bound
from boundcap_jupyter.core.row import Row
from boundcap_jupyter.core.screen import Screen
from boundcap_jupyter.core.sgr import style_after
from boundcap_jupyter.core.window import tail_window

#: Bytes of one passage in the stream at most: what is read, and interpreted, for one request.
RAW = 1024 * 1024
#: Bytes before and behind it.
CONTEXT = BEYOND = 64 * 1024
#: UTF-8 bytes of its text: a NUL or an invalid byte is shown by a character of three, and colours are written anew.
TEXT = 4 * RAW

#: Bytes that are interpreted at a time, so that the rows of many short lines never stand in memory together.
STEP = 32 * 1024
_NEWLINE = ord("\n")

Read = Callable[[int, int], bytes]


@dataclass(frozen=True, slots=True)
class Passage:
    """Text in the grammar of a view. It stands for the raw bytes from `begins` to where the request said.

    `lines` counts its lines, `newlines` those of the raw bytes: fewer lines are left where they were written over.
    """

    text: str
    lead_sgr: str
    begins: int
    lines: int
    newlines: int


def passage_before(read: Read, end: int, max_lines: int, charset: Charset) -> Passage:
    """At most `max_lines` lines that end at the raw byte `end`.

    `read(offset, length)` gives the bytes of the stream, fewer at its end. `begins` is always before `end`, unless that
    is 0; there may be no line between them, where a display was redrawn. Of a line that is longer than `RAW` a passage
    shows an end, and the next one goes on from there. Costs the interpretation of at most twice the bytes that it may
    read.
    """
    first = max(0, end - RAW - CONTEXT)
    data = read(first, end - first)
    furthest = _furthest(data, charset)
    begin = max(furthest, _begin_of_lines(data, max_lines))
    passage = _interpret(read, data, first, begin, end, max_lines, charset)
    if passage.lines < max_lines and begin > furthest:
        # Lines were written over: all that one passage may read, then.
        passage = _interpret(read, data, first, furthest, end, max_lines, charset)
    return passage


def _furthest(data: bytes, charset: Charset) -> int:
    """Where a passage that ends where `data` does begins at the earliest: with a line, if one begins late enough."""
    least = len(data) - RAW
    if least <= 0:
        return 0
    newline = data.find(b"\n", least - 1, len(data) - 1)
    if newline >= 0:
        return newline + 1
    while charset.is_utf_8 and least < len(data) - 1 and data[least] & 0xC0 == 0x80:
        least += 1
    return least


def _begin_of_lines(data: bytes, count: int) -> int:
    """Where the last `count` lines of `data` begin, 0 if there are no more than that."""
    begin = len(data)
    for _ in range(count):
        begin = data.rfind(b"\n", 0, max(0, begin - 1)) + 1
        if not begin:
            return 0
    return begin


def _interpret(read: Read, data: bytes, first: int, begin: int, end: int, max_lines: int, charset: Charset) -> Passage:
    """The passage from `begin` in `data`, which starts at `first` in the stream, to its end, which is at `end`."""
    context = max(0, begin - CONTEXT)
    if begin and data[begin - 1] != _NEWLINE:
        context = begin
    elif context:
        # Where the next line begins, the parser is in its first state.
        context = data.find(b"\n", context, begin) + 1
    screen = Screen(charset=charset, max_width=RAW)
    lead = style_after(screen.style, data[:context].decode("latin-1"))
    screen = screen.fresh(base=0, origin=first + context, line=0, style=lead)
    for at in range(context, len(data), STEP):
        screen.feed(data[at : at + STEP])
        screen.drop_rows(max(0, screen.frozen - max_lines))
    if data.endswith(b"\n"):
        beyond = read(end, BEYOND)
        if b"\x1b" in beyond:
            screen.feed(beyond)
        # The rows behind the passage are no part of it; an empty one says that the last one before them has ended.
        del screen.rows[sum(row.start < end for row in screen.rows) :]
        screen.rows.append(Row(end, 0, end=screen.rows[-1].end if screen.rows else screen.lead))
    screen.drop_rows(sum(row.start < first + begin for row in screen.rows))
    if not screen.rows or screen.rows[0].start >= end:
        return Passage("", "", first + begin, 0, data.count(b"\n", begin))
    window = tail_window(screen, Bound(TEXT, max_lines))
    begins = window.begins.byte_count
    return Passage(window.text, window.lead_sgr, begins, window.lines, data.count(b"\n", begins - first))
