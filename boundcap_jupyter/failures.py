"""What a cell says of a run that did not succeed: one line on what happened, one on where the output is.

The errors of the API carry the whole command and a traceback through this package; under a magic both stand in the
cell already. IPython asks `_render_traceback_` for what to show; front ends and nbclient take `str()`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from boundcap_jupyter.core.limits import Retain
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.text import plain
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.running.environment import CommandFailed, ExecResult, ExecutionError
from boundcap_jupyter.show.summary import display_path, duration

#: Characters of a line of output in an error: two lines of a terminal. Compilers put the reason at the start.
MAX_LINE = 160


class _Short:
    """Shows an error as its text alone."""

    _name: ClassVar[str]
    _text: str

    def __str__(self) -> str:
        return self._text

    def _render_traceback_(self) -> list[str]:
        return [f"{self._name}: {self._text}"]


class BoundedCommandFailed(_Short, CommandFailed):
    """The command of a magic ended with an exit code other than 0, or by a signal."""

    _name = "CommandFailed"

    def __init__(self, result: ExecResult, retain: Retain = "tail") -> None:
        super().__init__(result)
        self._text = describe(result, retain)


class BoundedExecutionError(_Short, ExecutionError):
    """The command of a magic did not come to its own end."""

    _name = "ExecutionError"

    def __init__(self, result: ExecResult, retain: Retain = "tail") -> None:
        super().__init__(result)
        self._text = describe(result, retain)


def short_error(error: CommandFailed | ExecutionError, retain: Retain = "tail") -> CommandFailed | ExecutionError:
    """The same error in the form for a cell. `retain` is the end of the output that the result holds."""
    if isinstance(error, CommandFailed):
        return BoundedCommandFailed(error.result, retain)
    return BoundedExecutionError(error.result, retain)


def shorten_interrupt(interrupt: KeyboardInterrupt, result: ExecResult, retain: Retain = "tail") -> None:
    """Make IPython show an interrupt as its text alone. It stays the same object: others may wait for it."""
    text = describe(result, retain)
    shown: Any = interrupt
    shown._render_traceback_ = lambda: [f"KeyboardInterrupt: {text}"]


def describe(result: ExecResult, retain: Retain = "tail") -> str:
    """One line: what happened and the last line of output. One more with the path of each spill that there is.

    Where the standard error was kept apart, its last line comes first: that is where programs say why.
    """
    text = _outcome(result.status)
    if last := result.stderr_view and last_line(result.stderr_view, retain):
        text += f"; last line of stderr: {last}"
    elif last := last_line(result.view, retain):
        text += f"; last line: {last}"
    for view in filter(None, (result.view, result.stderr_view)):
        if path := view.metadata.spill_path:
            whole = view.metadata.spill_state == "complete"
            text += f"\n{'complete' if whole else 'incomplete'} output: {display_path(path)}"
    return text


def last_line(view: OutputView, retain: Retain = "tail") -> str:
    """The last line of a text that is not blank: plain, clipped. Empty where the end of the output is not held."""
    if retain == "head" and view.metadata.truncation.truncated:
        return ""
    for line in reversed(plain(view.text).split("\n")):
        if line := one_line(line):
            return line
    return ""


def one_line(text: str) -> str:
    """Printable text alone, clipped: no control characters, nothing that reorders or hides text, no lone surrogates."""
    spaced = (" " if char.isspace() else char for char in text)
    plain = "".join(char for char in spaced if char.isprintable()).strip()
    return plain if len(plain) <= MAX_LINE else plain[: MAX_LINE - 1] + "…"


def _outcome(status: RunStatus) -> str:
    after = f"after {duration(status.duration)}"
    if status.state is RunState.EXITED:
        return f"exit code {status.exit_code}"
    if status.state is RunState.SIGNALED:
        return f"ended by {status.signal or 'a signal'}, exit code {status.exit_code}"
    if status.state is RunState.TIMEOUT:
        return f"timed out {after}"
    if status.state is RunState.STOPPED:
        return f"stopped {after}"
    detail = one_line(status.detail)
    return f"{status.state}: {detail}" if detail else f"{status.state} {after}"
