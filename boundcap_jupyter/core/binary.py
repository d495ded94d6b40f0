"""Output that is no text: how it is told, and what is shown in its place."""

from __future__ import annotations

from boundcap_jupyter.core.charset import Charset
from boundcap_jupyter.core.limits import DEFAULT_BYTES

#: At least so many bytes must speak for it: a stray control character makes no binary.
LEAST = 256
#: Percent of the retained bytes that are controls or undecodable.
PERCENT = 30
#: Percent that are controls. Compressed or encrypted data has 11 %, text in a charset that was not named has none.
CONTROL_PERCENT = 2

#: What no text holds: NUL and the controls, but for those that move the cursor or begin an escape sequence.
_CONTROLS = bytes(sorted({*range(0x20), 0x7F} - {*b"\t\n\r\b\x1b"}))
_TEXT = bytes(sorted({*range(256)} - {*_CONTROLS}))

_ROWS = 16
_PER_ROW, _PER_NARROW_ROW = 16, 8


class Sample:
    """The raw bytes at that end of a stream which is held, as many as a usual view has."""

    def __init__(self, *, of_end: bool, size: int = DEFAULT_BYTES) -> None:
        self._size = size
        self._of_end = of_end
        self._bytes = bytearray()
        self._total = 0

    def add(self, data: bytes) -> None:
        """Costs a copy of at most `size` bytes."""
        self._total += len(data)
        if not self._of_end:
            if len(self._bytes) < self._size:
                self._bytes += data[: self._size - len(self._bytes)]
        elif len(data) >= self._size:
            self._bytes[:] = data[-self._size :]
        else:
            self._bytes += data
            if len(self._bytes) > 2 * self._size:
                del self._bytes[: -self._size]

    def is_binary(self, charset: Charset) -> bool:
        """True if too much of the sample is no text. Costs two passes over the sample."""
        sample = self._held()
        controls = len(sample.translate(None, _TEXT))
        # The cheap question first: text has no controls at all, and answers for nothing else.
        if 100 * controls < CONTROL_PERCENT * len(sample):
            return False
        wrong = controls + charset.undecodable(sample)
        return wrong >= LEAST and 100 * wrong > PERCENT * len(sample)

    def dump(self, max_bytes: int, max_lines: int) -> tuple[str, bytes]:
        """(lines in hexadecimal with the offset in the stream, the bytes that they show), at least one line."""
        # A bound of 64 bytes, the smallest, has room for one narrow row.
        per_row = _PER_ROW if len(_row(self._total, bytes(_PER_ROW), _PER_ROW)) <= max_bytes else _PER_NARROW_ROW
        width = len(_row(self._total, bytes(per_row), per_row))
        shown = per_row * max(1, min(_ROWS, max_lines, max_bytes // width))
        held = self._held()
        start = 0
        if self._of_end:
            # Rows begin at multiples of their length, so that they stay what they are while the stream grows.
            last_row = max(0, self._total - 1) // per_row * per_row
            start = max(0, last_row + per_row - shown, -(-(self._total - len(held)) // per_row) * per_row)
            data = held[start - (self._total - len(held)) :]
        else:
            data = held[:shown]
        rows = [_row(start + at, data[at : at + per_row], per_row) for at in range(0, len(data), per_row)]
        return "".join(rows), data

    def _held(self) -> bytes:
        return bytes(self._bytes[-self._size :])


def _row(offset: int, data: bytes, per_row: int) -> str:
    """As hexdump -C writes it."""
    shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data)
    return f"{offset:08x}  {data.hex(' '):<{3 * per_row - 1}}  |{shown}|\n"
