"""Exact counts of a whole stream, whatever of it is held."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Totals:
    """Raw bytes and newlines of the stream so far, and the length of its last line in bytes without its newline."""

    byte_count: int = 0
    newlines: int = 0
    last_line_bytes: int = 0
    #: Bytes behind the last newline.
    open_bytes: int = 0

    @property
    def lines(self) -> int:
        """Newlines, plus one for a last line without one."""
        return self.newlines + (self.open_bytes > 0)

    def add(self, data: bytes) -> None:
        self.byte_count += len(data)
        last = data.rfind(b"\n")
        if last < 0:
            self.open_bytes += len(data)
            self.last_line_bytes = self.open_bytes or self.last_line_bytes
            return
        self.newlines += data.count(b"\n")
        ended = last - (data.rfind(b"\n", 0, last) + 1)
        if data.find(b"\n") == last:
            ended += self.open_bytes
        self.open_bytes = len(data) - last - 1
        self.last_line_bytes = self.open_bytes or ended
