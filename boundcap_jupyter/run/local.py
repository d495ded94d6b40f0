"""Commands on this machine: a thread a run, a handle for whoever started it."""

from __future__ import annotations

import atexit
import signal
import threading
import time
import weakref
from collections.abc import Callable
from itertools import count

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.sink import Sink
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.run.environment import Command, ExecOptions, ExecResult
from boundcap_jupyter.run.loop import Loop, StopRequests
from boundcap_jupyter.run.process import Process, argument_vector
from boundcap_jupyter.run.pump import Pump, RunError
from boundcap_jupyter.run.spill import SpillFile
from boundcap_jupyter.run.store import SESSION

#: Seconds. A waiting main thread runs Python that often, so that an interrupt is felt at once.
WAIT_STEP = 0.05

_numbers = count(1)


class LocalEnv:
    """Runs commands on this machine, each in a session of its own."""

    def exec(self, command: Command, options: ExecOptions | None = None, on_update: Sink | None = None) -> ExecResult:
        """Run the command to its end; see `ExecutionEnv.exec`."""
        result = self.start(command, options, on_update).wait()
        result.check(exit_code=False)
        return result

    def start(self, command: Command, options: ExecOptions | None = None, on_update: Sink | None = None) -> LocalRun:
        """Start the command and return at once. Raises ValueError for what is no command."""
        argument_vector(command)
        return LocalRun(command, options or ExecOptions(), on_update)


class LocalRun:
    """One execution of a command, started by being made. Every method may be called from any thread."""

    def __init__(self, command: Command, options: ExecOptions, on_update: Sink | None) -> None:
        self.command = command
        self._pump = Pump(
            OutputCapture(options.limits),
            SpillFile(SESSION) if options.spill else None,
            on_update,
        )
        self._stops = StopRequests()
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], object]] = []
        self._result: ExecResult | None = None
        self._crash: BaseException | None = None
        self._failure: RunError | None = None
        self._started = time.monotonic()
        self._timeout = options.timeout
        # Here and not in the thread: the directory and the environment of this moment count.
        self._process = self._spawn(options)
        _running.add(self)
        threading.Thread(target=self._main, name=f"boundcap-run-{next(_numbers)}", daemon=True).start()

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def stop(self) -> None:
        """Ask the command to end, as Ctrl-C would; asked twice, end it at once. Returns without waiting."""
        self._stops.request()

    def wait(self) -> ExecResult:
        """Wait for the end and say what the run came to.

        On the main thread a KeyboardInterrupt stops the run, a second one ends it at once; the first is raised again
        when the run is over, with `.result` attached.
        """
        interrupt: KeyboardInterrupt | None = None
        while not self.done:
            try:
                self._done.wait(WAIT_STEP)
            except KeyboardInterrupt as error:
                interrupt = interrupt or error
                self.stop()
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
        """Call `callback` when the run is over, from the run's thread, or at once if it is."""
        with self._lock:
            if not self.done:
                self._callbacks.append(callback)
                return
        callback()

    def kill(self) -> None:
        """End the process group without asking, for an owner that is about to die itself."""
        if self._process is not None:
            self._process.signal(signal.SIGKILL)

    def _spawn(self, options: ExecOptions) -> Process | None:
        try:
            return Process(self.command, options)
        except OSError as error:
            name = argument_vector(self.command)[0]
            self._failure = RunError(RunState.SPAWN_ERROR, f"cannot start {name!r}: {error.strerror or error}")
            self._failure.__cause__ = error
            return None

    def _main(self) -> None:
        try:
            self._result = self._run()
        except BaseException as error:  # noqa: BLE001 - not swallowed: `result` raises it where somebody listens
            self._crash = error
            self.kill()
        finally:
            _running.discard(self)
            self._stops.close()
            with self._lock:
                self._done.set()
            for callback in self._callbacks:
                callback()

    def _run(self) -> ExecResult:
        state, code = None, None
        if self._process is not None:
            deadline = None if self._timeout is None else self._started + self._timeout
            loop = Loop(self._process, self._pump, self._stops, deadline)
            loop.run()
            code = self._process.reap()
            self._failure = loop.failure
            state = loop.ending.state if loop.ending is not None else None
        duration = time.monotonic() - self._started
        for step in (self._pump.end, self._send_last):
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
        status = RunStatus(state, code, name, duration, self._detail(state))
        error = self._failure.__cause__ if self._failure is not None else None
        return ExecResult(self.command, status, self._pump.view(), error)

    def _detail(self, state: RunState) -> str:
        if self._failure is not None:
            return str(self._failure)
        if state is RunState.TIMEOUT:
            return f"the time limit of {self._timeout:g} s was reached"
        return "the run was stopped" if state is RunState.STOPPED else ""

    def _send_last(self) -> None:
        self._pump.finish(time.monotonic())


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        # Real-time signals have no names of their own.
        return f"signal {number}"


_running: weakref.WeakSet[LocalRun] = weakref.WeakSet()


@atexit.register
def _end_what_runs() -> None:
    # An interpreter that exits leaves no command behind.
    for run in list(_running):
        run.kill()
