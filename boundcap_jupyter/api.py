"""`run` and `arun`: join an environment, where commands run, to a display, where they are seen; `start` is in jobs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import OutputLimits, Retain
from boundcap_jupyter.core.sink import Sink, WeighedSink
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.update import Update
from boundcap_jupyter.core.view import OnSpillFailure
from boundcap_jupyter.running.environment import (
    Command,
    ExecOptions,
    ExecResult,
    ExecutionError,
    OnHeld,
    StderrMode,
)
from boundcap_jupyter.running.local import LocalEnv, LocalRun
from boundcap_jupyter.running.pages import SpillPages
from boundcap_jupyter.running.script import invocation
from boundcap_jupyter.running.settings import MAX_BYTES, MAX_LINES
from boundcap_jupyter.running.store import SESSION
from boundcap_jupyter.running.waiting import ended

if TYPE_CHECKING:
    from boundcap_jupyter.show.display import Display


@dataclass(frozen=True, slots=True, repr=False)
class Result(ExecResult):
    """What a run came to. As the last expression of a cell it shows the bounded output, if the cell does not yet.

    See `ExecResult` for its attributes.
    """

    retain: Retain = field(default="tail", compare=False)
    shown_in: int | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        from boundcap_jupyter.show.summary import status_line

        return f"<Result {status_line(self.status, self.view, self.retain, self.stderr_view)}>"

    def _ipython_display_(self) -> None:
        # IPython takes this as "shown" unless it is told that there is no such method after all.
        if self.shown_in is None or self.shown_in != execution_count():
            raise NotImplementedError

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002 - IPython's
        from boundcap_jupyter.show.static import static_bundle

        return static_bundle(self, self.retain)


def run(
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
    display: bool | Display = False,
    on_spill_failure: OnSpillFailure = "fail",
    max_spill_bytes: int | None = None,
) -> Result:
    """Run a command to its end and return what it came to, its output bounded.

    command       a script (str, run by bash, else sh, or by `shell`) or an argument vector (list of str)
    max_bytes     UTF-8 bytes that the view may have, at least 64; None for what is configured, 51,200 by default
    max_lines     lines that the view may have, at least 1; None for what is configured, 2,000 by default
    retain        "tail", "head" or "both": the end of the stream that is kept
    spill         keep the complete output in a file once it passes a limit
    cwd           directory to run in; the current one
    env           variables set on top of the current ones
    stdin         text, bytes or a pathlib.Path to read from; empty
    timeout       seconds after which the command is ended
    encoding      charset of the output, one that contains ASCII as it is
    stderr        "merge": both outputs are one text, in the order of the writes; "separate": the standard error is a
                  second one, with limits, totals and a file of its own (`.stderr`, `.stderr_view` of the result)
    idle_timeout  seconds without any output after which the command is ended
    shell         interpreter of the script, such as "python3", "bash -e" or a list of words; see running.script for
                  how the script reaches it
    unset_env     names of variables that the command does not get
    inherit_env   False: of the current variables the command gets PATH, HOME and a few like them only
    pty           print on a terminal (TERM, width and colours as there) that nobody types on
    columns       width of that terminal; 80
    on_held       "leave": descendants that hold the output open after the end live on, unread; "kill": they are ended
    check         raise if the exit code is not 0
    on_update     called with each update, in order, from the thread that reads the output. If it has them, its methods
                  `read_from(pages)`, `on_stop(callback)` and `finish(status)` are called too: with the complete
                  output, with the way to stop the run, and with the end
    on_stderr     the same for the standard error, with stderr="separate" only
    display       show the live panel (True), or show the run as this object does

    on_spill_failure  "fail" ends the command if the complete output can not be kept; "continue" goes on without
    max_spill_bytes   bytes that the complete output may take, 0 for no limit, None for what is configured; to reach
                      it is a spill failure

    Raises ValueError for an argument that is wrong, before anything runs; ExecutionError if the run was stopped, timed
    out or failed; with `check`, CommandFailed (a subprocess.CalledProcessError) for an exit code other than 0. A
    KeyboardInterrupt ends the command first. All but the first carry the output so far as `.result`.
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
    shown = Shown(command, options, on_update, on_stderr, display, foreground=True)
    interrupt: KeyboardInterrupt | None = None
    try:
        outcome = shown.run.wait(shown.stopping)
    except KeyboardInterrupt as error:
        interrupt, outcome = error, error.result  # type: ignore[attr-defined]  # `wait` attaches it
    result = shown.close(outcome)
    if interrupt is not None:
        interrupt.result = result  # type: ignore[attr-defined]  # any exception takes attributes
        raise interrupt
    result.check(exit_code=check)
    return result


async def arun(
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
    display: bool | Display = False,
    on_spill_failure: OnSpillFailure = "fail",
    max_spill_bytes: int | None = None,
) -> Result:
    """`run` for asyncio: the event loop goes on while the command runs.

    Cancelling the task stops the command; the task is over when the command is, with `.result` on the CancelledError
    that is raised here (who awaits the task gets another one before Python 3.11). A second cancellation ends the
    command at once.
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
    shown = Shown(command, options, on_update, on_stderr, display, foreground=False)
    cancelled = await ended(shown.run)
    result = shown.close(shown.run.result())
    if cancelled is not None:
        cancelled.result = result  # type: ignore[attr-defined]  # any exception takes attributes
        raise cancelled
    result.check(exit_code=check)
    return result


class Shown:
    """A run that has been started, and the display that shows it. `foreground`: the main thread will wait for it."""

    def __init__(
        self,
        command: Command,
        options: ExecOptions,
        on_update: Sink | None,
        on_stderr: Sink | None,
        display: bool | Display,
        *,
        foreground: bool,
    ) -> None:
        # Before anything appears: a wrong command leaves no trace.
        invocation(command, options.shell)
        separate = options.stderr == "separate"
        if on_stderr is not None and not separate:
            raise ValueError(f"on_stderr needs stderr='separate', not {options.stderr!r}")
        self._retain = options.limits.retain
        self._on_update = on_update
        self._display: Display | None = None if isinstance(display, bool) else display
        if display is True:
            from boundcap_jupyter.show.display import choose_display

            self._display = choose_display(command, clears_cell=False, retain=self._retain, foreground=foreground)
        self.run: LocalRun
        if self._display is not None:
            # A stop that comes before there is something to stop can wait for a second press.
            self._display.opened(lambda: self.run.stop() if hasattr(self, "run") else None)
        try:
            take_stderr = self._display.take_stderr if separate and self._display is not None else None
            output, errors = _both(self._display, on_update), _both(take_stderr, on_stderr)
            self.run = LocalEnv().start(command, options, output, errors)
        except BaseException as error:
            # Nothing will come of it, and the display must not wait for ever.
            interrupted = isinstance(error, KeyboardInterrupt)
            state = RunState.STOPPED if interrupted else RunState.SPAWN_ERROR
            status = RunStatus(state, detail=str(error))
            nothing = OutputCapture(options.limits).view()
            self.close(ExecResult(command, status, nothing, error, nothing if separate else None))
            raise
        # A panel of either kind; most receivers of updates want nothing but these.
        for shows in (self._display, on_update):
            if isinstance(shows, _Reader):
                shows.read_from(self.run.pages)
        if isinstance(on_update, _Stopper):
            on_update.on_stop(self.run.stop)

    def stopping(self) -> None:
        """The run was told to stop by an interrupt, not by its own display."""
        if self._display is not None:
            self._display.stopping()

    def close(self, outcome: ExecResult) -> Result:
        """Show the end; the result knows where it was shown."""
        result = self.end(outcome, execution_count() if self._display is not None else None)
        self.show(result)
        # Only now: a display that clears the cell would take the warning away.
        SESSION.tell()
        return result

    def end(self, outcome: ExecResult, shown_in: int | None = None) -> Result:
        """Tell the receiver of updates. `shown_in` is the number of the cell that needs to show it no second time."""
        status, error = outcome.status, outcome.error
        try:
            if isinstance(self._on_update, _Finisher):
                self._on_update.finish(status)
        except Exception as failure:  # noqa: BLE001 - not swallowed: the run fails of it, with its output kept
            detail = f"the receiver of updates raised {type(failure).__name__}: {failure}"
            status, error = replace(status, state=RunState.CALLBACK_ERROR, detail=detail), failure
        return Result(outcome.command, status, outcome.view, error, outcome.stderr_view, self._retain, shown_in)

    def show(self, result: Result) -> None:
        """Show the end."""
        if self._display is not None:
            self._display.closed(result)


@runtime_checkable
class _Reader(Protocol):
    """A receiver of updates that also shows what lies in the spills, by the names of the streams."""

    def read_from(self, sources: Mapping[str, SpillPages]) -> None: ...


@runtime_checkable
class _Stopper(Protocol):
    """A receiver of updates with a way to stop the run, such as a panel within other widgets."""

    def on_stop(self, callback: Callable[[], None], /) -> None: ...


@runtime_checkable
class _Finisher(Protocol):
    """A receiver of updates that also shows what the run came to."""

    def finish(self, status: RunStatus, /) -> None: ...


def view_limits(max_bytes: int | None, max_lines: int | None, retain: Retain) -> OutputLimits:
    """The limits of the view: an argument counts before what is configured."""
    return OutputLimits(
        MAX_BYTES.get() if max_bytes is None else max_bytes,
        MAX_LINES.get() if max_lines is None else max_lines,
        retain,
    )


def exec_options(*, env: Mapping[str, str] | None, **others: Any) -> ExecOptions:
    """The arguments that `run` and `arun` share, under their names in ExecOptions."""
    return ExecOptions(env={} if env is None else env, **others)


def _both(display: Sink | None, receiver: Sink | None) -> Sink | None:
    if display is None or receiver is None:
        return display or receiver

    return _Both(display, receiver)


class _Both:
    """Two sinks as one, which weighs as much as they do together."""

    def __init__(self, *sinks: Sink) -> None:
        self._sinks = sinks
        self.last_bytes = 0

    def __call__(self, update: Update, /) -> None:
        self.last_bytes = 0
        for sink in self._sinks:
            sink(update)
            if isinstance(sink, WeighedSink):
                self.last_bytes += sink.last_bytes


def execution_count() -> int | None:
    """The number of the cell that runs, None outside of IPython."""
    # Not imported for this: a plain script has no IPython, and no cell.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell.execution_count if shell is not None else None


__all__ = ["ExecutionError", "Result", "arun", "run"]
