"""Disks that are full, slow, missing or watched: what a run makes of them, with real commands."""

from __future__ import annotations

import errno
import json
import logging
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.running import local
from boundcap_jupyter.running.environment import Command, ExecOptions, ExecResult, ExecutionError
from boundcap_jupyter.running.history import latest_runs
from boundcap_jupyter.running.local import LocalEnv
from boundcap_jupyter.running.lock import FileLock
from boundcap_jupyter.running.record import read_record
from boundcap_jupyter.running.settings import BY_NAME
from boundcap_jupyter.running.store import LOCK, Session
from boundcap_jupyter.running.sweep import sweep, sweep_in_background
from tests.running.observe import PATIENCE, Recorder, eventually

FAULTS = [errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EIO]
MIB = 1024**2


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session of this test's own: a warning is said once in each."""
    session = Session()
    monkeypatch.setattr(local, "SESSION", session)
    return session


def execute(command: Command, recorder: Recorder | None = None, **options: object) -> ExecResult:
    """What the run came to, whatever that was."""
    try:
        return LocalEnv().exec(command, ExecOptions(**options), recorder)  # type: ignore[arg-type]  # brevity
    except ExecutionError as error:
        return error.result


def facts(result: ExecResult) -> tuple[str, int, int | None]:
    """The state of the spill, the bytes that it is said to have, and those that it has."""
    metadata = result.view.metadata
    path = metadata.spill_path
    return metadata.spill_state, metadata.spill_bytes, None if path is None else os.path.getsize(path)


@pytest.fixture
def disk_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    """Make files take so many bytes and then fail in such a way."""

    def install(room: int, number: int) -> None:
        real = os.write
        left = room

        def write(fd: int, data: memoryview) -> int:
            nonlocal left
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return real(fd, data)
            if left == 0:
                raise OSError(number, os.strerror(number))
            written = real(fd, data[:left])
            left -= written
            return written

        monkeypatch.setattr(os, "write", write)

    return install


# --- a disk that fails


@pytest.mark.parametrize("number", FAULTS, ids=errno.errorcode.get)
def test_by_default_a_run_fails_that_the_disk_did_not_keep(disk_of: Callable[[int, int], None], number: int) -> None:
    disk_of(100_000, number)
    result = execute("seq 300000; sleep 600")
    assert result.state is RunState.SPILL_ERROR
    assert os.strerror(number) in result.status.detail
    assert result.text
    state, said, size = facts(result)
    # The record of the run took some of the room.
    assert (state, said) == ("incomplete", size)
    assert 0 < said <= 100_000


@pytest.mark.parametrize("number", FAULTS, ids=errno.errorcode.get)
def test_on_request_it_runs_on_and_says_what_was_kept(disk_of: Callable[[int, int], None], number: int) -> None:
    disk_of(100_000, number)
    recorder = Recorder()
    result = execute("seq 300000", recorder, on_spill_failure="continue")
    assert (result.state, result.exit_code) == (RunState.EXITED, 0)
    assert result.text.split()[-1] == "300000"
    assert (result.truncation.total_bytes, result.truncation.total_lines) == (1_988_895, 300_000)
    state, said, size = facts(result)
    assert (state, said) == ("incomplete", size)
    assert 0 < said <= 100_000
    assert os.strerror(number) in result.status.detail
    assert recorder.view == result.view


@pytest.mark.parametrize("policy", ["fail", "continue"])
def test_a_store_that_can_not_be_made_is_no_dead_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    result = execute("seq 300000", on_spill_failure=policy)
    assert result.state is (RunState.EXITED if policy == "continue" else RunState.SPILL_ERROR)
    assert facts(result) == ("incomplete", 0, None)
    caplog.clear()
    hello = execute("echo hello")
    assert (hello.text, hello.exit_code, hello.state) == ("hello\n", 0, RunState.EXITED)
    # The first run has said it.
    assert caplog.messages == []


def test_a_small_output_on_a_broken_store_is_shown_with_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    for _ in range(3):
        hello = execute("echo hello")
        assert (hello.text, hello.exit_code) == ("hello\n", 0)
    assert caplog.messages == [
        f"complete outputs cannot be kept: {tmp_path}/file is not a directory (said once; small outputs need no file)"
    ]
    assert caplog.records[0].levelno == logging.WARNING


@pytest.mark.parametrize("policy", ["fail", "continue"])
def test_a_command_that_removes_the_store_leaves_no_dead_link(cache_home: Path, policy: str) -> None:
    result = execute(f"seq 300000; rm -r {cache_home}/boundcap; echo end", on_spill_failure=policy)
    assert result.state is (RunState.EXITED if policy == "continue" else RunState.SPILL_ERROR)
    assert result.exit_code == 0
    assert result.text.endswith("300000\nend\n")
    assert facts(result) == ("incomplete", 0, None)
    assert "somebody removed the file" in result.status.detail


def test_a_store_that_can_not_even_be_looked_at_is_no_reason_to_show_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A name that is too long, and one below a directory that was removed."""
    monkeypatch.setenv("BOUNDCAP_DIR", str(tmp_path / ("x" * 300)))
    assert execute("echo hello").text == "hello\n"
    assert execute("seq 300000").state is RunState.SPILL_ERROR
    assert sweep_in_background() is None
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setenv("BOUNDCAP_DIR", "relative")
    # No shell, which would complain of the directory.
    assert execute(["echo", "hello"]).text == "hello\n"
    assert execute("seq 300000").state is RunState.SPILL_ERROR
    assert sweep_in_background() is None
    monkeypatch.chdir("/")
    first, *others = caplog.messages
    assert first.startswith("complete outputs cannot be kept: ")
    assert "File name too long" in first
    # The sweeps, which are another matter.
    assert {message.partition(":")[0] for message in others} <= {"nothing old is removed"}


def test_a_store_that_works_is_worth_no_word(caplog: pytest.LogCaptureFixture) -> None:
    execute("echo hello")
    execute("seq 3000")
    assert caplog.messages == []


def test_what_is_not_to_be_kept_needs_no_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    result = execute("seq 300000", spill=False)
    assert (result.state, result.exit_code) == (RunState.EXITED, 0)
    assert caplog.messages == []


def may_mount() -> bool:
    unshare = shutil.which("unshare")
    return unshare is not None and subprocess.run([unshare, "-rm", "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not may_mount(), reason="no file system can be mounted here")
@pytest.mark.parametrize("policy", ["fail", "continue"])
def test_a_full_disk_of_a_megabyte(child: Callable[..., list[str]], tmp_path: Path, policy: str) -> None:
    command = ["unshare", "-rm", *child("full_disk.py", tmp_path, policy)]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=PATIENCE * 5)
    found = json.loads(done.stdout)
    assert found["hello"] == ["hello\n", 0]
    assert found["detail"] == "the complete output could not be kept: No space left on device"
    assert found["spill_state"] == "incomplete"
    assert 0 < found["spill_bytes"] == found["file"] <= MIB
    if policy == "continue":
        assert (found["state"], found["exit_code"]) == ("exited", 0)
        assert (found["last"], found["bytes"]) == ("LAST", 1_988_900)
    else:
        assert found["state"] == "spill_error"


LIMITED = """
import resource
from boundcap_jupyter import run
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
result = run("seq 300000", on_spill_failure="continue")
metadata = result.view.metadata
print(result.exit_code, result.truncation.total_bytes, metadata.spill_state, metadata.spill_bytes)
print(result.status.detail)
"""


def test_a_limit_on_the_size_of_files_is_a_failure_like_any_other() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, check=True, text=True)
    figures, detail = done.stdout.splitlines()
    assert figures == "0 1988895 incomplete 300000"
    assert detail == "the complete output could not be kept: File too large"
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 300_000


# --- a disk that is watched


@pytest.mark.parametrize("policy", ["fail", "continue"])
def test_a_flood_keeps_at_most_what_a_run_may_keep(policy: str) -> None:
    # `yes` itself where it is ended; a flood that ends where it runs on.
    command = "yes" if policy == "fail" else "yes | head -c 80000000"
    result = execute(command, on_spill_failure=policy, max_spill_bytes=50 * MIB)
    assert facts(result) == ("incomplete", 50 * MIB, 50 * MIB)
    assert "the limit of 52,428,800 bytes a run was reached (max_spill_bytes)" in result.status.detail
    if policy == "continue":
        assert (result.state, result.exit_code) == (RunState.EXITED, 0)
        assert result.truncation.total_bytes == 80_000_000
    else:
        assert (result.state, result.signal) == (RunState.SPILL_ERROR, "SIGTERM")


def test_an_output_of_exactly_the_limit_is_complete() -> None:
    result = execute("yes | head -c 1000000", max_spill_bytes=1_000_000)
    assert facts(result) == ("complete", 1_000_000, 1_000_000)


def test_both_outputs_share_the_limit() -> None:
    script = "yes | head -c 300000; yes | head -c 300000 >&2"
    result = execute(script, stderr="separate", max_spill_bytes=400_000, on_spill_failure="continue")
    assert result.stderr_view is not None
    sizes = [view.metadata.spill_bytes for view in (result.view, result.stderr_view)]
    assert sum(sizes) == 400_000
    assert "max_spill_bytes" in result.status.detail


def test_the_environment_sets_the_limit_unless_an_argument_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUNDCAP_MAX_SPILL_BYTES", "100k")
    assert facts(execute("seq 300000"))[1] == 100 * 1024
    assert facts(execute("seq 300000", max_spill_bytes=0))[0] == "complete"


@pytest.mark.parametrize("name", ["max_spill_bytes", "min_free_bytes"])
def test_a_wrong_setting_is_an_error_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    variable = BY_NAME[name].variable
    monkeypatch.setenv(variable, "plenty")
    with pytest.raises(ValueError, match=f"{variable} must be .*, not 'plenty'"):
        execute(f"touch {tmp_path}/ran")
    assert list(tmp_path.iterdir()) == []


def test_what_must_stay_free_stays_free(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("BOUNDCAP_MIN_FREE_BYTES", "900000G")
    result = execute("seq 300000")
    assert result.state is RunState.SPILL_ERROR
    assert "bytes are free on the disk, and 966,367,641,600,000 must stay free (min_free_bytes)" in result.status.detail
    assert len(caplog.messages) == 1
    assert "must stay free" in caplog.text


def test_a_run_that_reads_the_whole_store_ends_by_its_limit(cache_home: Path) -> None:
    execute("seq 100000")
    result = execute(f"while :; do cat {cache_home}/boundcap/*/*/output.log; done", max_spill_bytes=5 * MIB)
    assert result.state is RunState.SPILL_ERROR
    assert facts(result) == ("incomplete", 5 * MIB, 5 * MIB)


# --- a disk that is slow


class SlowDisk:
    """Takes one write each time it is let."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waiting = threading.Semaphore(0)
        self._turns = threading.Semaphore(0)
        self._open = False
        real = os.write

        def write(fd: int, data: memoryview) -> int:
            if not self._open and stat.S_ISREG(os.fstat(fd).st_mode):
                self.waiting.release()
                self._turns.acquire()
                return real(fd, data[: 64 * 1024])
            return real(fd, data)

        monkeypatch.setattr(os, "write", write)

    def take(self, writes: int) -> None:
        for _ in range(writes):
            assert self.waiting.acquire(timeout=PATIENCE)
            self._turns.release()

    def open(self) -> None:
        self._open = True
        self._turns.release()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowDisk]:
    disk = SlowDisk(monkeypatch)
    yield disk
    disk.open()


def test_the_command_waits_for_the_disk_nothing_is_lost_and_stop_works(slow: SlowDisk, tmp_path: Path) -> None:
    # It says how far it came, a mebibyte at a time.
    script = f"while head -c {MIB} /dev/zero | tr '\\0' '\\n'; do echo >>{tmp_path}/progress; done"
    run = LocalEnv().start(script, ExecOptions(OutputLimits(max_lines=10)))
    slow.take(16)
    # One mebibyte is on the disk. The pipe and what was read hold about another, and so the command is no further.
    assert slow.waiting.acquire(timeout=PATIENCE)
    progress = tmp_path / "progress"
    assert not progress.exists() or progress.stat().st_size <= 4
    run.stop()
    slow.open()
    result = run.wait()
    assert result.state is RunState.STOPPED
    state, said, size = facts(result)
    assert (state, said) == ("complete", size)
    assert said == result.truncation.total_bytes >= MIB


# --- an owner that dies


class Kernel:
    """A process that holds runs that spill; see tests/children/hold_runs.py."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.ids = []
        for line in self._process.stdout:
            if line == "ready\n":
                break
            self.ids.append(line.strip())

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        with self._process:
            pass


@pytest.fixture
def kernel(child: Callable[..., list[str]]) -> Iterator[Callable[[int], Kernel]]:
    kernels: list[Kernel] = []

    def start(runs: int) -> Kernel:
        kernels.append(Kernel(child("hold_runs.py", runs)))
        return kernels[-1]

    yield start
    for one in kernels:
        one.kill()


def test_the_runs_of_a_kernel_that_was_killed_are_found_and_go_when_they_are_old_enough(
    kernel: Callable[[int], Kernel], cache_home: Path
) -> None:
    root = cache_home / "boundcap"
    dead, alive = kernel(20), kernel(2)
    assert len(dead.ids) == 20
    running, _ = latest_runs(root)
    assert {run.id for run in running} == {*dead.ids, *alive.ids}
    assert {run.record.status.state for run in running if run.record} == {RunState.RUNNING}
    dead.kill()
    runs, total = latest_runs(root)
    assert total == 22
    states = {run.id: run.record.status.state for run in runs if run.record is not None}
    assert states == {**dict.fromkeys(dead.ids, RunState.INTERRUPTED), **dict.fromkeys(alive.ids, RunState.RUNNING)}
    for run in runs:
        if run.id in dead.ids:
            assert run.record is not None
            metadata = run.record.view.metadata
            spill = (run.directory / "output.log").read_bytes()
            assert metadata.spill_bytes == metadata.truncation.total_bytes == len(spill)
            assert metadata.truncation.total_lines == spill.count(b"\n") >= 3000
            assert run.record.view.text.encode() == b"".join(spill.splitlines(keepends=True)[-10:])
    now = os.stat(runs[0].directory / "record.json").st_mtime
    assert sweep(root, keep_seconds=0, store_bytes=1, now=now + 3600).removed == []
    reading = root / dead.ids[0]
    with FileLock(reading / LOCK, shared=True):
        removed = sweep(root, keep_seconds=0, store_bytes=1, now=now + 90_000).removed
    assert set(removed) == set(dead.ids[1:])
    assert reading.is_dir()
    assert all((root / name / "output.log").is_file() for name in alive.ids)


def test_two_kernels_never_meet_in_one_directory(kernel: Callable[[int], Kernel]) -> None:
    one, other = kernel(3), kernel(3)
    assert len({*one.ids, *other.ids}) == 6
    assert {name.split("/")[0] for name in one.ids}.isdisjoint(name.split("/")[0] for name in other.ids)


# --- what a run leaves


def test_a_run_with_a_spill_leaves_a_record_that_says_the_same_as_its_result() -> None:
    result = execute("seq 3000; exit 3")
    assert result.spill_path is not None
    directory = Path(result.spill_path).parent
    assert sorted(path.name for path in directory.iterdir()) == [LOCK, "output.log", "record.json"]
    found = read_record(directory)
    assert (found.view, found.status) == (result.view, result.status)
    assert (found.command, found.cwd) == ("seq 3000; exit 3", os.getcwd())
    FileLock(directory / LOCK).release()


def test_a_run_that_takes_two_seconds_leaves_a_record_a_short_one_nothing(cache_home: Path) -> None:
    execute("echo short")
    assert list(cache_home.iterdir()) == []
    result = execute("echo long; sleep 2.1")
    ((run,), _) = latest_runs(cache_home / "boundcap")
    assert run.record is not None
    assert (run.record.status, run.record.view) == (result.status, result.view)


def test_a_long_run_is_on_the_disk_while_it_runs(cache_home: Path) -> None:
    run = LocalEnv().start("echo begun; sleep 600", ExecOptions())
    try:
        assert eventually(lambda: latest_runs(cache_home / "boundcap")[0])
        ((found,), _) = latest_runs(cache_home / "boundcap")
        assert found.record is not None
        assert found.record.status.state is RunState.RUNNING
        assert found.record.view.text == "begun\n"
        with pytest.raises(BlockingIOError):
            FileLock(found.directory / LOCK)
    finally:
        run.stop()
        run.wait()


def test_no_wild_umask_opens_any_of_it(cache_home: Path) -> None:
    before = os.umask(0)
    try:
        execute("seq 3000")
    finally:
        os.umask(before)
    modes = {(path.is_dir(), stat.S_IMODE(path.lstat().st_mode)) for path in (cache_home / "boundcap").rglob("*")}
    assert modes == {(True, 0o700), (False, 0o600)}


def test_many_small_runs_leave_nothing(cache_home: Path) -> None:
    before = threading.active_count()
    for _ in range(200):
        assert execute("true").exit_code == 0
    assert list(cache_home.iterdir()) == []
    assert threading.active_count() == before
