"""What is written over before anybody sees it.

A progress display writes the same rows again and again, thousands of times between two looks at it. Of all that only
the last frames are left, and the ends of longer ones before them: `last_frames` finds these in one line that is full of
carriage returns, `last_writes` in rows that the cursor climbs back to. Only they need to be interpreted.

Both give up on anything but text, colours, erasing and the moves that they are about: the result is then interpreted
in full, which is slower and always right.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from boundcap_jupyter.core.sgr import SGR, lasting_sgr

#: All but control sequences that stay in their row and change no other.
_LEAVES_ROW = re.compile(r"\x1b(?!\[[0-?]*[ -/]*[@CDGHIK-~])")
#: All but erasing, which is quickly looked through where that is all there is.
_MORE_THAN_ERASES = re.compile(r"\x1b(?!\[[02]?K)")
#: Erasing to the right of the cursor, or the row.
_ERASE = ("\x1b[K", "\x1b[0K", "\x1b[2K")
#: Colours and erasing: what takes no column.
_NO_COLUMN = re.compile(rf"{SGR.pattern}|\x1b\[[02]?K")
#: Moves that `last_writes` follows.
_MOVE = re.compile(r"(\r|\n|\x1b\[[0-9]{0,3}[AB])")
#: More columns than any row has.
_ALL = 1 << 62
#: Bytes of text and of the moves between its parts; C1 controls are of two bytes.
_TEXT = bytes(sorted({*range(0x20, 0x7F), *range(0x80, 0x100), *b"\t\r"}))
_C1 = re.compile(rb"\xc2[\x80-\x9f]")


def last_frames(line: str, max_width: int) -> str:
    """A shorter text that leaves the same as `line`, a text without newline, whatever the row held before.

    Frames are what stands between two carriage returns. A frame that was erased is left out, and so is one that is
    not longer than a later one; their colours stay. Of a row that is at most `max_width` columns wide before.
    """
    first, last = line.find("\r"), line.rfind("\r")
    # Behind the last CR the line may go on: that is kept. In the string of another sequence a CR would be none.
    more = _MORE_THAN_ERASES.search(line, 0, last) if "\x1b" in line else None
    if more and _LEAVES_ROW.search(line, more.start(), last):
        return line
    head, begin = line[:first], first
    erased = max(line.rfind(erase, first, last) for erase in _ERASE) if "\x1b" in line else -1
    if erased >= 0:
        start = line.rfind("\r", first, erased)
        # Nothing before this frame is left, if it wrote all columns in front of what it erased.
        if line.startswith("\x1b[2K", erased) or _is_text(_NO_COLUMN.sub("", line[start:erased])):
            head, begin = lasting_sgr(line[:start]) if more else "", start
    frames = line[begin + 1 : last].split("\r")
    bare = [_NO_COLUMN.sub("", frame) for frame in frames] if more or erased >= 0 else frames
    lengths = [len(frame) for frame in bare]
    longest = max(lengths)
    if longest > max_width or not _is_text("".join(bare)):
        return f"{head}{line[begin:]}"
    # From the last to the first; often the last is all there is.
    kept = [len(frames) - 1]
    if longest > lengths[-1]:
        reach = lengths[-1]
        for number in range(len(lengths) - 2, -1, -1):
            if lengths[number] > reach:
                reach = lengths[number]
                kept.append(number)
    if erased >= 0 and kept[-1]:
        # What erased counts whatever its length.
        kept.append(0)
    pieces = [head]
    position = 0
    for number in reversed(kept):
        colours = lasting_sgr("".join(frames[position:number])) if more else ""
        pieces += colours, "\r", frames[number]
        position = number + 1
    return f"{''.join(pieces)}{line[last:]}"


class Write(NamedTuple):
    """Text that is written at a place, after `colours`. Without text, a row is left in these colours."""

    row: int
    column: int
    text: str | None
    colours: str


#: The text between two moves: its number, its row, the columns that it takes, from the first to before the second.
_Part = tuple[int, int, int, int]


def last_writes(text: str, *, row: int, column: int, rows: int, max_width: int) -> list[Write] | None:
    """Few writes that leave the same as `text` does, in their order; the last one says where the cursor is then.

    The cursor starts at `column` of `row`, one of the `rows` that it reaches and none of which is wider than
    `max_width`. None if the text does anything else, or makes a new row.
    """
    raw = _MOVE.split(text.replace("\n\r", "\n"))
    texts, moves = raw[::2], raw[1::2]
    bare = texts
    if text.count("\x1b") != sum([move[0] == "\x1b" for move in moves]):
        bare = [_NO_COLUMN.sub("", part) if "\x1b" in part else part for part in texts]
    if not _is_text("".join(bare)):
        return None
    steps = {move: _step(move) for move in set(moves)}
    parts: list[_Part] = []
    #: The part of the text after which a row was last left: the style of that moment is how the row ends.
    left: dict[int, int] = {}
    for number, (part, move) in enumerate(zip(bare, [*moves, ""], strict=True)):
        if texts[number]:
            end = column + len(part)
            parts.append((number, row, column, end))
            column = end
        if move == "\r":
            column = 0
        elif move == "\n":
            left[row] = number
            row += 1
            column = 0
            if row == rows:
                return None
        elif move:
            step = steps[move]
            if step > 0:
                row = min(rows - 1, row + step)
            else:
                if row == rows - 1:
                    left[row] = number
                row = max(0, row + step)
    if max([part[3] for part in parts], default=0) > max_width:
        return None
    kept = [(number, at, begin, texts[number]) for number, at, begin, _ in _uncovered(parts, texts)]
    leaving = [(number, row, 0, None) for row, number in left.items()]
    writes: list[Write] = []
    position = 0
    for number, at, begin, written in sorted([*kept, *leaving], key=lambda write: (write[0], write[3] is None)):
        # The colours in a text that is written come with it.
        before = texts[position : number + (written is None)]
        writes.append(Write(at, begin, written, lasting_sgr("".join(before))))
        position = number + 1
    writes.append(Write(row, column, "", lasting_sgr("".join(texts[position:]))))
    return writes


def _uncovered(parts: Sequence[_Part], texts: Sequence[str]) -> list[_Part]:
    """The parts that later ones do not cover."""
    kept: list[_Part] = []
    #: How many columns of a row are written later, from the first on.
    covered: dict[int, int] = {}
    for part in reversed(parts):
        number, row, begin, end = part
        reach = covered.get(row, 0)
        text = texts[number]
        erases = "\x1b" in text and any(erase in text for erase in _ERASE)
        if reach == _ALL or (not erases and (end <= reach or begin == end)):
            continue
        kept.append(part)
        if erases and (begin == 0 or "\x1b[2K" in text):
            covered[row] = _ALL
        elif begin <= reach:
            covered[row] = max(reach, end)
    return kept


def _step(move: str) -> int:
    """Rows that a move goes down."""
    if move[0] != "\x1b":
        return int(move == "\n")
    count = max(1, int(move[2:-1] or 1))
    return count if move[-1] == "B" else -count


def _is_text(text: str) -> bool:
    """True if there are no controls but TAB and CR in it."""
    data = text.encode()
    return not data.translate(None, _TEXT) and not (b"\xc2" in data and _C1.search(data))
