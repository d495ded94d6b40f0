"""Where runs keep files: one private directory a session, in it one a run, made when first needed.

    <user cache dir>/boundcap/<session>/<run>/      0700, files 0600
        lock            held by flock while the run is not over, shared by who reads
        record.json     what became of the run, with its last view (record.py)
        output.log      the spill (spill.py), and stderr.log where the outputs are kept apart

The user cache dir is the system's (platformdirs), $XDG_CACHE_HOME or ~/.cache on Linux, unless the setting `dir` names
another. A run's directory appears with its lock held: it is made under a hidden name and then renamed. So whoever finds
it without a lock knows that its owner is done with it, or dead.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import secrets
import stat
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import NamedTuple

import platformdirs

from boundcap_jupyter.running import settings
from boundcap_jupyter.running.lock import FileLock, no_locks_here
from boundcap_jupyter.running.room import shortage

#: The file that is held by flock.
LOCK = "lock"
#: Names of ours, the only ones that are ever listed or removed.
SESSION_NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9]+-[0-9a-f]{6}")
RUN_NAME = re.compile(r"[0-9]{4,}")
#: What a run's directory is called until it is locked.
UNBORN = ".new-"
#: Another process that sweeps may take an empty directory away before there is something in it. Never so often.
_ATTEMPTS = 20

_log = logging.getLogger(__name__)


def store_root() -> Path:
    """The directory of all sessions: asked for anew each time, since the environment may change."""
    parent = settings.DIR.get()
    path = parent / "boundcap" if parent is not None else platformdirs.user_cache_path("boundcap", appauthor=False)
    # Absolute in any case: a path that is shown must lead there after the next chdir.
    return path.absolute()


class HeldDirectory(NamedTuple):
    """A directory and the lock that holds it, None on a file system without locks."""

    path: Path
    lock: FileLock | None


class Session:
    """The directory of runs of one process. Nothing is made before a run needs it."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._pid = 0
        self._name = ""
        self._looked_at: Path | None = None
        self._trouble = ""
        self._told = False

    @property
    def root(self) -> Path:
        """The store that all sessions share."""
        return self._root.absolute() if self._root is not None else store_root()

    def make_run_directory(self) -> HeldDirectory:
        """A new, private directory with its lock. Raises OSError if it can not be made, or is not private."""
        with self._lock:
            # A forked child is a session of its own.
            if self._pid != os.getpid():
                self._pid = os.getpid()
                self._name = f"{time.strftime('%Y%m%d-%H%M%S')}-{self._pid}-{secrets.token_hex(3)}"
            number = next(self._numbers)
        root = self.root
        for _ in range(_ATTEMPTS - 1):
            with contextlib.suppress(FileNotFoundError):
                return self._make(root, number)
        return self._make(root, number)

    def _make(self, root: Path, number: int) -> HeldDirectory:
        _make_missing(root.parent)
        _make_private(root)
        session = root / self._name
        _make_private(session)
        unborn, directory = session / f"{UNBORN}{number:04d}", session / f"{number:04d}"
        _make_private(unborn)
        lock = None
        try:
            lock = _lock(unborn / LOCK)
            unborn.rename(directory)
        except BaseException:
            if lock is not None:
                lock.release()
            with contextlib.suppress(OSError):
                (unborn / LOCK).unlink(missing_ok=True)
                unborn.rmdir()
            raise
        return HeldDirectory(directory, lock)

    def look(self) -> None:
        """See once whether the store can be used, so that a person hears of it before a long output needs it."""
        try:
            root = self.root
            if root == self._looked_at:
                return
            self._looked_at = root
            reason = _obstacle(root)
        except OSError as error:
            # Not even asked for: no name of a file, behind a closed door, below a directory that was removed.
            reason = str(error)
        if reason:
            self.trouble(f"complete outputs cannot be kept: {reason}")

    def trouble(self, what: str) -> None:
        """Something is wrong with the store that no run fails of: to be told at the next occasion."""
        self._trouble = self._trouble or what

    def tell(self) -> None:
        """Log a warning if there was trouble: one a session. Not before the output of a run is shown, which clears."""
        if self._trouble and not self._told:
            self._told = True
            _log.warning("%s (said once; small outputs need no file)", self._trouble)


def _lock(path: Path) -> FileLock | None:
    try:
        return FileLock(path, create=True)
    except OSError as error:
        # Then nobody can take it, so nobody will remove what it holds.
        if no_locks_here(error):
            return None
        raise


def _obstacle(root: Path) -> str:
    """Why nothing can be made at `root`, as far as that can be seen without trying, or "". Raises OSError."""
    if root.is_symlink():
        return f"{root} must be a directory, not a link"
    place = next(path for path in (root, *root.parents) if os.path.exists(path))
    if not place.is_dir():
        return f"{place} is not a directory"
    if not os.access(place, os.W_OK | os.X_OK):
        return f"{place} cannot be written"
    return shortage(os.statvfs(place), settings.MIN_FREE_BYTES.get())


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


def create_private(path: Path) -> int:
    """A new file for its owner alone, open for writing. Raises FileExistsError for whatever is there, a link too."""
    # Appending, so that a file that somebody cuts meanwhile is shorter, and does not have a hole of the right length.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(path, flags, 0o600)
    try:
        # A wild umask takes nothing away from the owner.
        os.fchmod(fd, 0o600)
    except BaseException:
        os.close(fd)
        raise
    return fd


def open_stored(path: Path) -> int:
    """A file of the store, open for reading. Raises OSError; neither a link nor a pipe that was planted is followed."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is not a file", str(path))
    return fd


class RunDirectory:
    """The directory of one run, made and held when its first file is. For one thread."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._held: HeldDirectory | None = None
        #: Called when the directory was made, before anything is in it.
        self.on_made: Callable[[], None] = lambda: None

    @property
    def path(self) -> Path | None:
        """None as long as nothing needed it."""
        return self._held.path if self._held is not None else None

    def make(self) -> Path:
        """The directory. Raises OSError if it can not be made."""
        if self._held is None:
            self._held = self.session.make_run_directory()
            self.on_made()
        return self._held.path

    def release(self) -> None:
        """The run is over: from here on the directory may be swept, when its time has come."""
        # It holds the run, and who reads the spill holds the directory.
        self.on_made = lambda: None
        if self._held is not None and self._held.lock is not None:
            self._held.lock.release()


#: The session of this process.
SESSION = Session()
