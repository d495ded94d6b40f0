"""Who holds a pipe open: processes that could still write to it."""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
from collections.abc import Iterable

#: ioctl_tty(2): the number of the terminal whose reading end this is, from asm-generic/ioctls.h.
_TIOCGPTN = 0x80045430


def count_holders(fds: Iterable[int]) -> int:
    """The number of processes that hold the writing end of one of these pipes, given by their reading ends.

    A terminal counts as a pipe.
    At least 1: the pipes are not at their end, so somebody holds them, whom this user, or this system, may not let us
    see. Costs a look at every descriptor of every process (Linux).
    """
    pipes = set(filter(None, map(_writing_end, fds)))
    try:
        names = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        # There is no such thing, or no descriptor left to look with.
        names = []
    return max(1, sum(_holds(f"/proc/{name}/fd", pipes) for name in names))


def _writing_end(fd: int) -> tuple[int, int] | None:
    """What `_identity` says of the other end of a pipe or terminal: of a pipe, both ends are one file."""
    if os.isatty(fd):
        number = array.array("i", [0])
        # Not a system that numbers its terminals so: then nobody is found.
        with contextlib.suppress(OSError):
            fcntl.ioctl(fd, _TIOCGPTN, number)
            return _identity(f"/dev/pts/{number[0]}")
    return _identity(fd)


def _holds(folder: str, pipes: set[tuple[int, int]]) -> bool:
    try:
        for name in os.listdir(folder):
            path = f"{folder}/{name}"
            # The mode of the link is that of the descriptor: both ends of a pipe are one file.
            if os.lstat(path).st_mode & 0o200 and _identity(path) in pipes:
                return True
    except OSError:
        # It exited, or is another user's.
        return False
    return False


def _identity(path: str | int) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        # Closed meanwhile, or a file that is out of reach.
        return None
    return status.st_dev, status.st_ino
