"""Locks on files by flock(2): the system lets go of them at the moment in which their owner dies, however it dies.

A lock belongs to this process alone: commands do not inherit it (O_CLOEXEC), a forked child gives its copy up. Two
locks of one process exclude each other like those of two.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import weakref


class FileLock:
    """Held from being made until `release`. Never blocks.

    With `shared` others may share it, else nobody has it beside us. With `create` the file is made, private, and must
    not be there before. Raises BlockingIOError if somebody else holds it in a way that excludes ours, and OSError if
    the file can not be opened, or lies on a file system without locks (`no_locks_here` tells).
    """

    def __init__(self, path: str | os.PathLike[str], *, shared: bool = False, create: bool = False) -> None:
        self._fd: int | None = None
        # Over NFS an exclusive lock needs a file that may be written, a shared one a file that may be read. A pipe that
        # was planted here must not make us wait for its other end.
        flags = (os.O_RDONLY if shared else os.O_RDWR) | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        fd = os.open(path, flags | (os.O_CREAT | os.O_EXCL if create else 0), 0o600)
        try:
            if create:
                os.fchmod(fd, 0o600)
            fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        _held.add(self)

    def release(self) -> None:
        """Let go. Twice is once."""
        _held.discard(self)
        if self._fd is not None:
            fd, self._fd = self._fd, None
            # Nothing was written that could be lost; the descriptor, and the lock with it, is gone in any case.
            with contextlib.suppress(OSError):
                os.close(fd)

    def __enter__(self) -> FileLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def no_locks_here(error: OSError) -> bool:
    """Whether the error says that the file system has no locks at all."""
    return error.errno in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP)


_held: weakref.WeakSet[FileLock] = weakref.WeakSet()


def _give_up() -> None:
    # The parent's lock stays: it is open there too.
    for lock in list(_held):
        lock.release()


os.register_at_fork(after_in_child=_give_up)
