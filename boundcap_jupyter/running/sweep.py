"""Removing what nobody needs any more: the files of runs that are over.

| run                                        | goes                                                              |
|--------------------------------------------|-------------------------------------------------------------------|
| not over, or being read: its lock is held  | never                                                             |
| its owner died, or nobody knows            | as one that is over, but not before it is 24 hours old            |
| over                                       | `keep_days` after its end, or, oldest first, above `store_bytes`  |

Several kernels may sweep at once: what one holds the others leave alone, and what is gone is gone.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.running import settings
from boundcap_jupyter.running.lock import FileLock
from boundcap_jupyter.running.record import RECORD, RecordError, read_record
from boundcap_jupyter.running.store import LOCK, RUN_NAME, SESSION_NAME, UNBORN, store_root

#: Seconds for which the files of a run stay whose owner died: a person comes back the next day.
CRASHED_STAYS = 24 * 3600.0
_DAY = 24 * 3600.0
#: How much nicer the sweeping thread is than what the kernel does for a person.
_NICENESS = 10

_RUN_OR_UNBORN = re.compile(f"{RUN_NAME.pattern}|{re.escape(UNBORN)}.*")

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Swept:
    """What a sweep removed, or would remove: ids of runs and their bytes; and the runs and bytes that stay."""

    removed: list[str] = field(default_factory=list)
    removed_bytes: int = 0
    kept: int = 0
    kept_bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Found:
    #: A text, as all paths here: for ten thousand runs, objects would take as long as the disk.
    directory: str
    names: tuple[str, ...]
    #: When something in it was last written.
    time: float
    size: int
    #: When its record was last written, in nanoseconds; None without one.
    recorded: int | None

    @property
    def id(self) -> str:
        return "/".join(self.directory.split(os.sep)[-2:])


def sweep(root: Path, *, keep_seconds: float, store_bytes: int, now: float, dry_run: bool = False) -> Swept:
    """Remove what is due at the time `now`, in seconds since the epoch. `store_bytes` is 0 for no limit.

    What can not be looked at or removed stays. Costs a look at every file of the store, and of what is removed the
    removal; the records of runs younger than a day are read if they are due.
    """
    found = sorted(filter(None, map(_look, _candidates(str(root)))), key=lambda run: (run.time, run.directory))
    swept = Swept(kept=len(found), kept_bytes=sum(run.size for run in found))
    for run in found:
        over = 0 < store_bytes < swept.kept_bytes
        if now - run.time < keep_seconds and not over:
            # So it is with all that come after.
            break
        if _remove(run, now, dry_run):
            swept.removed.append(run.id)
            swept.removed_bytes += run.size
            swept.kept -= 1
            swept.kept_bytes -= run.size
    if not dry_run:
        for session in _entries(str(root), SESSION_NAME):
            # Only if it is empty. An owner who is about to need it makes it again.
            with contextlib.suppress(OSError):
                os.rmdir(session)
    return swept


def sweep_as_set(*, dry_run: bool = False, root: Path | None = None) -> Swept:
    """Sweep the store as the settings say. Raises SettingError for a wrong one."""
    keep, most = settings.KEEP_DAYS.get() * _DAY, settings.STORE_BYTES.get()
    return sweep(root or store_root(), keep_seconds=keep, store_bytes=most, now=time.time(), dry_run=dry_run)


def sweep_in_background() -> threading.Thread | None:
    """Sweep in a thread that gives way to everything else; None where there is nothing to sweep."""
    try:
        root = store_root()
        settings.KEEP_DAYS.get(), settings.STORE_BYTES.get()
        if not root.is_dir():
            return None
    except (settings.SettingError, OSError) as error:
        _log.warning("nothing old is removed: %s", error)
        return None
    thread = threading.Thread(target=_sweep_quietly, args=(root,), name="boundcap-sweep", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        # The system has no thread left. The next kernel sweeps.
        return None
    return thread


def _sweep_quietly(root: Path) -> None:
    if sys.platform == "linux":
        # There, and only there, a priority is a thread's own.
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
    try:
        sweep_as_set(root=root)
    except Exception:  # noqa: BLE001 - logged with all that is known; nobody waits for this thread
        _log.exception("sweeping %s failed", root)


def _candidates(root: str) -> Iterator[str]:
    for session in _entries(root, SESSION_NAME):
        yield from _entries(session, _RUN_OR_UNBORN)


def _entries(parent: str, name: re.Pattern[str]) -> list[str]:
    """The directories of such names in a directory, none that is a link; none where it can not be read."""
    try:
        with os.scandir(parent) as entries:
            return [
                entry.path for entry in entries if name.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []


def _look(directory: str) -> _Found | None:
    """How old and how large a run is, None if it is gone or holds what is not ours."""
    newest, size, recorded = 0.0, 0, None
    names = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    return None
                status = entry.stat(follow_symlinks=False)
                newest, size = max(newest, status.st_mtime), size + status.st_size
                names.append(entry.name)
                if entry.name == RECORD:
                    recorded = status.st_mtime_ns
        if not names:
            newest = os.lstat(directory).st_mtime
    except OSError:
        return None
    return _Found(directory, tuple(names), newest, size, recorded)


def _remove(run: _Found, now: float, dry_run: bool) -> bool:
    """Remove a run, if nobody holds it and it may go."""
    lock: FileLock | None = None
    young = now - run.time < CRASHED_STAYS
    if young and os.path.basename(run.directory).startswith(UNBORN):
        # Its owner is about to lock it, and must find the lock free.
        return False
    try:
        lock = FileLock(f"{run.directory}/{LOCK}")
    except FileNotFoundError:
        # Of a release that had no locks, or half removed by a sweep that was killed.
        if young:
            return False
    except OSError:
        return False
    try:
        # Its owner may have ended it between our look and our lock: then it is younger than it seemed.
        if _recorded(run.directory) != run.recorded or (young and not _is_over(run.directory)):
            return False
        if not dry_run:
            _delete(run)
    except FileNotFoundError:
        # Somebody else sweeps too.
        return False
    except OSError:
        _log.debug("%s is not removed", run.directory, exc_info=True)
        return False
    finally:
        if lock is not None:
            lock.release()
    return True


def _recorded(directory: str) -> int | None:
    try:
        return os.lstat(f"{directory}/{RECORD}").st_mtime_ns
    except FileNotFoundError:
        return None


def _is_over(directory: str) -> bool:
    """Whether the run came to an end that its owner saw."""
    try:
        return read_record(Path(directory)).status.state not in (RunState.RUNNING, RunState.INTERRUPTED)
    except (OSError, RecordError):
        return False


def _delete(run: _Found) -> None:
    # The record last but for the lock: what is half removed still says what it was.
    for name in sorted(run.names, key=lambda name: (name == LOCK, name == RECORD)):
        os.unlink(f"{run.directory}/{name}")
    os.rmdir(run.directory)
