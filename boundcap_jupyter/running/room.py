"""How much a run may write: a limit of its own, and what must stay free on the disk for everybody else."""

from __future__ import annotations

import errno
import os

#: Of a disk, at most so much is left alone: enough for a system to go on, and a person to clear up.
FLOOR_BYTES = 1024**3
FLOOR_PART = 20
#: Bytes between two looks at the disk: at the speed of a fast disk a hundred a second, which cost nothing.
LOOK_BYTES = 16 * 1024 * 1024
#: And where it is nearly full, since others write too.
LEAST_LOOK_BYTES = 64 * 1024


class Room:
    """What the files of one run may still take. `max_bytes` is 0 for no limit, `min_free` None for the default.

    `take` says how many of the next bytes may be written and counts them; costs a look at the disk now and then.
    """

    def __init__(self, max_bytes: int = 0, min_free: int | None = None) -> None:
        self._max_bytes = max_bytes
        self._min_free = min_free
        self._taken = 0
        self._next_look = 0

    def take(self, fd: int, wanted: int) -> int:
        """At least 1, at most `wanted`, for the file `fd`. Raises OSError that says which limit was reached."""
        if self._max_bytes:
            wanted = min(wanted, self._max_bytes - self._taken)
            if wanted <= 0:
                raise OSError(
                    errno.EFBIG, f"the limit of {self._max_bytes:,} bytes a run was reached (max_spill_bytes)"
                )
        if self._taken >= self._next_look:
            status = os.fstatvfs(fd)
            if reason := shortage(status, self._min_free):
                raise OSError(errno.ENOSPC, reason)
            spare = _free(status) - _floor(status, self._min_free)
            self._next_look = self._taken + min(LOOK_BYTES, max(LEAST_LOOK_BYTES, spare // 2))
        wanted = min(wanted, self._next_look - self._taken)
        self._taken += wanted
        return wanted

    def give_back(self, count: int) -> None:
        """So many of the bytes were not written after all."""
        self._taken -= count


def shortage(status: os.statvfs_result, min_free: int | None) -> str:
    """What is wrong if less is free on a disk than must be, or ""."""
    free, floor = _free(status), _floor(status, min_free)
    # A file system that does not know its size says 0.
    if not status.f_blocks or free > floor or not floor:
        return ""
    return f"only {free:,} bytes are free on the disk, and {floor:,} must stay free (min_free_bytes)"


def _free(status: os.statvfs_result) -> int:
    return status.f_bavail * status.f_frsize


def _floor(status: os.statvfs_result, min_free: int | None) -> int:
    if min_free is not None:
        return min_free
    return min(FLOOR_BYTES, status.f_blocks * status.f_frsize // FLOOR_PART)
