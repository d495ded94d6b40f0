"""Raw text of a stream within a number of bytes: its beginning and its end, as it came.

For programs that read what other programs wrote. Nothing is interpreted and nothing is removed but the middle, and what
is left can be parsed line by line: no part of a line that was cut stands alone on a line, where it might be taken for
a whole one ("1234" is JSON, and so is its half).

    whole lines, whole lines        head, marker on a line of its own, tail
    a cut line on either side       the marker stands on that line too
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from typing import Any

#: Of the room: enough for what a program says of itself at the start; the result is at the end.
HEAD_SHARE = 0.25
#: Bytes. The longest marker, with numbers of twenty digits; no bound is smaller than a few of them.
MARKER_ROOM = 160
LEAST = 4 * MARKER_ROOM


class ClippedText:
    """Takes bytes, holds at most `bound` of them and one chunk; all of them if `bound` is None.

    Raises ValueError for a bound below `LEAST` bytes.
    """

    def __init__(self, bound: int | None) -> None:
        if bound is not None and bound < LEAST:
            raise ValueError(f"bound must be at least {LEAST} bytes, not {bound!r}")
        self._bound = bound
        self._head_room = 0 if bound is None else int(bound * HEAD_SHARE)
        self._head = bytearray()
        #: What follows the head, the oldest first. Whole chunks, so that nothing is copied to make room.
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0
        self._dropped_newlines = 0

    def feed(self, data: bytes) -> None:
        """Costs a copy of the head, and a look at what is dropped."""
        if self._bound is not None and len(self._head) < self._head_room:
            room = self._head_room - len(self._head)
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._tail.append(data)
        self._tail_size += len(data)
        if self._bound is None:
            return
        while self._tail_size - len(self._tail[0]) >= self._bound - self._head_room:
            oldest = self._tail.popleft()
            self._tail_size -= len(oldest)
            self._dropped += len(oldest)
            self._dropped_newlines += oldest.count(b"\n")

    def take(self) -> str:
        """The text, invalid UTF-8 as U+FFFD. Gives up what is held: at no time is it in memory more than twice."""
        if self._bound is None or self._dropped + self._tail_size + len(self._head) <= self._bound:
            whole = bytes(self._head) + b"".join(self._drain())
            self._head.clear()
            return whole.decode("utf-8", "replace")
        tail = b"".join(self._drain())
        head_end = self._head.rfind(b"\n") + 1 or _start_of_character(self._head, len(self._head))
        tail_start = len(tail) - (self._bound - self._head_room - MARKER_ROOM)
        newline = tail.find(b"\n", tail_start - 1) + 1
        # A newline that ends the stream leaves no whole line behind it.
        whole_tail = 0 < newline < len(tail)
        tail_start = newline if whole_tail else _start_of_character(tail, tail_start)
        omitted = len(self._head) - head_end + self._dropped + tail_start
        newlines = self._head.count(b"\n", head_end) + self._dropped_newlines + tail.count(b"\n", 0, tail_start)
        marker = f"[... {omitted} bytes, {newlines} newlines omitted ...]"
        head = self._head[:head_end].decode("utf-8", "replace")
        self._head.clear()
        text = str(memoryview(tail)[tail_start:], "utf-8", "replace")
        # Before all is put together: it would be in memory three times.
        del tail
        separator = "\n" if whole_tail else ""
        return f"{head}{marker}{separator}{text}"

    def _drain(self) -> Iterator[bytes]:
        while self._tail:
            yield self._tail.popleft()


def parse_jsonl(text: str) -> list[Any]:
    """The values of all lines that are JSON. What is not, the marker of a cut included, is passed over."""
    values = []
    for line in text.split("\n"):
        try:
            values.append(json.loads(line))
        except ValueError:
            continue
    return values


def _start_of_character(data: bytes | bytearray, position: int) -> int:
    """The first place at or behind `position` that does not continue a UTF-8 character, before it at the end."""
    if position >= len(data):
        start = len(data)
        while start > max(0, len(data) - 4) and start and data[start - 1] & 0xC0 == 0x80:
            start -= 1
        if start and data[start - 1] >= 0xC0:
            width = 2 + (data[start - 1] >= 0xE0) + (data[start - 1] >= 0xF0)
            return len(data) if len(data) - start + 1 >= width else start - 1
        return len(data)
    while position < len(data) and data[position] & 0xC0 == 0x80:
        position += 1
    return position
