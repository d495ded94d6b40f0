"""Where runs keep files: one private directory a session, in it one a run, made when first needed.

    <user cache dir>/boundcap/<session>/<run>/      0700, files 0600

The user cache dir is the system's (platformdirs): $XDG_CACHE_HOME or ~/.cache on Linux.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import threading
import time
from itertools import count
from pathlib import Path

import platformdirs


class Session:
    """The directory of runs of one process. Nothing is made before a run needs it."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._pid = 0
        self._name = ""

    @property
    def root(self) -> Path:
        """The store that all sessions share: asked for anew each time, since the environment may change."""
        # Absolute in any case: a path that is shown must lead there after the next chdir.
        return (self._root or platformdirs.user_cache_path("boundcap", appauthor=False)).absolute()

    def make_run_directory(self) -> Path:
        """A new, empty, private directory. Raises OSError if it can not be made, or is not private."""
        with self._lock:
            # A forked child is a session of its own.
            if self._pid != os.getpid():
                self._pid = os.getpid()
                self._name = f"{time.strftime('%Y%m%d-%H%M%S')}-{self._pid}-{secrets.token_hex(3)}"
            number = next(self._numbers)
        root = self.root
        _make_missing(root.parent)
        _make_private(root)
        _make_private(root / self._name)
        directory = root / self._name / f"{number:04d}"
        directory.mkdir(mode=0o700)
        _make_private(directory)
        return directory


def _make_missing(directory: Path) -> None:
    """Make a directory and whatever is missing above it, for its owner alone: no umask opens or closes them.

    What is there stays as it is. Private is what the XDG base directory specification asks for.
    """
    if not directory.is_dir():
        _make_missing(directory.parent)
        _make_private(directory)


def _make_private(directory: Path) -> None:
    """Make a directory that only its owner can enter, or see that it is one."""
    with contextlib.suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    status = directory.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f"{directory} must be a directory: somebody put something else there")
    if status.st_uid != os.geteuid():
        raise PermissionError(f"{directory} belongs to another user (uid {status.st_uid})")
    if stat.S_IMODE(status.st_mode) != 0o700:
        directory.chmod(0o700)


class RunDirectory:
    """The directory of one run, made when its first file is."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._path: Path | None = None

    def make_run_directory(self) -> Path:
        """The directory. Raises OSError if it can not be made. For one thread."""
        if self._path is None:
            self._path = self._session.make_run_directory()
        return self._path


#: The session of this process.
SESSION = Session()
