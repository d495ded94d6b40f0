"""Real commands on this machine: what must hold for every run, and what may go wrong with one."""

from __future__ import annotations

import _thread
import asyncio
import errno
import json
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.core.update import Replace, Update
from boundcap_jupyter.running import local as module
from boundcap_jupyter.running.environment import Command, ExecOptions, ExecResult, ExecutionEnv, ExecutionError
from boundcap_jupyter.running.local import LocalEnv, LocalRun
from boundcap_jupyter.running.process import Process
from boundcap_jupyter.running.pump import Pump
from tests.running.observe import Recorder, eventually, marked_processes

ROOT = Path(__file__).parents[2]


def at_once(last: int) -> str:
    """`seq 1 last` in one write: the pipe takes it whole, so no part of it can be read before the rest."""
    return f"numbers=$(seq 1 {last}); printf '%s\\n' \"$numbers\" | dd bs=1M iflag=fullblock status=none"


def execute(command: Command, sink: Any = None, **options: Any) -> ExecResult:
    return LocalEnv().exec(command, ExecOptions(**options), sink)


def start(command: Command, sink: Any = None, **options: Any) -> LocalRun:
    return LocalEnv().start(command, ExecOptions(**options), sink)


def totals(result: ExecResult) -> tuple[int, int]:
    return result.truncation.total_bytes, result.truncation.total_lines


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def interpreter(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter that finds what this one finds."""
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    return subprocess.run(
        [str(argument) for argument in arguments],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


# --- what a command prints, and how it ends


@pytest.mark.parametrize(
    ("command", "text", "byte_count", "lines"),
    [
        ("true", "", 0, 0),
        ("printf 'no newline'", "no newline", 10, 1),
        ("printf '\\n\\n\\n'", "\n\n\n", 3, 3),
        ("echo out; echo err >&2", "out\nerr\n", 8, 2),
        (["printf", "%s", "$HOME; a b"], "$HOME; a b", 10, 1),
        ("cat", "", 0, 0),
    ],
)
def test_small_output_is_shown_whole_and_leaves_nothing_on_the_disk(
    cache_home: Path, command: Command, text: str, byte_count: int, lines: int
) -> None:
    result = execute(command)
    assert (result.state, result.exit_code, result.signal) == (RunState.EXITED, 0, None)
    assert result.text == text
    assert totals(result) == (byte_count, lines)
    assert not result.truncation.truncated
    assert result.spill_path is None
    assert list(cache_home.iterdir()) == []


@pytest.mark.parametrize("code", [0, 1, 3, 127, 255])
def test_an_exit_code_is_a_result_and_no_exception(code: int) -> None:
    result = execute(f"echo before; exit {code}")
    assert (result.state, result.exit_code, result.text) == (RunState.EXITED, code, "before\n")


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (signal.SIGTERM, "SIGTERM"),
        (signal.SIGKILL, "SIGKILL"),
        (signal.SIGINT, "SIGINT"),
        pytest.param(40, "signal 40", marks=pytest.mark.skipif(sys.platform != "linux", reason="real-time signals")),
    ],
)
def test_a_signal_that_the_command_died_of_is_named(number: int, name: str) -> None:
    result = execute(f"echo before; kill -{int(number)} $$; sleep 600")
    assert (result.state, result.exit_code, result.signal) == (RunState.SIGNALED, 128 + number, name)
    assert result.text == "before\n"


def test_lines_are_there_within_half_a_second_of_being_written(tmp_path: Path) -> None:
    recorder = Recorder()
    result = execute(f"printf 'one\\n'; touch {tmp_path}/written; sleep 2; printf 'two\\n'", recorder)
    first = next(moment for moment, view in zip(recorder.times, recorder.views, strict=True) if "one" in view.text)
    # The file was made after the line was written.
    assert first <= (tmp_path / "written").stat().st_mtime + 0.5
    assert (totals(result), result.exit_code) == ((8, 2), 0)


def test_a_flood_is_counted_exactly_kept_byte_for_byte_and_sent_in_few_updates(cache_home: Path) -> None:
    recorder = Recorder()
    result = execute("seq 1 200000", recorder)
    assert totals(result) == (1_288_895, 200_000)
    assert result.text.splitlines()[-1] == "200000"
    assert len(result.text.encode()) <= 51_200
    assert result.text.count("\n") <= 2000
    assert len(recorder.updates) <= 40
    assert result.spill_path is not None
    spill = Path(result.spill_path)
    assert spill.is_relative_to(cache_home / "boundcap")
    assert spill.read_bytes() == "".join(f"{number}\n" for number in range(1, 200_001)).encode()
    metadata = result.view.metadata
    assert (metadata.spill_state, metadata.spill_bytes) == ("complete", 1_288_895)


def test_twenty_million_lines_take_no_memory(child: Callable[..., list[str]]) -> None:
    done = interpreter(*child("flood_memory.py"))
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["bytes"], answer["lines"], answer["spilled"]) == (168_888_897, 20_000_000, 168_888_897)
    assert answer["shown_bytes"] <= 51_200
    assert answer["shown_lines"] <= 2000
    assert answer["end"] == "19999999\n20000000\n"[-18:]
    assert answer["grown"] < 20_000_000


def test_the_path_of_the_spill_is_published_before_the_end() -> None:
    recorder = Recorder()
    result = execute("seq 3000", recorder)
    assert totals(result) == (13_893, 3000)
    assert result.truncation.truncated_by == "lines"
    assert result.spill_path is not None
    open_paths = [view.metadata.spill_path for view in recorder.views if view.metadata.spill_state == "open"]
    assert open_paths
    assert set(open_paths) == {result.spill_path}
    assert recorder.view.metadata.spill_state == "complete"


def test_the_beginning_can_be_kept_and_the_spill_is_complete_all_the_same() -> None:
    result = execute("seq 3000", limits=OutputLimits(max_lines=10, retain="head"))
    assert result.text == "".join(f"{number}\n" for number in range(1, 11))
    assert result.spill_path is not None
    assert Path(result.spill_path).stat().st_size == 13_893


def test_a_character_that_comes_in_parts_is_one_character() -> None:
    recorder = Recorder()
    result = execute("printf '\\xe2'; sleep 0.5; printf '\\x82\\xac after\\n'; echo done", recorder)
    assert result.text == "€ after\ndone\n"
    assert totals(result) == (15, 2)
    assert not any("\ufffd" in view.text for view in recorder.views)


def test_one_line_larger_than_the_view_is_shown_by_its_end() -> None:
    result = execute([sys.executable, "-c", "print('*'*100000)"])
    assert totals(result) == (100_001, 1)
    assert set(result.text.rstrip("\n")) == {"*"}
    assert 25_000 < len(result.text) <= 51_200
    assert result.truncation.last_line_partial
    assert result.exit_code == 0


def test_what_a_reader_behind_the_shell_still_prints_is_never_lost() -> None:
    for _ in range(20):
        assert execute("exec > >(cat); echo a; echo LAST").text == "a\nLAST\n"


@pytest.mark.parametrize(
    "command",
    [
        "true",
        "printf 'no newline'",
        "seq 1 5000",
        "seq 1 50000 | head -c 200000",
        "for i in 1 2 3 4 5 6 7 8; do printf '\\rstep %d of 8' $i; sleep 0.05; done; echo",
        "for i in 1 2 3 4 5 6; do printf 'a\\nb\\n\\033[2A'; sleep 0.06; done; printf '\\033[2B'",
        "for i in 31 32 33 34; do printf '\\033[%dmcolour\\n' $i; sleep 0.06; done",
        "for i in 1 2 3 4; do printf '\U0001f600%.0s' 1 2 3 4 5 6 7 8 9; sleep 0.06; done",
        "head -c 20000 /dev/zero",
        "for i in 1 2 3 4; do seq -f 'line %g' 1 2000; sleep 0.1; done",
        "printf '\\xff\\xfe\\xe2'",
    ],
)
@pytest.mark.parametrize("retain", ["tail", "head", "both"])
def test_the_updates_fold_into_the_result(command: str, retain: Any) -> None:
    recorder = Recorder()
    result = execute(command, recorder, limits=OutputLimits(max_bytes=4096, max_lines=100, retain=retain))
    assert recorder.view == result.view
    assert isinstance(recorder.updates[-1], Replace)


def test_local_env_is_an_execution_env() -> None:
    env: ExecutionEnv = LocalEnv()
    assert env.exec("echo hello", ExecOptions()).text == "hello\n"


def test_commands_run_side_by_side() -> None:
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda number: execute(f"seq {number * 1000}"), range(1, 9)))
    for number, result in enumerate(results, 1):
        assert result.truncation.total_lines == number * 1000
        assert result.text.splitlines()[-1] == str(number * 1000)
    spills = [result.spill_path for result in results if result.spill_path]
    assert len(set(spills)) == len(spills) == 6


# --- where it runs


def test_directory_and_environment_are_those_of_the_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEWS", "now")
    run = start('pwd -P; echo "$NEWS"')
    monkeypatch.chdir("/")
    monkeypatch.setenv("NEWS", "later")
    assert run.wait().text == f"{tmp_path.resolve()}\nnow\n"
    assert execute('pwd -P; echo "$NEWS"').text == "/\nlater\n"


def test_directory_and_variables_may_be_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTER", "kept")
    result = execute('pwd -P; echo "$OUTER $INNER"', cwd=tmp_path, env={"INNER": "set"})
    assert result.text == f"{tmp_path.resolve()}\nkept set\n"


def test_python_is_that_of_a_virtual_environment_that_is_not_activated(
    tmp_path: Path, child: Callable[..., list[str]]
) -> None:
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    pip = venv / "bin" / "pip"
    pip.write_text("#!/bin/sh\n")
    pip.chmod(0o755)
    done = interpreter(venv / "bin" / "python", *child("which_python.py")[1:], PATH="/usr/bin:/bin")
    assert done.stdout.split() == [str(venv / "bin" / "python"), str(pip)], done.stderr


def test_a_python_child_is_seen_while_it_runs(child: Callable[..., list[str]]) -> None:
    recorder = Recorder()
    run = start(["python", *child("save_on_interrupt.py", 0)[1:]], recorder)
    recorder.wait_for("ready\n")
    run.stop()
    assert run.wait().text == "ready\nsaving\nsaved\n"


@pytest.mark.parametrize(
    ("stdin", "expected"), [(None, ""), ("", ""), ("text ü\n", "text ü\n"), (b"bytes\n", "bytes\n")]
)
def test_the_input_is_what_was_given(stdin: Any, expected: str) -> None:
    assert execute("cat", stdin=stdin).text == expected


def test_the_input_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "input").write_text("from a file\n")
    assert execute("cat", stdin=tmp_path / "input").text == "from a file\n"


# --- what can not be started


@pytest.mark.parametrize("command", ["nul\0", [], None, ["a", 1], "\ud800"], ids=repr)
def test_no_command_is_a_value_error_and_nothing_is_run(mark: str, command: Any) -> None:
    threads = threading.active_count()
    with pytest.raises(ValueError, match=r"^command must "):
        start(command)
    assert threading.active_count() == threads
    assert marked_processes(mark) == []


HUGE = "x" * 3_000_000


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["/nonexistent/program"], "cannot start '/nonexistent/program': No such file or directory"),
        (["/"], "cannot start '/': Permission denied"),
        (["true", HUGE], "cannot start 'true': Argument list too long"),
    ],
    ids=["missing", "directory", "huge argument"],
)
def test_what_can_not_be_started_fails_with_a_clear_line(command: Command, words: str) -> None:
    recorder = Recorder()
    with pytest.raises(ExecutionError) as caught:
        execute(command, recorder)
    message = str(caught.value)
    assert words in message
    assert len(message) < 200
    assert "\n" not in message
    result = caught.value.result
    assert (result.state, result.exit_code, result.text) == (RunState.SPAWN_ERROR, None, "")
    assert isinstance(caught.value.__cause__, OSError)
    # One update: whoever watches must learn that it is over.
    assert [update.kind for update in recorder.updates] == ["replace"]


def test_a_directory_that_is_gone_by_now_is_what_is_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    options = ExecOptions(cwd=gone)
    gone.rmdir()
    with pytest.raises(ExecutionError, match="gone"):
        LocalEnv().exec("true", options)


def test_a_process_without_threads_left_says_so_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            start("sleep 600")
    assert marked_processes(mark) == []
    assert list(module._running) == []


@pytest.fixture
def descriptors() -> Iterator[Callable[[int], None]]:
    """Leave the process with so many free file descriptors."""
    held: list[int] = []
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)

    def leave(count: int) -> None:
        highest = max(int(name) for name in os.listdir("/dev/fd"))
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 20, limits[1]))
        while True:
            try:
                held.append(os.open("/dev/null", os.O_RDONLY))
            except OSError:
                break
        for _ in range(count):
            os.close(held.pop())

    yield leave
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    for fd in held:
        os.close(fd)


@pytest.mark.parametrize("free", range(13))
def test_short_of_file_descriptors_a_run_works_or_says_so_and_leaves_none_open(
    descriptors: Callable[[int], None], free: int
) -> None:
    execute("echo warm")
    descriptors(free)
    result = start("echo hello", None, stdin="x").wait()
    if result.state is RunState.EXITED:
        assert (result.exit_code, result.text) == (0, "hello\n")
        assert free >= 6
    else:
        assert result.state is RunState.SPAWN_ERROR
        assert "Too many open files" in result.status.detail
        assert free < 12


# --- the spill


@pytest.mark.parametrize("mask", [0o000, 0o777], ids="umask {:03o}".format)
def test_a_spill_is_private_whatever_the_umask(cache_home: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        result = execute("seq 3000")
    finally:
        os.umask(before)
    assert result.spill_path is not None
    spill = Path(result.spill_path)
    assert stat.S_IMODE(spill.stat().st_mode) == 0o600
    for directory in (spill.parent, spill.parent.parent, cache_home / "boundcap"):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_without_a_spill_a_flood_leaves_no_file(cache_home: Path) -> None:
    result = execute("seq 1 200000", spill=False)
    assert totals(result) == (1_288_895, 200_000)
    assert result.spill_path is None
    assert result.view.metadata.spill_state == "none"
    assert list(cache_home.iterdir()) == []


def unusable_file(folder: Path) -> Path:
    (folder / "file").write_text("in the way")
    return folder / "file"


def unusable_link(folder: Path) -> Path:
    (folder / "elsewhere").mkdir()
    (folder / "boundcap").symlink_to(folder / "elsewhere")
    return folder


@pytest.mark.parametrize("make", [unusable_file, unusable_link])
def test_a_cache_that_can_not_be_used_fails_a_flood_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str, make: Callable[[Path], Path]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(make(tmp_path)))
    before = sorted(tmp_path.rglob("*"))
    hello = execute("echo hello")
    assert (hello.text, hello.exit_code) == ("hello\n", 0)
    recorder = Recorder()
    with pytest.raises(ExecutionError, match="the complete output could not be kept") as caught:
        execute(at_once(5000) + "; sleep 600", recorder)
    assert isinstance(caught.value.__cause__, OSError)
    result = caught.value.result
    assert result.state is RunState.SPILL_ERROR
    assert result.text.splitlines()[-1] == "5000"
    assert totals(result) == (23_893, 5000)
    assert result.signal == "SIGTERM"
    metadata = result.view.metadata
    assert (metadata.spill_path, metadata.spill_state, metadata.spill_bytes) == (None, "incomplete", 0)
    assert recorder.view == result.view
    assert marked_processes(mark) == []
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO], ids=errno.errorcode.get)
def test_a_disk_that_fails_on_the_way_ends_the_command_and_keeps_what_it_took(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    room = 100_000
    real = os.write

    def write(fd: int, data: memoryview) -> int:
        nonlocal room
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return real(fd, data)
        if room == 0:
            raise OSError(number, os.strerror(number))
        written = real(fd, data[:room])
        room -= written
        return written

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(ExecutionError, match=os.strerror(number)) as caught:
        execute("yes")
    result = caught.value.result
    assert (result.state, result.signal) == (RunState.SPILL_ERROR, "SIGTERM")
    metadata = result.view.metadata
    assert metadata.spill_state == "incomplete"
    assert metadata.spill_path is not None
    kept = Path(metadata.spill_path).read_bytes()
    # The record of the run took some of the room.
    assert 0 < len(kept) == metadata.spill_bytes <= 100_000
    assert kept == (b"y\n" * 50_000)[: len(kept)]
    assert result.truncation.total_bytes > len(kept)
    assert set(result.text.split()) == {"y"}


def test_a_loss_at_the_very_end_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.close

    def close(fd: int) -> None:
        status = os.fstat(fd)
        real(fd)
        # A file with a name: not what is handed to the command.
        if stat.S_ISREG(status.st_mode) and status.st_nlink:
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "close", close)
    recorder = Recorder()
    result = start("seq 3000", recorder).wait()
    assert (result.state, result.exit_code) == (RunState.SPILL_ERROR, 0)
    assert result.view.metadata.spill_state == "incomplete"
    assert recorder.view == result.view


# --- the time limit


def test_a_timeout_keeps_what_came_and_leaves_no_process(mark: str) -> None:
    recorder = Recorder()
    with pytest.raises(ExecutionError, match="the time limit of 1 s was reached") as caught:
        execute("seq 1000; sleep 60", recorder, timeout=1)
    result = caught.value.result
    assert (result.state, result.signal, result.exit_code) == (RunState.TIMEOUT, "SIGTERM", 143)
    assert totals(result)[1] == 1000
    assert result.text == "".join(f"{number}\n" for number in range(1, 1001))
    assert recorder.view == result.view
    assert marked_processes(mark) == []


def test_a_timeout_takes_the_background_with_it(mark: str) -> None:
    with pytest.raises(ExecutionError):
        execute("sleep 600 & (sleep 600; true) & seq 1000; wait", timeout=1)
    assert marked_processes(mark) == []


def test_a_command_that_is_in_time_has_no_timeout() -> None:
    assert execute("echo hello", timeout=3e6).text == "hello\n"


# --- stop


def test_a_command_that_saves_on_interrupt_gets_its_time(child: Callable[..., list[str]]) -> None:
    recorder = Recorder()
    run = start(child("save_on_interrupt.py", 0.5), recorder)
    recorder.wait_for("ready\n")
    assert not run.done
    run.stop()
    result = run.wait()
    assert (result.state, result.exit_code) == (RunState.STOPPED, 0)
    assert result.text == "ready\nsaving\nsaved\n"
    assert result.status.detail == ""
    assert recorder.view == result.view


def test_a_second_stop_kills_at_once(child: Callable[..., list[str]], mark: str) -> None:
    recorder = Recorder()
    run = start(child("save_on_interrupt.py", 600), recorder)
    recorder.wait_for("ready\n")
    run.stop()
    recorder.wait_for("saving\n")
    run.stop()
    result = run.wait()
    assert (result.state, result.signal) == (RunState.STOPPED, "SIGKILL")
    assert marked_processes(mark) == []


def test_stop_reaches_the_whole_group(mark: str) -> None:
    recorder = Recorder()
    run = start("(echo ready; exec sleep 600) | cat; echo never", recorder)
    recorder.wait_for("ready\n")
    run.stop()
    result = run.wait()
    assert (result.state, result.text) == (RunState.STOPPED, "ready\n")
    assert marked_processes(mark) == []


def test_stop_works_under_a_flood(mark: str) -> None:
    recorder = Recorder()
    run = start("yes", recorder, spill=False)
    recorder.wait_for("y\n")
    run.stop()
    result = run.wait()
    assert (result.state, result.signal) == (RunState.STOPPED, "SIGINT")
    assert marked_processes(mark) == []


def test_stop_after_the_end_changes_nothing() -> None:
    run = start("echo hello")
    result = run.wait()
    run.stop()
    run.stop()
    run.kill()
    assert run.wait() is result
    assert result.state is RunState.EXITED


def test_stop_at_any_moment_gives_a_result() -> None:
    states = set()
    for _ in range(60):
        run = start("true")
        stopper = threading.Thread(target=run.stop)
        stopper.start()
        result = run.wait()
        stopper.join()
        states.add(result.state)
        if result.state is RunState.EXITED:
            assert result.exit_code == 0
    assert states <= {RunState.EXITED, RunState.STOPPED}


def test_a_sink_may_stop_its_own_run() -> None:
    runs: list[LocalRun] = []
    ready = threading.Event()

    def sink(update: Update) -> None:
        ready.wait()
        runs[0].stop()

    runs.append(start("echo ready; sleep 600", sink))
    ready.set()
    assert runs[0].wait().state is RunState.STOPPED


def test_exec_raises_what_was_stopped() -> None:
    recorder = Recorder()
    started: list[LocalRun] = []

    class Env(LocalEnv):
        def start(self, *arguments: Any, **options: Any) -> LocalRun:
            started.append(super().start(*arguments, **options))
            threading.Thread(target=lambda: (recorder.wait_for("ready\n"), started[0].stop())).start()
            return started[0]

    with pytest.raises(ExecutionError, match="the run was stopped") as caught:
        Env().exec("echo ready; sleep 600", None, recorder)
    assert caught.value.state is RunState.STOPPED


# --- interrupts


def interrupting(recorder: Recorder, text: str, *, times: int = 1, how: str = "signal") -> None:
    """Interrupt the main thread, as the notebook's button does, once the text is shown."""

    def act() -> None:
        for _ in range(times):
            recorder.wait_for(text)
            if how == "signal":
                os.kill(os.getpid(), signal.SIGINT)
            else:
                _thread.interrupt_main()

    threading.Thread(target=act).start()


@pytest.mark.parametrize("how", ["signal", "interrupt_main"])
def test_an_interrupt_ends_the_command_and_passes_with_the_result(mark: str, how: str) -> None:
    recorder = Recorder()
    interrupting(recorder, "ready\n", how=how)
    with pytest.raises(KeyboardInterrupt) as caught:
        execute("echo ready; exec sleep 600", recorder)
    result = caught.value.result  # type: ignore[attr-defined]
    assert (result.state, result.signal, result.text) == (RunState.STOPPED, "SIGINT", "ready\n")
    assert recorder.view == result.view
    assert marked_processes(mark) == []


def test_an_interrupt_waits_for_a_command_that_saves(child: Callable[..., list[str]]) -> None:
    recorder = Recorder()
    interrupting(recorder, "ready\n")
    with pytest.raises(KeyboardInterrupt) as caught:
        execute(child("save_on_interrupt.py", 0.5), recorder)
    assert caught.value.result.text == "ready\nsaving\nsaved\n"  # type: ignore[attr-defined]


def test_a_second_interrupt_does_not_wait(child: Callable[..., list[str]], mark: str) -> None:
    recorder = Recorder()
    interrupting(recorder, "ready\n")
    interrupting(recorder, "saving\n")
    with pytest.raises(KeyboardInterrupt) as caught:
        execute(child("save_on_interrupt.py", 600), recorder)
    assert caught.value.result.signal == "SIGKILL"  # type: ignore[attr-defined]
    assert marked_processes(mark) == []


def test_an_interrupt_while_the_one_before_is_passed_on_is_not_lost(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    stop = LocalRun.stop
    again = iter([True])

    def interrupted(self: LocalRun) -> None:
        if next(again, False):
            raise KeyboardInterrupt
        stop(self)

    monkeypatch.setattr(LocalRun, "stop", interrupted)
    interrupting(recorder, "ready\n")
    with pytest.raises(KeyboardInterrupt) as caught:
        execute("echo ready; exec sleep 600", recorder)
    assert caught.value.result.state is RunState.STOPPED  # type: ignore[attr-defined]
    assert marked_processes(mark) == []


def test_an_interrupt_during_the_start_leaves_no_command_behind(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Process.__init__
    main = threading.main_thread()
    interrupted = threading.Event()

    def slow(self: Process, command: Command, options: ExecOptions) -> None:
        real(self, command, options)
        os.kill(os.getpid(), signal.SIGINT)
        # The main thread has had it before the start is over.
        assert interrupted.wait(20)

    class Stops(module.StopRequests):
        def request(self) -> int:
            count = super().request()
            if threading.current_thread() is main:
                interrupted.set()
            return count

    monkeypatch.setattr(Process, "__init__", slow)
    monkeypatch.setattr(module, "StopRequests", Stops)
    with pytest.raises(KeyboardInterrupt) as caught:
        start("exec sleep 600")
    assert caught.value.result.state is RunState.STOPPED  # type: ignore[attr-defined]
    assert marked_processes(mark) == []
    assert list(module._running) == []


# --- sinks that raise


class Raising(Recorder):
    def __init__(self, error: BaseException, text: str) -> None:
        super().__init__()
        self.error = error
        self.text = text

    def __call__(self, update: Update) -> None:
        super().__call__(update)
        if self.text in self.view.text:
            raise self.error


@pytest.mark.parametrize("error", [ValueError("bad"), SystemExit(), asyncio.CancelledError()], ids=repr)
def test_a_sink_that_raises_ends_the_command_and_the_output_is_kept(mark: str, error: BaseException) -> None:
    sink = Raising(error, "ready")
    with pytest.raises(ExecutionError, match="the receiver of updates raised") as caught:
        execute("trap 'echo bye; exit' TERM; echo ready; sleep 600 & wait", sink)
    assert caught.value.__cause__ is error
    assert caught.value.state is RunState.CALLBACK_ERROR
    assert caught.value.result.error is error
    assert caught.value.result.text == "ready\nbye\n"
    assert len([view for view in sink.views if "ready" in view.text]) == 1
    assert marked_processes(mark) == []


def test_a_command_that_does_not_hear_term_is_killed(child: Callable[..., list[str]], mark: str) -> None:
    result = start(child("ignore_requests.py"), Raising(ValueError("bad"), "ready\n")).wait()
    assert (result.state, result.signal) == (RunState.CALLBACK_ERROR, "SIGKILL")
    assert result.text == "ready\nSIGTERM\n"
    assert marked_processes(mark) == []


def test_a_sink_that_raises_at_the_last_update_fails_the_run() -> None:
    error = ValueError("bad")
    sink = Raising(error, "")
    result = start("true", sink).wait()
    assert (result.state, result.exit_code) == (RunState.CALLBACK_ERROR, 0)
    assert result.error is error
    assert len(sink.updates) == 1


# --- the pipe


def test_a_command_that_closes_its_output_but_runs_on_is_still_running() -> None:
    result = execute("echo shown; exec > /dev/null 2>&1; sleep 0.5; exit 7")
    assert (result.exit_code, result.text) == (7, "shown\n")


def test_a_descendant_that_holds_the_pipe_is_not_waited_for_and_lives_on(tmp_path: Path) -> None:
    gate, survived = tmp_path / "gate", tmp_path / "survived"
    os.mkfifo(gate)
    later = f"read word < {gate}; echo later; echo later; echo alive > {survived}"
    result = execute(f"({later}) & echo done")
    assert (result.state, result.exit_code, result.text) == (RunState.EXITED, 0, "done\n")
    assert result.duration >= 0.5
    # Now that the run is over it prints, and nothing happens to it.
    end = os.open(gate, os.O_RDWR)
    os.write(end, b"go\n")
    assert eventually(survived.exists)
    os.close(end)
    assert result.text == "done\n"


def test_a_descendant_that_left_the_group_does_not_hang_a_stop(mark: str) -> None:
    recorder = Recorder()
    run = start([sys.executable, "-c", DETACHED], recorder)
    recorder.wait_for("ready\n")
    run.stop()
    assert run.wait().state is RunState.STOPPED
    for process in marked_processes(mark):
        process.kill()


DETACHED = """
import os, time
if os.fork() == 0:
    os.setsid()
    print("ready", flush=True)
time.sleep(600)
"""


# --- handles


def test_every_thread_that_waits_gets_the_same_result() -> None:
    recorder = Recorder()
    run = start("echo ready; sleep 600", recorder)
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(run.wait) for _ in range(8)]
        recorder.wait_for("ready\n")
        run.stop()
        results = {id(future.result()) for future in waiting}
    assert results == {id(run.result())}


def test_a_result_before_the_end_is_an_error(tmp_path: Path) -> None:
    run = start("sleep 600")
    with pytest.raises(RuntimeError, match="the run of 'sleep 600' is not over"):
        run.result()
    run.stop()
    run.wait()


def test_callbacks_are_called_once_before_and_after_the_end(tmp_path: Path) -> None:
    called: list[tuple[str, bool]] = []
    os.mkfifo(tmp_path / "gate")
    run = start(f"read word < {tmp_path}/gate")
    run.add_done_callback(lambda: called.append(("first", run.done)))
    run.add_done_callback(lambda: called.append(("second", run.result().exit_code == 1)))
    assert called == []
    (tmp_path / "gate").write_text("")
    run.wait()
    assert eventually(lambda: len(called) == 2)
    run.add_done_callback(lambda: called.append(("late", run.done)))
    assert called == [("first", True), ("second", True), ("late", True)]


@pytest.mark.parametrize("error", [ValueError("bad"), SystemExit()], ids=repr)
def test_a_callback_that_raises_does_not_keep_the_others_from_knowing(
    caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    called: list[str] = []

    def bad() -> None:
        raise error

    recorder = Recorder()
    run = start("echo ready; sleep 600", recorder)
    run.add_done_callback(bad)
    run.add_done_callback(lambda: called.append("good"))
    run.stop()
    run.wait()
    assert eventually(lambda: called == ["good"])
    assert [record.exc_info[1] for record in caplog.records if record.exc_info] == [error]


def test_a_second_stop_ends_a_command_whose_receiver_blocks(mark: str) -> None:
    blocked, release = threading.Event(), threading.Event()

    def block(update: Update) -> None:
        blocked.set()
        release.wait()

    run = start("trap '' INT TERM; echo ready; while :; do sleep 0.1; done", block)
    assert blocked.wait(60)
    run.stop()
    assert marked_processes(mark)
    run.stop()
    assert eventually(lambda: marked_processes(mark) == [])
    assert not run.done
    release.set()
    assert run.wait().state is RunState.STOPPED


def test_a_defect_of_ours_is_raised_where_somebody_waits_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, mark: str, cache_home: Path
) -> None:
    feed = Pump.feed

    def broken(self: Pump, data: bytes) -> None:
        feed(self, data)
        raise ZeroDivisionError("defect")

    monkeypatch.setattr(Pump, "feed", broken)
    with pytest.raises(RuntimeError, match=r"broke off.*defect") as caught:
        execute(at_once(3000) + "; sleep 600")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert marked_processes(mark) == []
    assert list(module._running) == []
    assert sorted(path.name for path in files(cache_home)) == ["lock", "output.log", "record.json"]


def test_a_command_that_can_not_be_ended_does_not_hang_the_run(monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    # As one that runs as another user, or hangs in the kernel.
    monkeypatch.setattr(Process, "signal", lambda self, number: None)
    monkeypatch.setattr("boundcap_jupyter.running.ending.END_LADDER", ((0.0, signal.SIGTERM),))
    monkeypatch.setattr("boundcap_jupyter.running.loop.UNKILLABLE", 0.1)
    result = start("echo ready; exec sleep 600", timeout=0.5).wait()
    assert (result.state, result.exit_code, result.signal) == (RunState.TIMEOUT, None, None)
    (process,) = marked_processes(mark)
    assert f"process {process.pid} could not be ended" in result.status.detail
    process.kill()
    assert eventually(lambda: not psutil.pid_exists(process.pid))


def test_without_pidfd_everything_is_the_same(monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    assert execute("echo hello; exit 3").exit_code == 3
    assert execute("exec > >(cat); echo a; echo LAST").text == "a\nLAST\n"
    assert execute("exec > /dev/null 2>&1; sleep 0.2; exit 7").exit_code == 7
    assert start("echo before; sleep 600", timeout=0.5).wait().state is RunState.TIMEOUT
    recorder = Recorder()
    run = start("echo ready; exec sleep 600", recorder)
    recorder.wait_for("ready\n")
    run.stop()
    assert run.wait().signal == "SIGINT"
    assert marked_processes(mark) == []


# --- this process


def test_many_runs_leave_nothing_behind() -> None:
    execute("true")
    process = psutil.Process()

    def held() -> tuple[int, int, int]:
        return process.num_fds(), process.num_threads(), len(process.children())

    before = held()
    for _ in range(300):
        assert execute("true").exit_code == 0
    # Less is fine: the thread of the first run may just have been about to end.
    assert eventually(lambda: all(now <= then for now, then in zip(held(), before, strict=True))), (before, held())
    assert list(module._running) == []


def test_an_interpreter_that_exits_leaves_no_command_running(
    tmp_path: Path, child: Callable[..., list[str]], mark: str
) -> None:
    done = interpreter(*child("exit_while_running.py", tmp_path / "pid"))
    assert (done.returncode, done.stderr) == (0, "")
    pid = int((tmp_path / "pid").read_text())
    assert eventually(lambda: not psutil.pid_exists(pid))
    assert eventually(lambda: marked_processes(mark) == [])


def test_an_interpreter_that_exits_while_commands_start_leaves_none(child: Callable[..., list[str]], mark: str) -> None:
    for _ in range(3):
        assert interpreter(*child("exit_while_starting.py")).returncode == 0
        assert eventually(lambda: marked_processes(mark) == [])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_that_exits_does_not_end_what_its_parent_runs(
    tmp_path: Path, child: Callable[..., list[str]]
) -> None:
    done = interpreter(*child("fork_while_running.py", tmp_path / "gate"))
    assert done.stdout == "exited 5\n", done.stderr


# --- the standard error apart


def test_outputs_are_merged_in_the_order_in_which_they_were_written():
    result = execute("for i in $(seq 500); do echo out $i; echo err $i >&2; done")
    assert result.text == "".join(f"out {number}\nerr {number}\n" for number in range(1, 501))
    assert result.stderr is None


def test_outputs_that_are_kept_apart_have_their_own_totals_updates_and_spills():
    output, errors = Recorder(), Recorder()
    options = ExecOptions(limits=OutputLimits(max_lines=100), stderr="separate")
    result = LocalEnv().exec(
        "for i in $(seq 500); do echo out $i; echo err $i >&2; done; printf x >&2", options, output, errors
    )
    assert totals(result) == (500 * 4 + 1392 + 500, 500)
    assert result.stderr_view is not None
    assert result.stderr_view.metadata.truncation.total_lines == 501
    assert result.text.splitlines() == [f"out {number}" for number in range(401, 501)]
    assert result.stderr == "".join(f"err {number}\n" for number in range(402, 501)) + "x"
    assert (output.view, errors.view) == (result.view, result.stderr_view)
    paths = [Path(view.metadata.spill_path) for view in (result.view, result.stderr_view)]
    assert [path.name for path in paths] == ["output.log", "stderr.log"]
    assert paths[0].parent == paths[1].parent
    assert paths[0].read_text() == "".join(f"out {number}\n" for number in range(1, 501))
    assert paths[1].read_text() == "".join(f"err {number}\n" for number in range(1, 501)) + "x"


def test_a_small_error_beside_a_flood_has_no_spill():
    options = ExecOptions(stderr="separate")
    result = LocalEnv().exec("seq 1 100000; echo small >&2", options)
    assert result.spill_path is not None
    assert result.stderr_view.metadata.spill_path is None
    assert result.stderr == "small\n"
