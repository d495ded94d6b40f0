"""Keeps the record of a run while it runs: written when it is due, told the time, never in the way of the run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timezone

from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.running.environment import Command, ExecOptions
from boundcap_jupyter.running.record import Record, encoded, recorded_command, write_record
from boundcap_jupyter.running.store import RunDirectory

#: Seconds. A run that is over sooner, and needs no spill, leaves nothing on the disk.
LEAST_AGE = 2.0
#: Seconds between two records: what a view on the disk is behind, at most.
INTERVAL = 2.0
#: Bytes a second that records may take: those of views of many megabytes come less often.
RATE = 4 * 1024 * 1024

_log = logging.getLogger(__name__)


class Recording:
    """The record of one run that started at `now`, from the thread that reads its output.

    Its owner says `mark()` when the output changed, asks again at `due`, and calls `finish` when the run is over and
    `release` in any case. A record that can not be written costs the run nothing: the session tells of it once.
    """

    def __init__(self, directory: RunDirectory, command: Command, cwd: str, options: ExecOptions, now: float) -> None:
        self._directory = directory
        self._command, self._cut = recorded_command(command)
        self._cwd = cwd
        self._options = options
        self._started = now
        self._started_at = datetime.now(timezone.utc)
        #: What gives the views, set by the owner of the captures.
        self.views: Sequence[Callable[[], OutputView]] = ()
        self._dirty = True
        self._next = float("-inf")
        directory.on_made = self._begin

    @property
    def due(self) -> float | None:
        """When to call `write`; a time that has passed means now. None while nothing has changed."""
        if not self._dirty:
            return None
        # With a spill there is a file that somebody must be able to make sense of, should we die.
        least = float("-inf") if self._directory.path is not None else self._started + LEAST_AGE
        return max(self._next, least)

    def mark(self) -> None:
        """The output changed."""
        self._dirty = True

    def write(self, now: float) -> None:
        """Write the record if it is due."""
        due = self.due
        if due is not None and now >= due:
            self._write(RunStatus(RunState.RUNNING, duration=max(0.0, now - self._started)), now)

    def finish(self, status: RunStatus, now: float) -> None:
        """The run is over: the last record, if it was long or has files."""
        if self._directory.path is not None or now - self._started >= LEAST_AGE:
            self._write(status, now)

    def release(self) -> None:
        """From here on the directory belongs to the store."""
        self._directory.release()

    def _begin(self) -> None:
        """A file is about to be made: a kernel that dies at this moment must not leave one that nobody can explain."""
        self._write(RunStatus(RunState.RUNNING), self._started)
        # What is in the file, and where it is, comes with the next one, which is due.
        self._dirty, self._next = True, float("-inf")

    def _write(self, status: RunStatus, now: float) -> None:
        try:
            directory = self._directory.make()
            self._dirty = False
            view, *errors = (view() for view in self.views)
            record = Record(
                id=f"{directory.parent.name}/{directory.name}",
                command=self._command,
                cwd=self._cwd,
                started=self._started_at,
                status=status,
                view=view,
                stderr_view=errors[0] if errors else None,
                retain=self._options.limits.retain,
                encoding=self._options.encoding,
                command_cut=self._cut,
            )
            data = encoded(record)
            self._next = now + max(INTERVAL, len(data) / RATE)
            write_record(directory, data)
        except OSError as error:
            # Again at the next occasion: a full disk may be cleared.
            self._dirty = True
            self._next = now + INTERVAL
            where = f" ({error.filename})" if error.filename else ""
            self._directory.session.trouble(f"the record of a run cannot be kept: {error.strerror or error}{where}")
            _log.debug("no record", exc_info=True)
