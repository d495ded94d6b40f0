"""Stores as tests need them: runs of any age and state, put there by hand."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.running.record import RECORD, Record, encoded, write_record
from boundcap_jupyter.running.store import LOCK

SESSION = "20261130-101112-4711-ab12cd"
STARTED = datetime(2026, 11, 30, 10, 11, 12, 345678, tzinfo=timezone.utc)
HOUR, DAY = 3600.0, 86400.0
#: Seconds since the epoch: the moment of the tests.
NOW = STARTED.timestamp() + 30 * DAY


def view_of(data: bytes, spill: Path | None = None, **limits: object) -> OutputView:
    capture = OutputCapture(OutputLimits(**limits))  # type: ignore[arg-type]  # brevity
    capture.feed(data)
    capture.finish()
    view = capture.view()
    if spill is None:
        return view
    return replace(
        view,
        metadata=replace(view.metadata, spill_path=str(spill), spill_state="complete", spill_bytes=len(data)),
    )


def record(state: RunState = RunState.EXITED, **fields: object) -> Record:
    code = 0 if state is RunState.EXITED else None
    known = {
        "id": f"{SESSION}/0001",
        "command": "make",
        "cwd": "/src",
        "started": STARTED,
        "status": RunStatus(state, code, duration=1.5),
        "view": view_of(b"one\ntwo\n"),
    }
    return Record(**{**known, **fields})  # type: ignore[arg-type]  # brevity


def put_run(
    root: Path,
    number: int = 1,
    state: RunState | None = RunState.EXITED,
    *,
    session: str = SESSION,
    age: float = 0.0,
    spill: bytes | None = None,
    lock: bool = True,
    **fields: object,
) -> Path:
    """A run as its owner left it, `age` seconds before NOW. Without a state there is no record."""
    directory = root / session / f"{number:04d}"
    directory.mkdir(parents=True, mode=0o700)
    if lock:
        (directory / LOCK).touch(mode=0o600)
    if spill is not None:
        (directory / "output.log").write_bytes(spill)
        fields.setdefault("view", view_of(spill, directory / "output.log"))
    if state is not None:
        write_record(directory, encoded(record(state, **fields)))
    for path in [*directory.iterdir(), directory]:
        os.utime(path, (NOW - age, NOW - age))
    return directory


def record_file(directory: Path) -> Path:
    return directory / RECORD
