"""Commands on this machine: a thread a run, a handle for whoever started it."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Protocol

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.sink import Sink
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.running.child import ChildLostError
from boundcap_jupyter.running.environment import Command, ExecOptions, ExecResult
from boundcap_jupyter.running.loop import UNKILLABLE, Loop, StopRequests, Stream
from boundcap_jupyter.running.pages import SpillPages
from boundcap_jupyter.running.process import Process
from boundcap_jupyter.running.pump import Pump, RunError
from boundcap_jupyter.running.recording import Recording
from boundcap_jupyter.running.room import Room
from boundcap_jupyter.running.script import invocation
from boundcap_jupyter.running.settings import MAX_SPILL_BYTES, MIN_FREE_BYTES
from boundcap_jupyter.running.spill import ERRORS, OUTPUT, SpillFile
from boundcap_jupyter.running.store import SESSION, RunDirectory

#: Seconds. A waiting main thread runs Python that often, so that an interrupt is felt at once.
WAIT_STEP = 0.05

_STATUS_LOST = (
    "how the command ended is not known: something else in this process collects its children, or SIGCHLD is ignored"
)

_log = logging.getLogger(__name__)
_numbers = count(1)


class LocalEnv:
    """Runs commands on this machine, each in a session of its own."""

    def exec(
        self,
        command: Command,
        options: ExecOptions | None = None,
        on_update: Sink | None = None,
        on_stderr: Sink | None = None,
    ) -> ExecResult:
        """Run the command to its end; see `ExecutionEnv.exec`."""
        try:
            result = self.start(command, options, on_update, on_stderr).wait()
        finally:
            SESSION.tell()
        result.check(exit_code=False)
        return result

    def start(
        self,
        command: Command,
        options: ExecOptions | None = None,
        on_update: Sink | None = None,
        on_stderr: Sink | None = None,
    ) -> LocalRun:
        """Start the command and return at once. Raises ValueError for what is no command, and for a wrong setting.

        `on_stderr` gets the updates of the standard error where the options want it apart.

        A KeyboardInterrupt while it starts ends it and passes, when it is over, with `.result` attached.
        """
        options = options or ExecOptions()
        invocation(command, options.shell)
        sinks = [on_update, on_stderr] if options.stderr == "separate" else [on_update]
        if not options.spill:
            # Not on the disk means no record either.
            return LocalRun(command, options, [_new_pump(options, sink) for sink in sinks])
        most = MAX_SPILL_BYTES.get() if options.max_spill_bytes is None else options.max_spill_bytes
        room = Room(most, MIN_FREE_BYTES.get())
        directory = RunDirectory(SESSION)
        SESSION.look()
        record = Recording(directory, command, _directory_of(options), options, time.monotonic())
        spills = [SpillFile(directory, name, room) for name in (OUTPUT, ERRORS)][: len(sinks)]
        streams = [_new_pump(options, sink, spill, record) for sink, spill in zip(sinks, spills, strict=True)]
        record.views = [stream.view for stream in streams]
        run = LocalRun(command, options, streams, record)
        run.pages = {
            name: SpillPages(spill, options.encoding) for name, spill in zip(("output", "stderr"), spills, strict=False)
        }
        return run


class RunStream(Stream, Protocol):
    """What takes one of the outputs of a run: a Pump, or something plainer. Failures are RunErrors."""

    @property
    def notice(self) -> str:
        """In one line, what a person should know though the run did not fail of it; else ""."""

    def end(self) -> None:
        """The output is over."""

    def finish(self, now: float) -> None:
        """Say the last that there is to say."""

    def abandon(self) -> None:
        """The run broke off."""

    def view(self) -> OutputView: ...


class LocalRun:
    """One execution of a command, started by being made. Every method may be called from any thread.

    `streams` take the output, and the standard error where the options want it apart. `record` is finished with the
    run.
    """

    def __init__(
        self, command: Command, options: ExecOptions, streams: Sequence[RunStream], record: Recording | None = None
    ) -> None:
        self.command = command
        self._record = record
        #: The spills, to be read, by the names of the streams: "output" and, where it is apart, "stderr".
        self.pages: Mapping[str, SpillPages] = {}
        self._streams = streams
        self._stops = StopRequests()
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], object]] = []
        self._result: ExecResult | None = None
        self._crash: BaseException | None = None
        self._failure: RunError | None = None
        self._started = time.monotonic()
        self._options = options
        self._process: Process | None = None
        self._spawned = threading.Event()
        self._begin()

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def stop(self) -> None:
        """Ask the command to end, as Ctrl-C would; asked twice, end it at once. Returns without waiting."""
        requests = self._stops.request()
        if requests > 1 and self._process is not None and not self._process.has_exited():
            # At once, even if a receiver of updates holds up the thread that would do it.
            self._stops.insisted = True
            self.kill()

    def wait(self, on_interrupt: Callable[[], object] | None = None) -> ExecResult:
        """Wait for the end and say what the run came to.

        On the main thread a KeyboardInterrupt stops the run, a second one ends it at once; the first is raised again
        when the run is over, with `.result` attached. `on_interrupt` is called for each, after the run was told.
        """
        with interruptible():
            return self._wait(None, on_interrupt)

    def _wait(
        self, interrupt: KeyboardInterrupt | None, on_interrupt: Callable[[], object] | None = None
    ) -> ExecResult:
        """As `wait`, after an interrupt for which the run was already asked to stop."""
        interrupts = passed_on = 0 if interrupt is None else 1
        while not self.done:
            # All that takes time is inside: an interrupt must not get away while the one before it is passed on.
            try:
                while not self.done:
                    while passed_on < interrupts:
                        passed_on += 1
                        self.stop()
                        if on_interrupt is not None:
                            on_interrupt()
                    self._done.wait(WAIT_STEP)
            except KeyboardInterrupt as error:
                interrupt = interrupt or error
                interrupts += 1
        result = self.result()
        if interrupt is not None:
            interrupt.result = result  # type: ignore[attr-defined]  # any exception takes attributes
            raise interrupt
        return result

    def result(self) -> ExecResult:
        """What the run came to. Raises RuntimeError while it runs, and for a defect of ours that broke it off."""
        if self._crash is not None:
            raise RuntimeError(f"the run of {self.command!r:.80} broke off: {self._crash!r}") from self._crash
        if self._result is None:
            raise RuntimeError(f"the run of {self.command!r:.80} is not over")
        return self._result

    def add_done_callback(self, callback: Callable[[], object]) -> None:
        """Call `callback` when the run is over, from the run's thread, or at once if it is.

        What it raises in the run's thread is logged.
        """
        with self._lock:
            if not self.done:
                self._callbacks.append(callback)
                return
        callback()

    def kill(self) -> None:
        """End everything without asking, for an owner that is about to die itself."""
        if self._process is not None:
            self._process.signal(signal.SIGKILL)

    def _begin(self) -> None:
        """Start the thread and wait until the command has started: the directory and environment of now count.

        The thread starts the command because no KeyboardInterrupt reaches it: one that hits a main thread between fork
        and the return of Popen leaves a command that nobody knows.
        """
        _running.add(self)
        try:
            threading.Thread(target=self._main, name=f"boundcap-run-{next(_numbers)}", daemon=True).start()
            self._spawned.wait()
        except RuntimeError:
            # The system has no thread left.
            _running.discard(self)
            raise
        except KeyboardInterrupt as error:
            # Nobody gets the handle, so the end is waited for here.
            self.stop()
            if self._spawned.wait(UNKILLABLE):
                self._wait(error)
            # It hit before there was a thread.
            _running.discard(self)
            raise

    def _spawn(self) -> Process | None:
        if _exiting.is_set():
            self._failure = RunError(RunState.SPAWN_ERROR, "the interpreter is exiting: nothing is started any more")
            return None
        try:
            self._stops.open()
            process = Process(self.command, self._options)
        except ChildLostError as error:
            # Not tried again: it may have run.
            self._failure = RunError(RunState.WORKER_LOST, str(error))
            return None
        except OSError as error:
            name = invocation(self.command, self._options.shell).words[0]
            # The directory or the input may be what is missing.
            where = f" ({error.filename})" if error.filename not in (None, name) else ""
            self._failure = RunError(RunState.SPAWN_ERROR, f"cannot start {name!r}: {error.strerror or error}{where}")
            self._failure.__cause__ = error
            return None
        if _exiting.is_set():
            # It began while we started: nobody else knows of this one.
            process.signal(signal.SIGKILL)
        return process

    def _main(self) -> None:
        try:
            self._process = self._spawn()
            self._spawned.set()
            self._result = self._run()
        except BaseException as error:  # noqa: BLE001 - not swallowed: `result` raises it where somebody listens
            self._crash = error
            self._clear_away()
        finally:
            self._spawned.set()
            _running.discard(self)
            self._stops.close()
            if self._record is not None:
                self._record.release()
            with self._lock:
                self._done.set()
            for callback in self._callbacks:
                try:
                    callback()
                except BaseException:  # noqa: BLE001 - one that fails must not keep the others from knowing
                    _log.exception("a callback at the end of a run failed")

    def _clear_away(self) -> None:
        """A defect of ours broke the run off: leave nothing of it behind."""
        for stream in self._streams:
            stream.abandon()
        if self._process is not None:
            self.kill()
            self._process.reap(UNKILLABLE)

    def _run(self) -> ExecResult:
        state, code, held = None, None, 0
        if self._process is not None:
            timeout = self._options.timeout
            deadline = None if timeout is None else self._started + timeout
            streams = zip(self._process.pipes, self._streams, strict=True)
            loop = Loop(
                self._process,
                dict(streams),
                self._stops,
                deadline,
                self._options.idle_timeout,
                self._options.on_held,
            )
            loop.run()
            held = loop.pipe_held
            code = self._process.reap()
            self._failure = loop.failure
            if self._process.status_lost and self._failure is None:
                self._failure = RunError(RunState.WORKER_LOST, _STATUS_LOST)
            state = loop.ending.state if loop.ending is not None else None
        duration = time.monotonic() - self._started
        for stream in self._streams:
            for step in (stream.end, partial(stream.finish, time.monotonic())):
                try:
                    step()
                except RunError as failure:
                    self._failure = self._failure or failure
        name = None
        if code is not None and code < 0:
            name, code = _signal_name(-code), 128 - code
        if self._failure is not None:
            # Whatever else happened: not all of it is there, or not all who should know do.
            state = self._failure.state
        elif state is None:
            state = RunState.SIGNALED if name else RunState.EXITED
        detail = self._detail(state)
        if self._process is not None and code is None and not self._process.status_lost:
            detail = "; ".join(filter(None, (detail, f"process {self._process.pid} could not be ended")))
        cpu, peak = (None, None) if self._process is None else self._process.usage
        status = RunStatus(state, code, name, duration, detail, cpu, peak, held)
        error = self._failure.__cause__ if self._failure is not None else None
        if self._record is not None:
            self._record.finish(status, time.monotonic())
        view, *errors = (stream.view() for stream in self._streams)
        return ExecResult(self.command, status, view, error, *errors)

    def _detail(self, state: RunState) -> str:
        if self._failure is not None:
            return str(self._failure)
        if state is RunState.TIMEOUT:
            return f"the time limit of {self._options.timeout:g} s was reached"
        if state is RunState.IDLE_TIMEOUT:
            return f"nothing was printed for {self._options.idle_timeout:g} s"
        return next((stream.notice for stream in self._streams if stream.notice), "")


def _new_pump(
    options: ExecOptions, sink: Sink | None, spill: SpillFile | None = None, record: Recording | None = None
) -> Pump:
    capture = OutputCapture(options.limits, encoding=options.encoding)
    return Pump(capture, spill, sink, on_spill_failure=options.on_spill_failure, record=record)


def _directory_of(options: ExecOptions) -> str:
    """Where the command runs, for its record."""
    try:
        return os.path.abspath(os.fsdecode(options.cwd or os.curdir))
    except FileNotFoundError:
        # The current directory was removed.
        return ""


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt on a main thread that waits inside a running event loop.

    For a cell that awaits, ipykernel makes SIGINT cancel the cell's task, which is never reached from here.
    """
    # Whoever has a running loop has imported asyncio.
    asyncio = sys.modules.get("asyncio")
    usual = (signal.default_int_handler, signal.SIG_IGN, signal.SIG_DFL, None)
    if (
        asyncio is None
        or threading.current_thread() is not threading.main_thread()
        or asyncio.events._get_running_loop() is None
        or signal.getsignal(signal.SIGINT) in usual
    ):
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        # Real-time signals have no names of their own.
        return f"signal {number}"


_running: set[LocalRun] = set()
# A forked child that exits must not end what its parent runs.
os.register_at_fork(after_in_child=_running.clear)


#: Set when the interpreter exits; a run that is just starting sees it.
_exiting = threading.Event()


@atexit.register
def _end_what_runs() -> None:
    # An interpreter that exits leaves no command behind.
    _exiting.set()
    for run in list(_running):
        run._spawned.wait(UNKILLABLE)
        run.kill()
