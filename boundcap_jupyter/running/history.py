"""Runs that left files: found, read, and, where their owner died, understood. Nothing here trusts what it reads."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.running.lock import FileLock
from boundcap_jupyter.running.record import RECORD, Record, RecordError, encoded, read_record, with_spill, write_record
from boundcap_jupyter.running.recovery import recovered_view
from boundcap_jupyter.running.spill import ERRORS, OUTPUT
from boundcap_jupyter.running.store import LOCK, RUN_NAME, SESSION_NAME

_log = logging.getLogger(__name__)


class RunNotFoundError(LookupError):
    """No run, or more than one, has such an id; the text says which have one like it."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as it is found. `record` is None for one that can not be read; `damage` says why then, in one line."""

    id: str
    directory: Path
    record: Record | None
    damage: str = ""


def run_directories(root: Path) -> Iterator[Path]:
    """The directories of runs of all sessions, in no order. What is not ours is passed over, links too."""
    for session in _directories(root):
        if SESSION_NAME.fullmatch(session.name):
            yield from (run for run in _directories(session) if RUN_NAME.fullmatch(run.name))


def latest_runs(root: Path, limit: int | None = None) -> tuple[list[StoredRun], int]:
    """At most `limit` runs, the newest first, and how many there are in all.

    Costs a look at each run and the reading of those that are returned. A run whose owner died is understood when
    it is first met: one pass over its spill.
    """
    dated = sorted(((_made(run), run.parent.name, run.name, run) for run in run_directories(root)), reverse=True)
    found = (read_run(run) for *_, run in dated[:limit])
    runs = [run for run in found if run is not None]
    # By the hour at which they started, which a record knows better than the date of a file.
    runs.sort(key=lambda run: run.record.started.timestamp() if run.record is not None else 0, reverse=True)
    return runs, len(dated)


def find_run(root: Path, wanted: str) -> StoredRun:
    """The run with this id, or with the only one that begins so. Raises RunNotFoundError."""
    ids = {f"{run.parent.name}/{run.name}": run for run in run_directories(root)}
    matching = [wanted] if wanted in ids else sorted(name for name in ids if name.startswith(wanted))
    if len(matching) > 1:
        some = ", ".join(matching[:3]) + (", …" if len(matching) > 3 else "")
        raise RunNotFoundError(f"{wanted!r:.80} is the beginning of {len(matching)} runs: {some}")
    run = read_run(ids[matching[0]]) if matching else None
    if run is None:
        raise RunNotFoundError(f"there is no run {wanted!r:.80}")
    return run


def read_run(directory: Path) -> StoredRun | None:
    """The run in this directory, None if it is gone, or has only just begun."""
    name = f"{directory.parent.name}/{directory.name}"
    lock, held = None, False
    try:
        lock = FileLock(directory / LOCK, shared=True)
    except FileNotFoundError:
        pass
    except OSError:
        # Held by its owner; or there is no way to know, and so no ground to call it dead.
        held = True
    try:
        record = read_record(directory)
        if record.status.state is RunState.RUNNING:
            record = _still_running(record) if held else _settle(record, directory)
    except FileNotFoundError:
        return StoredRun(name, directory, None, "it has no record") if directory.is_dir() and not held else None
    except RecordError as error:
        return StoredRun(name, directory, None, str(error))
    finally:
        if lock is not None:
            lock.release()
    views = [view and replace(view, metadata=with_spill(view.metadata, directory)) for view in _views(record)]
    assert views[0] is not None
    return StoredRun(name, directory, replace(record, id=name, view=views[0], stderr_view=views[1]))


def _views(record: Record) -> tuple[OutputView, OutputView | None]:
    return record.view, record.stderr_view


def _still_running(record: Record) -> Record:
    """The record with the time of now: while nothing is printed it is not written anew."""
    age = (datetime.now(timezone.utc) - record.started).total_seconds()
    return replace(record, status=replace(record.status, duration=max(record.status.duration, age)))


def _settle(record: Record, directory: Path) -> Record:
    """The record of a run whose owner died, with all that its spill holds; written down, so that it is read once."""
    status = replace(record.status, state=RunState.INTERRUPTED, detail="the process that ran it died")
    view, errors = _views(record)
    settled = replace(
        record,
        status=status,
        view=_recovered(view, directory / OUTPUT, record),
        stderr_view=None if errors is None else _recovered(errors, directory / ERRORS, record),
    )
    try:
        write_record(directory, encoded(settled), as_old_as=(directory / RECORD).lstat())
    except OSError:
        _log.debug("what became of %s is not written down", directory, exc_info=True)
    return settled


def _recovered(view: OutputView, path: Path, record: Record) -> OutputView:
    """The view anew from its spill; as it is where there is none, or one that does not hold all."""
    if view.metadata.spill_state == "incomplete":
        return view
    facts = view.metadata.truncation
    try:
        limits = OutputLimits(facts.max_bytes, facts.max_lines, record.retain)
        fresh = recovered_view(path, limits, record.encoding)
    # ValueError: a record may say what no view allows.
    except (OSError, ValueError):
        return view
    return replace(fresh, metadata=replace(fresh.metadata, spill_path=str(path)))


def _directories(parent: Path) -> Iterator[Path]:
    try:
        with os.scandir(parent) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
    yield from (parent / name for name in names)


def _made(directory: Path) -> float:
    """When the run made its directory: its lock is written once."""
    for path in (directory / LOCK, directory):
        with contextlib.suppress(OSError):
            return path.lstat().st_mtime
    return 0.0
