"""Start a command in a session of its own: its words, environment, input and pipes."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from boundcap_jupyter.running.child import Child
from boundcap_jupyter.running.environment import DEFAULT_COLUMNS, Command, ExecOptions
from boundcap_jupyter.running.group import GroupChild
from boundcap_jupyter.running.guarded import SUPERVISOR
from boundcap_jupyter.running.script import ScriptFile, invocation
from boundcap_jupyter.running.terminal import open_terminal, set_terminal_variables

#: Bytes asked of the kernel for the pipe: a writer that is ahead by this much seldom waits. What it grants may be less.
PIPE_BYTES = 1024 * 1024
#: What a command gets even if it inherits no environment: where programs, the user and scratch space are, and how text
#: is encoded. No secret is expected in any of them.
ALWAYS_INHERITED = frozenset(
    ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"),
)


class Process:
    """A command that runs, with both its outputs in one pipe, so that the order in which they were written is kept.

    Where the options want a terminal, that is what stands for the pipe; its end is told by EIO.

    `output` is the reading end, in the caller's hands from here on. `pipes` are that and, if the options want it apart,
    the reading end of the standard error. `child` is the rest of it. Raises OSError if it can not be started, and
    ChildLostError if nobody knows whether it was.

    `signal` and `has_exited` may be called from any thread, at any time; the rest by one.
    """

    def __init__(self, command: Command, options: ExecOptions) -> None:
        call = invocation(command, options.shell)
        environment = child_environment(options)
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
                self.child = _start(words, environment, options.cwd, (stdin, output_end, errors_end))
            on_failure.pop_all()
        self.pid = self.child.pid

    @property
    def exit_fd(self) -> int | None:
        return self.child.exit_fd

    def hear(self) -> None:
        self.child.hear()

    @property
    def lost(self) -> str:
        return self.child.lost

    @property
    def status_lost(self) -> bool:
        return self.child.status_lost

    def has_exited(self) -> bool:
        return self.child.has_exited()

    def signal(self, number: signal.Signals) -> None:
        self.child.signal(number)

    def has_members(self) -> bool:
        return self.child.has_members()

    @property
    def usage(self) -> tuple[float | None, int | None]:
        """(seconds of the processor, bytes of memory at the peak), as far as they are known."""
        return self.child.cpu_time, self.child.peak_memory

    def drain(self, fd: int) -> bool:
        return self.child.drain(fd)

    def reap(self, patience: float = 0.0) -> int | None:
        if self._script is not None:
            self._script.remove()
        return self.child.reap(patience)


def _start(
    argv: list[str],
    environment: dict[str, str],
    directory: str | os.PathLike[str] | None,
    stdio: tuple[int, int, int],
) -> Child:
    """Under the supervisor, or in a group of its own where there can be none."""
    child = SUPERVISOR.start(argv, environment, directory, stdio) if SUPERVISOR is not None else None
    return child or GroupChild(argv, environment, directory, stdio)


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
def _standard_input(stdin: str | bytes | Path | None) -> Iterator[int]:
    """The descriptor of the input: a file in any case, so that nobody has to feed a pipe while the command runs."""
    file: IO[bytes]
    if stdin is None or isinstance(stdin, Path):
        with open(os.devnull if stdin is None else stdin, "rb", buffering=0) as file:
            yield file.fileno()
        return
    with tempfile.TemporaryFile(prefix="boundcap-", buffering=0) as file:
        try:
            rest = memoryview(stdin.encode() if isinstance(stdin, str) else stdin)
            while rest:
                rest = rest[file.write(rest) :]
            file.seek(0)
        except OSError as error:
            # A write does not say where.
            error.filename = tempfile.gettempdir()
            raise
        yield file.fileno()


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
