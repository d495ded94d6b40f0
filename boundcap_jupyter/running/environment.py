"""The boundary between who wants a command run and where it runs.

Everything heavy stays on the far side of it, where the bytes are: only updates and one result cross.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, Union, get_args

from boundcap_jupyter.core.charset import checked_charset
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.sink import Sink
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.text import plain
from boundcap_jupyter.core.view import OnSpillFailure, OutputView, Truncation

#: What becomes of the standard error: part of the output, in the order of the writes, or a stream of its own.
StderrMode = Literal["merge", "separate"]

#: A shell script, or an argument vector that no shell sees.
Command = Union[str, Sequence[Union[str, Path]]]
#: What becomes of descendants that hold the output open when the command has exited.
OnHeld = Literal["leave", "kill"]


DEFAULT_COLUMNS = 80
#: A window size has 16 bits for each side (ioctl_tty(2)).
MAX_COLUMNS = 65535


def is_argument(value: object) -> bool:
    """True for a text that a program can be given: one without NUL that has bytes (any file name has)."""
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return False
    return True


def shell_words(shell: str | Sequence[str | Path]) -> list[str]:
    """The words of an interpreter; a str is split as a shell would. Raises ValueError for what is none."""
    words: list[str] = []
    if isinstance(shell, str):
        with contextlib.suppress(ValueError):  # a quote that nothing closes
            words = shlex.split(shell)
    elif isinstance(shell, (list, tuple)) and all(isinstance(word, (str, Path)) for word in shell):
        words = [str(word) for word in shell]
    if not words or not words[0] or not all(map(is_argument, words)):
        raise ValueError(f"shell must be an interpreter such as 'python3' or 'bash -e', or its words, not {shell!r}")
    return words


def checked_input(path: Path) -> Path:
    """The path. Raises ValueError unless there is a file or a device: a FIFO would be waited for."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # ValueError: a NUL
        mode = 0
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode)):
        raise ValueError(f"stdin must be a file that exists, not {str(path)!r}")
    return path


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class ExecOptions:
    """How to run a command. Validated once; raises ValueError that names the field and the value.

    limits        the bound of the view, and of each view where there are two
    spill         keep the complete output in a file once it passes a limit
    cwd           directory to run in, None for the current one
    env           variables set on top of the current ones
    stdin         text, bytes, or a path to read from; None for an empty input
    timeout       seconds after which the command is ended, None for no limit
    encoding      charset of the output, one that contains ASCII as it is
    stderr        "merge": both outputs are one stream, in the order in which they were written; "separate": two
    unset_env     variables that the command does not get, whatever they are here
    idle_timeout  seconds without any output after which the command is ended, None for no limit
    shell         interpreter of a script: words as in a shell ("python3", "bash -e") or a list of them; None for bash,
                  else sh
    inherit_env   False: of the current variables the command gets only those that any program needs, such as PATH
                  and HOME
    pty           the outputs are a terminal that can not be read from; both are one stream then
    columns       width of that terminal, None for DEFAULT_COLUMNS
    on_held       what becomes of descendants that hold the output open half a second after the command has exited:
                  "leave": they live on, and what they print is thrown away; "kill": all that the command left running
                  is ended, and what it prints until then kept

    on_spill_failure  what happens if the complete output can not be kept: "fail" ends the command, "continue" lets it
                      run on with a spill that is said to be incomplete
    max_spill_bytes   bytes that the spills of the run may take, 0 for no limit, None for what is configured; reaching
                      it is a spill failure
    """

    limits: OutputLimits = field(default_factory=OutputLimits)
    spill: bool = True
    cwd: str | os.PathLike[str] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: str | bytes | Path | None = None
    timeout: float | None = None
    encoding: str = "utf-8"
    stderr: StderrMode = "merge"
    unset_env: Collection[str] = ()
    idle_timeout: float | None = None
    shell: str | Sequence[str | Path] | None = None
    inherit_env: bool = True
    pty: bool = False
    columns: int | None = None
    on_held: OnHeld = "leave"
    on_spill_failure: OnSpillFailure = "fail"
    max_spill_bytes: int | None = None

    def __post_init__(self) -> None:
        checked_charset(self.encoding)
        if self.cwd is not None and not (isinstance(self.cwd, (str, os.PathLike)) and os.path.isdir(self.cwd)):
            raise ValueError(f"cwd must be a directory, not {str(self.cwd)!r}")
        if not isinstance(self.env, Mapping):
            raise ValueError(f"env must be a mapping of names to values, not {self.env!r}")
        for name, value in self.env.items():
            if not is_argument(name) or not name or "=" in name:
                raise ValueError(f"env must have names without '=' and NUL, not {name!r}")
            if not is_argument(value):
                raise ValueError(f"env must have strings as values, without NUL, not {name}={value!r}")
        if self.stdin is not None and not isinstance(self.stdin, (str, bytes, Path)):
            raise ValueError(f"stdin must be str, bytes or a pathlib.Path, not {self.stdin!r}")
        if isinstance(self.stdin, str) and not _is_encodable(self.stdin):
            raise ValueError(f"stdin must be text without lone surrogates, not {self.stdin!r:.80}")
        if isinstance(self.stdin, Path):
            checked_input(self.stdin)
        if self.stderr not in get_args(StderrMode):
            raise ValueError(f"stderr must be 'merge' or 'separate', not {self.stderr!r}")
        if self.on_held not in get_args(OnHeld):
            raise ValueError(f"on_held must be 'leave' or 'kill', not {self.on_held!r}")
        names = self.unset_env
        # A generator would be used up by being looked at.
        if isinstance(names, str) or not isinstance(names, Collection) or not all(isinstance(n, str) for n in names):
            raise ValueError(f"unset_env must be names of variables, not {self.unset_env!r}")
        if self.on_spill_failure not in get_args(OnSpillFailure):
            raise ValueError(f"on_spill_failure must be 'fail' or 'continue', not {self.on_spill_failure!r}")
        most = self.max_spill_bytes
        if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 0):
            raise ValueError(f"max_spill_bytes must be a number of bytes, 0 for no limit, not {most!r}")
        for name, seconds in (("timeout", self.timeout), ("idle_timeout", self.idle_timeout)):
            number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
            if seconds is not None and (not number or not 0 < seconds <= sys.float_info.max):
                raise ValueError(f"{name} must be a positive number of seconds, not {seconds!r}")
        if self.shell is not None:
            shell_words(self.shell)
        for name, flag in (("inherit_env", self.inherit_env), ("pty", self.pty)):
            if not isinstance(flag, bool):
                raise ValueError(f"{name} must be True or False, not {flag!r}")
        if self.pty and self.stderr == "separate":
            raise ValueError("stderr must be 'merge' with pty=True, not 'separate': a terminal is one stream")
        self._check_columns()

    def _check_columns(self) -> None:
        columns = self.columns
        if columns is None:
            return
        if not isinstance(columns, int) or isinstance(columns, bool) or not 1 <= columns <= MAX_COLUMNS:
            raise ValueError(f"columns must be a whole number from 1 to {MAX_COLUMNS}, not {columns!r:.80}")
        if not self.pty:
            raise ValueError(f"columns must be None without pty=True, not {columns}: only a terminal has a width")


@dataclass(frozen=True, slots=True)
class ExecResult:
    """What a run came to: the status, and the bounded view of what the command printed.

    `view` is of the one stream of both outputs, or of the standard output where the standard error was kept apart; that
    is in `stderr_view` then. `error` is the exception behind a failed run, or None.
    """

    command: Command
    status: RunStatus
    view: OutputView
    error: BaseException | None = field(default=None, compare=False, repr=False)
    stderr_view: OutputView | None = None

    @property
    def state(self) -> RunState:
        return self.status.state

    @property
    def exit_code(self) -> int | None:
        """128 + n for a command that signal n ended; None if it never started."""
        return self.status.exit_code

    @property
    def signal(self) -> str | None:
        """The name of the signal that ended the command, or None."""
        return self.status.signal

    @property
    def duration(self) -> float:
        """Seconds."""
        return self.status.duration

    @property
    def cpu_time(self) -> float | None:
        """Seconds of a processor, user and system, that the command took with its descendants; see `RunStatus`."""
        return self.status.cpu_time

    @property
    def peak_memory(self) -> int | None:
        """Bytes of all its processes together at the peak, sampled; None for a short run. See `RunStatus`."""
        return self.status.peak_memory

    @property
    def pipe_held(self) -> int:
        """How many processes still held the output open at the end."""
        return self.status.pipe_held

    @property
    def text(self) -> str:
        """The bounded text without colours; where both ends are kept, the last one."""
        return plain(self.view.text)

    @property
    def head(self) -> str:
        """The beginning of what is shown, without colours, where both ends are kept and do not meet; else ""."""
        return plain(self.view.head)

    @property
    def stderr(self) -> str | None:
        """The bounded text of the standard error without colours; None where it is part of `text`."""
        return None if self.stderr_view is None else plain(self.stderr_view.text)

    @property
    def truncation(self) -> Truncation:
        return self.view.metadata.truncation

    @property
    def spill_path(self) -> str | None:
        """Where the complete output is, if it passed a limit."""
        return self.view.metadata.spill_path

    def check(self, *, exit_code: bool = True) -> None:
        """Raise ExecutionError unless the command came to its own end.

        With `exit_code`, raise CommandFailed too unless the exit code is 0.
        """
        if not self.state.ended_by_itself:
            raise ExecutionError(self) from self.error
        if exit_code and not self.status.succeeded:
            raise CommandFailed(self)


class ExecutionError(RuntimeError):
    """The run did not come to its own end: stopped, timed out or failed. `result` holds what was captured before."""

    def __init__(self, result: ExecResult) -> None:
        super().__init__(result.status.detail or f"the run was {result.state}")
        self.result = result

    @property
    def state(self) -> RunState:
        return self.result.state


class CommandFailed(subprocess.CalledProcessError):
    """The command ended with an exit code other than 0, or by a signal. `result` holds what it printed.

    `output` is the bounded text, `stderr` that of the standard error where it was kept apart, else None.
    """

    def __init__(self, result: ExecResult) -> None:
        command = result.command if isinstance(result.command, str) else list(result.command)
        code = result.exit_code if result.exit_code is not None else 1
        super().__init__(code, command, output=result.text, stderr=result.stderr)
        self.result = result


class ExecutionEnv(Protocol):
    """A place where commands run. It owns capture, spill and publication."""

    def exec(
        self,
        command: Command,
        options: ExecOptions,
        on_update: Sink | None = None,
        on_stderr: Sink | None = None,
    ) -> ExecResult:
        """Run the command to its end and say what it came to.

        `on_update` gets the updates in order, from another thread, and `on_stderr` those of the standard error where
        the options want it apart. Raises ExecutionError for a run that did not come
        to its own end; KeyboardInterrupt ends the run and passes with `.result` attached.
        """
        ...
