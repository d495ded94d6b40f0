"""What became of a run: one vocabulary for Python, the record, the wire and the panel."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class RunState(str, Enum):
    """The state of a run. Compares equal to its name, so `result.state == "exited"` reads well."""

    RUNNING = "running"
    # Ended by itself.
    EXITED = "exited"
    SIGNALED = "signaled"
    # Ended by us.
    STOPPED = "stopped"
    TIMEOUT = "timeout"
    IDLE_TIMEOUT = "idle_timeout"
    # Failed.
    SPAWN_ERROR = "spawn_error"
    SPILL_ERROR = "spill_error"
    CALLBACK_ERROR = "callback_error"
    WORKER_LOST = "worker_lost"
    # Found later: its owner died.
    INTERRUPTED = "interrupted"

    def __str__(self) -> str:
        return self.value

    @property
    def ended_by_itself(self) -> bool:
        """True for a command that came to its own end, good or bad."""
        return self in (RunState.EXITED, RunState.SIGNALED)


@dataclass(frozen=True, slots=True)
class RunStatus:
    """State of a run at one moment.

    `exit_code` is 128 + n for a command that signal n ended, as in a shell, and None while it runs or if it never
    started. `signal` is the signal's name ("SIGTERM") or None. `duration` is in seconds since the start; of an
    interrupted run until its last record, and so the least that it took. `detail` says in one line why a run failed, or
    what a person should know of one that did not; it is empty otherwise.

    Known at the end: `cpu_time`, in seconds of a processor, user and system, that the command and its descendants took,
    as far as they were waited for, or None. `peak_memory`, in bytes, the largest sum of the resident memory of all of
    them in samples a second apart, pages that are shared counted each time, or None for a run that was too short.
    `pipe_held`, how many processes still held the output open.
    """

    state: RunState
    exit_code: int | None = None
    signal: str | None = None
    duration: float = 0.0
    detail: str = ""
    cpu_time: float | None = None
    peak_memory: int | None = None
    pipe_held: int = 0

    @property
    def succeeded(self) -> bool:
        return self.state is RunState.EXITED and self.exit_code == 0
