"""`start`: a run in the background, and the job, its handle."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from boundcap_jupyter.api import Result, Shown, exec_options, execution_count, view_limits
from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import Retain
from boundcap_jupyter.core.sink import Sink
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.view import OnSpillFailure
from boundcap_jupyter.running.environment import Command, ExecOptions, ExecResult, OnHeld, StderrMode
from boundcap_jupyter.running.local import WAIT_STEP, interruptible
from boundcap_jupyter.running.script import invocation
from boundcap_jupyter.running.store import SESSION
from boundcap_jupyter.show.background import BackgroundDisplay
from boundcap_jupyter.show.summary import DOT, command_label, duration, status_line


def start(
    command: Command,
    *,
    max_bytes: int | None = None,
    max_lines: int | None = None,
    retain: Retain = "tail",
    spill: bool = True,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | bytes | Path | None = None,
    timeout: float | None = None,
    encoding: str = "utf-8",
    stderr: StderrMode = "merge",
    idle_timeout: float | None = None,
    shell: str | Sequence[str | Path] | None = None,
    unset_env: Collection[str] = (),
    inherit_env: bool = True,
    pty: bool = False,
    columns: int | None = None,
    on_held: OnHeld = "leave",
    check: bool = False,
    on_update: Sink | None = None,
    on_stderr: Sink | None = None,
    on_spill_failure: OnSpillFailure = "fail",
    max_spill_bytes: int | None = None,
) -> Job:
    """Start a command and return at once, with the job that stands for it.

    The arguments are those of `run`; `check` is for `Job.wait`. There is no `display`: a job that is the last
    expression of a cell, or displayed, shows its panel. The command is ended when the kernel is.

    Raises ValueError for an argument that is wrong, before anything runs. A command that cannot be started is a job
    that has failed.
    """
    options = exec_options(
        limits=view_limits(max_bytes, max_lines, retain),
        spill=spill,
        cwd=cwd,
        env=env,
        stdin=stdin,
        timeout=timeout,
        encoding=encoding,
        stderr=stderr,
        idle_timeout=idle_timeout,
        shell=shell,
        unset_env=unset_env,
        inherit_env=inherit_env,
        pty=pty,
        columns=columns,
        on_held=on_held,
        on_spill_failure=on_spill_failure,
        max_spill_bytes=max_spill_bytes,
    )
    return Job(command, options, on_update, on_stderr, check=check)


class Job:
    """A run that nobody waits for, unless `wait` is called: made by `start`. Any thread may wait for it and cancel it.

    As the last expression of a cell it shows its panel, and the result there when it is over, whatever runs then. It
    may be shown in any number of cells. While it runs it is a line of text in a terminal and in what `%%capture` keeps.

    To drop the job ends nothing. One that fails says so in its panel, and raises only where somebody waits for it.
    """

    def __init__(
        self,
        command: Command,
        options: ExecOptions,
        on_update: Sink | None = None,
        on_stderr: Sink | None = None,
        *,
        check: bool = False,
    ) -> None:
        self._command = command
        self._options = options
        self._check = check
        self._result: Result | None = None
        self._over = threading.Event()
        self._shown_in: int | None = None
        self._started = time.monotonic()
        invocation(command, options.shell)
        self._display = BackgroundDisplay(command_label(command), options.limits.retain)
        self._shown = Shown(command, options, on_update, on_stderr, self._display, foreground=False)
        self._shown.run.add_done_callback(self._end)

    @property
    def command(self) -> Command:
        return self._command

    @property
    def done(self) -> bool:
        """True when the run is over, and what shows it has been told."""
        return self._over.is_set()

    @property
    def state(self) -> RunState:
        """What is going on ("running"), or what the run came to."""
        return RunState.RUNNING if self._result is None else self._result.state

    def wait(self, timeout: float | None = None) -> Result:
        """Wait for the end, at most `timeout` seconds, and return what the run came to, as `run` does.

        Raises TimeoutError if the run is not over by then; it goes on. Raises ExecutionError if it was stopped, timed
        out or failed, and with `check` CommandFailed for an exit code other than 0, each time. A KeyboardInterrupt ends
        the waiting, not the run.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        with interruptible():
            while not self._over.is_set():
                left = WAIT_STEP if deadline is None else min(WAIT_STEP, deadline - time.monotonic())
                if left <= 0:
                    raise TimeoutError(f"the run of {self._command!r:.80} is not over after {timeout:g} s")
                self._over.wait(left)
        result = self.result()
        result.check(exit_code=self._check)
        return result

    def result(self) -> Result:
        """What the run came to, good or bad. Raises RuntimeError while it runs."""
        if self._result is None or not self.done:
            raise RuntimeError(f"the run of {self._command!r:.80} is not over")
        # On the thread of who asks: a warning from another one would land in any cell.
        SESSION.tell()
        return self._result

    def cancel(self) -> None:
        """Ask the command to end, as Ctrl-C would; asked twice, end it at once. Returns without waiting.

        Nothing happens if it is over.
        """
        if not self.done:
            self._shown.run.stop()
            self._shown.stopping()

    def show(self) -> None:
        """Show the panel in the cell that runs, or the result; in a terminal a line of text.

        The same cell does not show it again as its last expression.
        """
        if not self._display.show():
            print(repr(self))  # noqa: T201 - this is the way to show it there
        self._shown_in = execution_count()

    def __repr__(self) -> str:
        if self._result is not None:
            result = self._result
            return f"<Job {status_line(result.status, result.view, result.retain, result.stderr_view)}>"
        elapsed = duration(time.monotonic() - self._started)
        return f"<Job {DOT.join((RunState.RUNNING.value, elapsed, command_label(self._command)))}>"

    def _ipython_display_(self) -> None:
        if self._shown_in is not None and self._shown_in == execution_count():
            self._shown_in = None
        elif not self._display.show():
            # IPython takes a return as "shown" unless it is told that there is no such method after all.
            raise NotImplementedError

    def _end(self) -> None:
        try:
            outcome = self._shown.run.result()
        except RuntimeError as defect:
            # Of ours, and the run broke off. Nobody may wait for ever, or look at a panel that says that it runs.
            separate = self._options.stderr == "separate"
            nothing = OutputCapture(self._options.limits).view()
            status = RunStatus(RunState.WORKER_LOST, duration=time.monotonic() - self._started, detail=str(defect))
            outcome = ExecResult(self._command, status, nothing, defect, nothing if separate else None)
        self._result = self._shown.end(outcome)
        try:
            self._shown.show(self._result)
        finally:
            self._over.set()
