"""A spill, read by offsets: while it grows, and when it is complete."""

from __future__ import annotations

import os
import stat

from boundcap_jupyter.running.spill import SpillFile


class SpillPages:
    """The bytes of one spill, as far as they are written. Any number of threads may read.

    `encoding` is the charset of the text in it.

    The file is opened for each page, which costs some microseconds, and no descriptor outlives it. Only the very file
    that was written is read: whatever else is found under its name, a link or another file, is refused.
    """

    def __init__(self, spill: SpillFile, encoding: str = "utf-8") -> None:
        self._spill = spill
        self.encoding = encoding

    @property
    def size(self) -> int:
        """Bytes that can be read now; 0 while there is no file."""
        return self._spill.size

    def read(self, offset: int, length: int) -> bytes:
        """At most `length` bytes from `offset` on; less at the end of what is written so far, nothing behind it.

        Raises ValueError for a negative number; OSError, with a `strerror` that says what is wrong, if the file is
        gone, is not the one that was written, or is shorter than what was written.
        """
        for name, value in (("offset", offset), ("length", length)):
            if value < 0:
                raise ValueError(f"{name} must be at least 0, not {value}")
        length = min(length, self._spill.size - offset)
        if length <= 0:
            return b""
        fd = self._open()
        try:
            data = _read_at(fd, offset, length)
        finally:
            os.close(fd)
        if len(data) < length:
            raise OSError(0, f"the file ends at byte {offset + len(data):,}: somebody made it shorter")
        return data

    def _open(self) -> int:
        path = self._spill.path
        if path is None:
            # It had one a moment ago.
            raise OSError(0, "somebody removed the file")
        # Not blocking: what was put in its place may be a FIFO. Links on the way to it are found by the identity.
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) != self._spill.identity:
            os.close(fd)
            raise OSError(0, "the file was replaced by another one")
        return fd


def _read_at(fd: int, offset: int, length: int) -> bytes:
    # Most systems give all at once; none has to.
    parts = []
    while length and (part := os.pread(fd, length, offset)):
        parts.append(part)
        offset += len(part)
        length -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
