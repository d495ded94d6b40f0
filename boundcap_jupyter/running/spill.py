"""The file with the complete raw stream of a run: lazy, private, complete or said to be incomplete."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from boundcap_jupyter.core.view import SpillState
from boundcap_jupyter.running.room import Room
from boundcap_jupyter.running.store import RunDirectory, create_private

#: The file of the standard output, or of both outputs; and of the standard error where it is kept apart.
OUTPUT, ERRORS = "output.log", "stderr.log"


class SpillFile:
    """Made with the first write. `path` is None before; `size` counts the bytes that are in the file.

    A write blocks as long as the disk takes: that is the backpressure on the command. `room` is what the files of the
    run may take.
    """

    def __init__(self, directory: RunDirectory, name: str = OUTPUT, room: Room | None = None) -> None:
        self._directory = directory
        self._name = name
        self._room = room or Room()
        self._fd: int | None = None
        self.path: Path | None = None
        #: Device and inode of the file: what a path leads to may change, this does not.
        self.identity: tuple[int, int] | None = None
        self.size = 0
        self.state: SpillState = "none"

    def write(self, data: bytes) -> None:
        """Append. Raises OSError if the file can not be made or written; the spill is incomplete from then on."""
        if self.state == "incomplete":
            return
        try:
            if self._fd is None:
                self._fd = self._open()
            rest = memoryview(data)
            while rest:
                room = self._room.take(self._fd, len(rest))
                written = os.write(self._fd, rest[:room])
                self._room.give_back(room - written)
                self.size += written
                rest = rest[written:]
        except OSError:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Nothing more is written, and what was written is not all of it."""
        self.state = "incomplete"
        # What broke first is what is told.
        with contextlib.suppress(OSError):
            self._close_file()

    def close(self) -> None:
        """The stream is over: what was written is all of it. Raises OSError if the system lost it on the way.

        A file that somebody removed, or put another in place of, is lost too: no path leads to it. One that somebody
        cut, or wrote into, is not what the command printed.
        """
        if self._fd is None:
            return
        try:
            self._close_file()
            self._see_that_it_is_there()
        except OSError:
            self.state = "incomplete"
            raise
        self.state = "complete"

    def _open(self) -> int:
        path = self._directory.make() / self._name
        fd = create_private(path)
        status = os.fstat(fd)
        self.path, self.identity = path, (status.st_dev, status.st_ino)
        self.state = "open"
        return fd

    def _see_that_it_is_there(self) -> None:
        assert self.path is not None
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            status = self.path.lstat()
            if (status.st_dev, status.st_ino) == self.identity:
                if status.st_size == self.size:
                    return
                self.size = status.st_size
                raise OSError(errno.EIO, "somebody changed the file while it was written", str(self.path))
        error = FileNotFoundError(errno.ENOENT, "somebody removed the file while it was written", str(self.path))
        self.size, self.path = 0, None
        raise error

    def _close_file(self) -> None:
        if self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)
