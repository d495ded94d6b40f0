"""Who holds a pipe open: processes that could still write to it."""

from __future__ import annotations

import os
from collections.abc import Iterable


def count_holders(fds: Iterable[int]) -> int:
    """The number of processes that hold the writing end of one of these pipes, given by their reading ends.

    At least 1: the pipes are not at their end, so somebody holds them, whom this user, or this system, may not let us
    see. Costs a look at every descriptor of every process (Linux).
    """
    pipes = {(status.st_dev, status.st_ino) for status in map(os.fstat, fds)}
    try:
        names = [name for name in os.listdir("/proc") if name.isdigit()]
    except FileNotFoundError:
        names = []
    return max(1, sum(_holds(f"/proc/{name}/fd", pipes) for name in names))


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


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        # Closed meanwhile, or a file that is out of reach.
        return None
    return status.st_dev, status.st_ino
