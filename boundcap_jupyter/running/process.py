"""Start a command in a session of its own, know when it ended, reach all of its process group."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any

import psutil

from boundcap_jupyter.running.environment import DEFAULT_COLUMNS, Command, ExecOptions
from boundcap_jupyter.running.script import ScriptFile, invocation
from boundcap_jupyter.running.terminal import open_terminal, set_terminal_variables

#: Bytes asked of the kernel for the pipe: a writer that is ahead by this much seldom waits. What it grants may be less.
PIPE_BYTES = 1024 * 1024
#: Seconds between two looks at a command that must exit soon.
LOOK_INTERVAL = 0.02
#: What a command gets even if it inherits no environment: where programs, the user and scratch space are, and how text
#: is encoded. No secret is expected in any of them.
ALWAYS_INHERITED = frozenset(
    ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"),
)


class Process:
    """A command that runs, with both its outputs in one pipe, so that the order in which they were written is kept.

    Where the options want a terminal, that is what stands for the pipe; its end is told by EIO.

    `output` is the reading end, in the caller's hands from here on. `pipes` are that and, if the options want it apart,
    the reading end of the standard error. The leader is not reaped before `reap`, so that
    its process group keeps its number as long as somebody may signal it. Raises OSError if it can not be started.

    `signal` may be called from any thread, at any time; the rest by one.
    """

    def __init__(self, command: Command, options: ExecOptions) -> None:
        # Between reaping and the end of signalling: a number that is free again may be a stranger's. A signal handler
        # may come in between itself.
        self._reaping = threading.RLock()
        call = invocation(command, options.shell)
        self._script: ScriptFile | None = None
        with contextlib.ExitStack() as on_failure, contextlib.ExitStack() as write_ends:
            self.output, output_end = _pipe(on_failure, write_ends, options)
            self.pipes, errors_end = [self.output], output_end
            if options.stderr == "separate":
                errors, errors_end = _pipe(on_failure, write_ends, options)
                self.pipes.append(errors)
            words = call.words
            if call.script is not None:
                self._script = ScriptFile(call.script)
                on_failure.callback(self._script.remove)
                words = [*words, self._script.path]
            with _standard_input(options.stdin) as stdin:
                self._popen = subprocess.Popen(
                    words,
                    stdin=stdin,
                    stdout=output_end,
                    stderr=errors_end,
                    cwd=options.cwd,
                    env=child_environment(options),
                    start_new_session=True,
                )
            on_failure.pop_all()
        self.pid = self._popen.pid
        #: True if the exit status will never be known: the leader was collected by somebody else.
        self.status_lost = False
        #: Readable once the leader has exited, None where the system has no such thing: ask `has_exited` then.
        self.exit_fd: int | None = None
        if hasattr(os, "pidfd_open"):
            # A sandbox may forbid it; asking now and then is a fair second best.
            with contextlib.suppress(OSError):
                self.exit_fd = os.pidfd_open(self.pid)

    def has_exited(self) -> bool:
        """True once the leader has exited; it stays a zombie until `reap`."""
        if self._popen.returncode is not None:
            return True
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            # Somebody else in this process waits for all children, or the system was told to forget them.
            return True

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to every process of the group; to nobody once the leader is reaped."""
        # None of them is left, or all belong to another user (sudo), or (macOS) only zombies are.
        with self._reaping, contextlib.suppress(ProcessLookupError, PermissionError):
            if self._popen.returncode is None:
                os.killpg(self.pid, number)

    def has_members(self) -> bool:
        """True while a process of the group, the leader aside, is alive. Costs a look at every process."""
        return any(pid != self.pid and _group_of(pid) == self.pid and not _is_zombie(pid) for pid in psutil.pids())

    def reap(self, patience: float = 0.0) -> int | None:
        """Collect the leader and remove the file of its script. Returns its exit code, -n if signal n ended it.

        None if it has not exited within `patience` seconds: a thread then waits for it, so that no zombie stays. None
        with `status_lost` if somebody else collected it.
        """
        if self.exit_fd is not None:
            os.close(self.exit_fd)
            self.exit_fd = None
        if self._script is not None:
            self._script.remove()
        give_up = time.monotonic() + patience
        while not self.has_exited():
            if time.monotonic() >= give_up:
                threading.Thread(target=self._popen.wait, name="boundcap-reap", daemon=True).start()
                return None
            time.sleep(LOOK_INTERVAL)
        with self._reaping:
            if self._popen.returncode is None:
                # Not left to Popen, which would call a status that somebody else collected a success. What it knows
                # tells it, and whoever signals, that there is nobody left.
                try:
                    _, status = os.waitpid(self.pid, 0)
                    self._popen.returncode = os.waitstatus_to_exitcode(status)
                except ChildProcessError:
                    self.status_lost = True
                    self._popen.returncode = 0
            return None if self.status_lost else self._popen.returncode


def child_environment(options: ExecOptions) -> dict[str, str]:
    """The variables of a command: those of this process at this moment, and what the options change.

    This interpreter's own directory comes first on PATH, so that `python` and `pip` are those of the kernel even in a
    virtual environment that is not activated. Python's output is not held back for lack of a terminal. What the
    caller sets wins over all of it.
    """
    environment = dict(os.environ)
    if not options.inherit_env:
        environment = {name: value for name, value in environment.items() if name in ALWAYS_INHERITED}
    if sys.executable:
        own = str(Path(sys.executable).parent)
        path = environment.get("PATH", os.defpath)
        environment["PATH"] = path if path.split(os.pathsep)[0] == own else os.pathsep.join([own, path])
    environment.setdefault("PYTHONUNBUFFERED", "1")
    if options.pty:
        set_terminal_variables(environment)
    for name in options.unset_env:
        environment.pop(name, None)
    environment.update(options.env)
    return environment


@contextlib.contextmanager
def _standard_input(stdin: str | bytes | Path | None) -> Any:
    """What Popen takes for the input: a file in any case, so that nobody has to feed a pipe while the command runs."""
    if stdin is None:
        yield subprocess.DEVNULL
        return
    file: IO[bytes]
    if isinstance(stdin, Path):
        with open(stdin, "rb") as file:
            yield file
        return
    with tempfile.TemporaryFile(prefix="boundcap-") as file:
        file.write(stdin.encode() if isinstance(stdin, str) else stdin)
        file.seek(0)
        yield file


def _pipe(read_ends: contextlib.ExitStack, write_ends: contextlib.ExitStack, options: ExecOptions) -> tuple[int, int]:
    """(reading end, writing end) of a new pipe, or of a terminal, each closed with its stack."""
    read_end, write_end = open_terminal(options.columns or DEFAULT_COLUMNS) if options.pty else os.pipe()
    read_ends.callback(os.close, read_end)
    write_ends.callback(os.close, write_end)
    if not options.pty:
        _grow_pipe(read_end)
    return read_end, write_end


def _grow_pipe(fd: int) -> None:
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        # Over the user's limit, or not allowed: the usual size does as well.
        with contextlib.suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except (ProcessLookupError, PermissionError):
        return None


def _is_zombie(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False
