from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.running.environment import Command, CommandFailed, ExecOptions, ExecResult, ExecutionError
from tests.running.observe import empty_view

# --- options


def test_the_defaults_are_valid_and_bounded() -> None:
    options = ExecOptions()
    assert (options.limits.max_bytes, options.limits.max_lines) == (51200, 2000)
    assert options.spill
    assert (options.cwd, options.stdin, options.timeout, dict(options.env)) == (None, None, None, {})


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("cwd", "/nonexistent", "'/nonexistent'"),
        ("cwd", "", "''"),
        ("cwd", __file__, "test_environment.py"),
        ("cwd", "nul\0", "nul"),
        ("cwd", 0, "'0'"),
        ("env", {"A=B": "1"}, "'A=B'"),
        ("env", {"": "1"}, "''"),
        ("env", {"A\0": "1"}, "A"),
        ("env", {1: "1"}, "1"),
        ("env", {"\ud800": "1"}, "ud800"),
        ("env", {"A": "x\0"}, "A="),
        ("env", {"A": 1}, "A=1"),
        ("env", {"A": None}, "A=None"),
        ("env", {"A": "\ud800"}, "A="),
        ("env", ["A=1"], "['A=1']"),
        ("stdin", 5, "5"),
        ("stdin", ["a"], "['a']"),
        ("stdin", "\ud800", "ud800"),
        ("stdin", Path("/nonexistent"), "'/nonexistent'"),
        ("stdin", Path("/"), "'/'"),
        ("timeout", 0, "0"),
        ("timeout", -1, "-1"),
        ("timeout", float("nan"), "nan"),
        ("timeout", float("inf"), "inf"),
        ("timeout", 10**400, "10000"),
        ("timeout", True, "True"),
        ("timeout", "10", "'10'"),
        ("idle_timeout", 0, "0"),
        ("idle_timeout", "10", "'10'"),
        ("stdin", Path("nul\0"), "nul"),
        ("shell", "", "''"),
        ("shell", " ", "' '"),
        ("shell", "'bash", "'bash"),
        ("shell", "''", "''"),
        ("shell", [], "[]"),
        ("shell", ["bash", 5], "5"),
        ("shell", "nul\0", "nul"),
        ("shell", b"bash", "b'bash'"),
        ("shell", Path("/bin/sh"), "/bin/sh"),
        ("inherit_env", None, "None"),
        ("inherit_env", 0, "0"),
        ("pty", "yes", "'yes'"),
        ("columns", 0, "0"),
        ("columns", 65536, "65536"),
        ("columns", True, "True"),
        ("columns", "80", "'80'"),
        ("columns", 80, "80"),
        ("on_held", "drop", "'drop'"),
    ],
)
def test_what_is_invalid_is_a_value_error_that_names_field_and_value(field: str, value: Any, named: str) -> None:
    with pytest.raises(ValueError, match=f"^{field} must ") as caught:
        ExecOptions(**{field: value})
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cwd", "/"),
        ("cwd", Path("/")),
        ("env", {"A": "", "b": "ü€", "bytes": "\udcff"}),
        ("stdin", ""),
        ("stdin", b"\0\xff"),
        ("stdin", "nul\0 and \U0001f600"),
        ("stdin", Path(__file__)),
        ("timeout", 0.001),
        ("timeout", 10**9),
        ("timeout", 1e300),
        ("idle_timeout", 0.001),
        ("stdin", Path("/dev/null")),
        ("shell", "bash -e"),
        ("shell", ["bash", "-e"]),
        ("shell", (Path("/bin/sh"),)),
        ("inherit_env", False),
        ("pty", True),
        ("on_held", "kill"),
    ],
)
def test_what_is_valid_is_kept_as_it_is(field: str, value: Any) -> None:
    assert getattr(ExecOptions(**{field: value}), field) == value


@pytest.mark.parametrize("columns", [1, 65535])
def test_a_terminal_has_a_width(columns: int) -> None:
    assert ExecOptions(pty=True, columns=columns).columns == columns


def test_a_terminal_is_one_stream() -> None:
    with pytest.raises(ValueError, match=r"^stderr must be 'merge' with pty=True, not 'separate'"):
        ExecOptions(pty=True, stderr="separate")


def test_an_input_that_would_be_waited_for_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(ValueError, match=r"^stdin must be a file that exists, not .*fifo'$"):
        ExecOptions(stdin=tmp_path / "fifo")


# --- results


def result(
    state: RunState,
    exit_code: int | None = None,
    error: BaseException | None = None,
    command: Command = "x",
    **more: Any,
) -> ExecResult:
    view = more.pop("view", empty_view())
    return ExecResult(command, RunStatus(state, exit_code, **more), view, error)


FAILED = [state for state in RunState if not state.ended_by_itself]


def test_a_command_that_succeeded_passes_every_check() -> None:
    result(RunState.EXITED, 0).check()


def test_an_exit_code_is_raised_only_where_it_is_asked_for() -> None:
    failed = result(RunState.EXITED, 3)
    failed.check(exit_code=False)
    with pytest.raises(CommandFailed) as caught:
        failed.check()
    assert caught.value.result is failed


def test_a_command_that_a_signal_ended_came_to_its_own_end_and_failed() -> None:
    ended = result(RunState.SIGNALED, 139, signal="SIGSEGV")
    ended.check(exit_code=False)
    with pytest.raises(CommandFailed):
        ended.check()


@pytest.mark.parametrize("state", FAILED)
@pytest.mark.parametrize("exit_code", [True, False])
def test_a_run_that_did_not_come_to_its_own_end_is_always_raised(state: RunState, exit_code: bool) -> None:
    failed = result(state, 0, detail="why it failed")
    with pytest.raises(ExecutionError, match=r"^why it failed$") as caught:
        failed.check(exit_code=exit_code)
    assert caught.value.result is failed
    assert caught.value.state is state


def test_the_exception_behind_a_failure_is_its_cause() -> None:
    error = OSError(28, "full")
    with pytest.raises(ExecutionError) as caught:
        result(RunState.SPILL_ERROR, error=error).check()
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("command", ["exit 3", ["false", "x"], ("false", "x")])
def test_a_failed_command_is_a_called_process_error_with_the_plain_output(command: Command) -> None:
    view = OutputView("\x1b[31mred\x1b[0m\n", empty_view().metadata)
    error = CommandFailed(result(RunState.EXITED, 3, command=command, view=view))
    assert isinstance(error, subprocess.CalledProcessError)
    assert error.returncode == 3
    assert error.output == error.stdout == "red\n"
    assert error.cmd == (command if isinstance(command, str) else list(command))


def test_the_result_shows_status_and_view_under_short_names() -> None:
    ended = result(RunState.SIGNALED, 143, signal="SIGTERM", duration=1.5)
    assert (ended.state, ended.exit_code, ended.signal, ended.duration) == ("signaled", 143, "SIGTERM", 1.5)
    assert ended.truncation is ended.view.metadata.truncation
    assert ended.spill_path is None
