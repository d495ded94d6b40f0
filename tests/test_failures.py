"""What a cell says of a run that did not succeed."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.view import OutputMetadata, OutputView, Truncation
from boundcap_jupyter.failures import MAX_LINE, describe, one_line, short_error, shorten_interrupt
from boundcap_jupyter.running.environment import CommandFailed, ExecResult, ExecutionError


def result(
    state: RunState = RunState.EXITED,
    text: str = "",
    *,
    truncated: bool = False,
    command: str = "make",
    spill: dict[str, Any] | None = None,
    **status: Any,
) -> ExecResult:
    size = len(text.encode("utf-8", "surrogatepass"))
    truncation = Truncation(truncated, "lines" if truncated else None, 9, size, 9, size, False, False, 2000, 51200)
    view = OutputView(text, OutputMetadata(truncation, **(spill or {})))
    return ExecResult(command, RunStatus(state, **status), view)


# fmt: off
OUTCOMES: list[tuple[Any, ...]] = [
    (result(exit_code=3), "exit code 3"),
    (result(exit_code=2, text="a\nmake: *** [all] Error 2\n"), "exit code 2; last line: make: *** [all] Error 2"),
    (result(exit_code=2, text="no newline"), "exit code 2; last line: no newline"),
    (result(exit_code=2, text="why\n\n  \n"), "exit code 2; last line: why"),
    (result(RunState.SIGNALED, exit_code=139, signal="SIGSEGV"), "ended by SIGSEGV, exit code 139"),
    (result(RunState.TIMEOUT, exit_code=143, duration=1.02, text="1000\n"), "timed out after 1.0 s; last line: 1000"),
    (result(RunState.TIMEOUT, exit_code=143, duration=600.1), "timed out after 10 min 00 s"),
    (result(RunState.STOPPED, exit_code=130, duration=7322.0), "stopped after 2 h 02 min"),
    (result(RunState.SPILL_ERROR, detail="No space\nleft"), "spill_error: No space left"),
    (result(RunState.WORKER_LOST, duration=2.0), "worker_lost after 2.0 s"),
]
# fmt: on


@pytest.mark.parametrize(("run", "text"), OUTCOMES)
def test_the_first_line_says_what_happened_and_what_came_last(run: ExecResult, text: str) -> None:
    assert describe(run) == text


def test_the_second_line_says_where_the_output_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    kept = {"spill_path": "/home/ada/.cache/boundcap/s/r/output.log", "spill_state": "complete"}
    assert describe(result(exit_code=1, spill=kept)) == (
        "exit code 1\ncomplete output: ~/.cache/boundcap/s/r/output.log"
    )
    cut = {"spill_path": "/home/adam/output.log", "spill_state": "incomplete"}
    assert describe(result(exit_code=1, spill=cut)) == "exit code 1\nincomplete output: /home/adam/output.log"


@pytest.mark.parametrize(
    ("errors", "text"),
    [
        ("why\nTraceback: no\n", "exit code 1; last line of stderr: Traceback: no"),
        (" \n", "exit code 1; last line: result"),
        ("", "exit code 1; last line: result"),
    ],
)
def test_a_standard_error_that_was_kept_apart_has_the_reason(errors: str, text: str) -> None:
    failed = replace(result(exit_code=1, text="result\n"), stderr_view=result(text=errors).view)
    assert describe(failed) == text


def test_every_spill_has_a_line() -> None:
    spills = [{"spill_path": f"/x/{name}.log", "spill_state": "complete"} for name in ("output", "stderr")]
    output, errors = (result(exit_code=1, spill=spill) for spill in spills)
    assert describe(replace(output, stderr_view=errors.view)) == (
        "exit code 1\ncomplete output: /x/output.log\ncomplete output: /x/stderr.log"
    )


def test_the_last_line_of_a_cut_head_is_not_called_the_last_line() -> None:
    assert describe(result(exit_code=1, text="first\n", truncated=True), "head") == "exit code 1"
    assert describe(result(exit_code=1, text="first\n", truncated=False), "head") == "exit code 1; last line: first"
    assert describe(result(exit_code=1, text="last\n", truncated=True), "tail") == "exit code 1; last line: last"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("\x1b[31mred\x1b[0m and \x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "red and link"),
        ("a\tb\x00\x07\x9bc", "a bc"),
        ("left\u202eright\u2066\u200f", "leftright"),
        ("one\u2028two\x0bthree", "one two three"),
        ("\ud800lone", "lone"),
        ("z\u00e4hlt \U0001f40d", "z\u00e4hlt \U0001f40d"),
    ],
)
def test_hostile_output_is_plain_in_an_error(line: str, shown: str) -> None:
    assert describe(result(exit_code=1, text=line + "\n")) == f"exit code 1; last line: {shown}"


@given(st.text())
def test_a_line_in_an_error_is_printable_and_clipped(text: str) -> None:
    shown = one_line(text * 20)
    assert shown.isprintable()
    assert len(shown) <= MAX_LINE


def test_a_failed_command_stays_a_called_process_error_with_its_result() -> None:
    run = result(exit_code=3, text="x\n", command="exit 3\n" * 10_000)
    error = short_error(CommandFailed(run))
    assert isinstance(error, CommandFailed)
    assert isinstance(error, subprocess.CalledProcessError)
    assert (error.returncode, error.result, error.output) == (3, run, "x\n")
    assert str(error) == "exit code 3; last line: x"
    assert rendered(error) == ["CommandFailed: exit code 3; last line: x"]


def test_a_run_that_was_ended_stays_an_execution_error_with_its_result() -> None:
    run = result(RunState.TIMEOUT, exit_code=143, duration=1.0)
    error = short_error(ExecutionError(run))
    assert isinstance(error, ExecutionError)
    assert not isinstance(error, CommandFailed)
    assert (error.result, error.state) == (run, "timeout")
    assert rendered(error) == ["ExecutionError: timed out after 1.0 s"]


def test_an_interrupt_stays_the_same_object() -> None:
    interrupt = KeyboardInterrupt()
    shorten_interrupt(interrupt, result(RunState.STOPPED, exit_code=130, duration=1.0, text="x\n"))
    assert rendered(interrupt) == ["KeyboardInterrupt: stopped after 1.0 s; last line: x"]


def test_a_path_is_only_shortened_below_a_real_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", os.sep)
    assert "\ncomplete output: /x/output.log" in describe(
        result(exit_code=1, spill={"spill_path": "/x/output.log", "spill_state": "complete"})
    )


def rendered(error: BaseException) -> list[str]:
    lines: list[str] = error._render_traceback_()  # type: ignore[attr-defined]  # IPython's hook, by duck typing
    return lines
