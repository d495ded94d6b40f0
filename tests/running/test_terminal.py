"""Commands on a terminal that nobody types on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.core.update import Update
from boundcap_jupyter.running import process as module
from boundcap_jupyter.running.environment import Command, ExecOptions, ExecResult, ExecutionError
from boundcap_jupyter.running.local import LocalEnv, LocalRun
from tests.running.observe import Recorder, eventually, marked_processes


def start(command: Command, sink: Any = None, **options: Any) -> LocalRun:
    return LocalEnv().start(command, ExecOptions(pty=True, **options), sink)


def execute(command: Command, **options: Any) -> ExecResult:
    return start(command, **options).wait()


SIZE = """\
import os, sys
print(*(os.isatty(fd) for fd in (0, 1, 2)), *os.get_terminal_size(1), *os.get_terminal_size(2), os.environ["TERM"])
"""


@pytest.mark.parametrize(("columns", "expected"), [(None, 80), (132, 132)])
def test_both_outputs_are_a_terminal_of_the_size_asked_for_and_the_input_is_none(
    monkeypatch: pytest.MonkeyPatch, columns: int | None, expected: int
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "10")
    result = execute(SIZE, shell=[sys.executable], columns=columns)
    assert result.text == f"False True True {expected} 24 {expected} 24 xterm-256color\n"


def test_without_being_asked_there_is_no_terminal() -> None:
    assert LocalEnv().exec("test -t 1 || test -t 2 || echo none").text == "none\n"


def test_the_spill_holds_the_bytes_as_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(bytes(range(256)) * 4000 + b"\ttab\r\n\n")
    result = execute(["cat", tmp_path / "raw"], limits=OutputLimits(max_bytes=1000))
    assert result.spill_path is not None
    assert Path(result.spill_path).read_bytes() == (tmp_path / "raw").read_bytes()
    assert result.truncation.total_bytes == (tmp_path / "raw").stat().st_size


def test_a_flood_is_complete_every_time() -> None:
    for _ in range(5):
        result = execute("seq 1 50000; echo last >&2")
        assert (result.truncation.total_bytes, result.truncation.total_lines) == (288_894 + 5, 50_001)
        assert result.text.endswith("50000\nlast\n")
        assert result.exit_code == 0


@pytest.mark.parametrize(("stdin", "expected"), [(None, ""), ("in\n", "in\n")])
def test_the_input_is_what_was_given(stdin: str | None, expected: str) -> None:
    assert execute("cat", stdin=stdin).text == expected


def test_nobody_is_asked_so_nothing_waits_for_an_answer() -> None:
    # What a password prompt does, and what a program does that takes a terminal on its error output for a keyboard.
    script = "(echo x > /dev/tty) 2> /dev/null || echo no keyboard; read a <&2 2> /dev/null || echo no answer"
    assert execute(script).text == "no keyboard\nno answer\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_the_terminal_can_not_be_read_by_its_name_either() -> None:
    assert "Permission denied" in execute('read a < "$(readlink /proc/self/fd/2)"').text


def test_a_descendant_that_holds_the_terminal_is_not_waited_for_and_not_hung_up_on(mark: str) -> None:
    result = execute("sleep 600 & seq 1 3000")
    assert (result.state, result.exit_code) == (RunState.EXITED, 0)
    assert result.truncation.total_bytes == 13_893
    assert result.duration < 10
    assert [process.name() for process in marked_processes(mark)] == ["sleep"]
    for process in marked_processes(mark):
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="who holds it can not be seen")
def test_each_process_that_holds_the_terminal_is_counted_and_none_that_holds_another(mark: str) -> None:
    others = os.openpty()
    result = execute("sleep 600 & sleep 600 & sleep 600 > /dev/null 2>&1 & echo done")
    assert (result.text, result.pipe_held) == ("done\n", 2)
    for end in others:
        os.close(end)
    for process in marked_processes(mark):
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="there is no guard")
def test_the_end_of_a_held_terminal_is_no_end_of_the_guard(mark: str) -> None:
    execute("sleep 0.8 & setsid sleep 600 > /dev/null 2>&1 & echo done")
    (sleeper,) = [process for process in marked_processes(mark) if "600" in process.cmdline()]
    guard = sleeper.parent()
    assert guard is not None
    # Only the other one holds the terminal.
    assert eventually(lambda: len(marked_processes(mark)) == 1)
    time.sleep(0.2)
    assert sleeper.parent() == guard
    sleeper.kill()
    assert eventually(lambda: not guard.is_running())


def test_what_a_held_terminal_has_when_the_run_is_over_is_read_to_the_last_byte(mark: str) -> None:
    """The reader is kept busy until the grace is over, so that all of it has to be read at once."""

    def busy(update: Update) -> None:
        if not views:
            views.append(update)
            time.sleep(1.5)

    views: list[Update] = []
    run = start("(printf a; sleep 0.3; printf '%010000d' 0; exec sleep 600) & :", busy)
    assert run.wait().truncation.total_bytes == 10_001
    for process in marked_processes(mark):
        process.kill()


def test_a_descendant_that_floods_a_held_terminal_does_not_keep_the_run(mark: str) -> None:
    result = execute("yes & sleep 0.2; echo fg-done")
    assert (result.state, result.exit_code) == (RunState.EXITED, 0)
    assert result.duration < 10
    processes = marked_processes(mark)
    assert [process.name() for process in processes] == ["yes"]
    for process in processes:
        process.kill()


def test_stop_and_limits_work_as_without_one() -> None:
    recorder = Recorder()
    run = start("echo ready; exec sleep 600", recorder)
    recorder.wait_for("ready")
    run.stop()
    assert run.wait().state is RunState.STOPPED
    assert execute("echo before; sleep 600", idle_timeout=0.3).state is RunState.IDLE_TIMEOUT


def test_it_leads_a_session_without_a_controlling_terminal() -> None:
    script = (
        "import os; print(os.getsid(0) == os.getpid(), open('/proc/self/stat').read().rpartition(')')[2].split()[4])"
    )
    if sys.platform == "linux":
        assert execute(script, shell=[sys.executable]).text == "True 0\n"


def test_a_machine_that_has_no_terminal_left_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(columns: int) -> tuple[int, int]:
        raise OSError(28, "No space left on device", "/dev/ptmx")

    monkeypatch.setattr(module, "open_terminal", none_left)
    with pytest.raises(ExecutionError, match=r"^cannot start 'true': No space left on device \(/dev/ptmx\)$"):
        LocalEnv().exec(["true"], ExecOptions(pty=True))


def test_a_program_that_colours_for_people_only_does_so() -> None:
    listing = ["ls", "--color=auto", "-d", "/"]
    if subprocess.run(listing, capture_output=True).returncode == 0:
        assert "\x1b[" in execute(listing).view.text
        assert "\x1b[" not in LocalEnv().exec(listing).view.text


def test_the_end_is_seen_while_the_command_runs_on() -> None:
    recorder = Recorder()
    run = start("echo last; exec > /dev/null 2>&1; sleep 0.7; exit 4", recorder)
    recorder.wait_for("last")
    assert eventually(lambda: run.done)
    assert run.wait().exit_code == 4
    assert run.wait().duration >= 0.7
