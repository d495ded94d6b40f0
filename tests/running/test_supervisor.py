"""Real trees of processes, and real deaths: of commands, owners, supervisors and guards."""

from __future__ import annotations

import errno
import logging
import os
import pty
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.running import supervisor as program
from boundcap_jupyter.running.environment import Command, ExecOptions, ExecResult, ExecutionError
from boundcap_jupyter.running.guarded import SupervisorClient
from boundcap_jupyter.running.holders import count_holders
from boundcap_jupyter.running.local import LocalEnv, LocalRun
from tests.running.observe import Recorder, eventually, marked_processes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")

ROOT = Path(__file__).parents[2]
#: Random kills of one test run; 200 take minutes.
KILLS = int(os.environ.get("BOUNDCAP_TEST_KILLS", "40"))


def start(command: Command, sink: Any = None, **options: Any) -> LocalRun:
    return LocalEnv().start(command, ExecOptions(**options), sink)


def execute(command: Command, sink: Any = None, **options: Any) -> ExecResult:
    return LocalEnv().exec(command, ExecOptions(**options), sink)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[SupervisorClient]:
    """A supervisor of this test's own, which may die."""
    client = SupervisorClient()
    monkeypatch.setattr("boundcap_jupyter.running.process.SUPERVISOR", client)
    yield client
    client.close()


def watchers(run: LocalRun) -> tuple[psutil.Process, psutil.Process]:
    """(supervisor, guard) of a run."""
    assert run._process is not None
    guard = psutil.Process(run._process.pid).parent()
    assert guard is not None
    supervisor = guard.parent()
    assert supervisor is not None
    assert {guard.name(), supervisor.name()} == {program.NAME}
    return supervisor, guard


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def number_in(path: Path) -> int:
    assert eventually(path.exists)
    return int(path.read_text())


# --- the end of a command


def test_what_is_left_running_is_not_waited_for_reported_and_lives_on(mark: str) -> None:
    result = execute("sleep 600 & echo done")
    assert (result.state, result.exit_code, result.text, result.pipe_held) == (RunState.EXITED, 0, "done\n", 1)
    (sleeper,) = marked_processes(mark)
    guard = sleeper.parent()
    assert guard is not None
    assert guard.name() == program.NAME
    sleeper.kill()
    # It stayed for that one, and collects it.
    assert eventually(lambda: not guard.is_running() and not sleeper.is_running())


def test_each_process_that_holds_the_output_is_counted_and_none_that_does_not(mark: str) -> None:
    result = execute("sleep 600 & sleep 600 & sleep 600 > /dev/null 2>&1 & echo done")
    assert (result.text, result.pipe_held) == ("done\n", 2)
    assert len(marked_processes(mark)) == 3
    for process in marked_processes(mark):
        process.kill()


def test_what_is_left_printing_is_drained_until_it_is_killed(mark: str) -> None:
    result = execute("yes >&1 & sleep 0.2; echo fg-done", spill=False)
    assert (result.state, result.exit_code, result.pipe_held) == (RunState.EXITED, 0, 1)
    (yes,) = marked_processes(mark)
    written = yes.io_counters().write_chars
    # More than any pipe holds.
    assert eventually(lambda: yes.io_counters().write_chars > written + 8 * 1024 * 1024)
    yes.kill()


def test_outputs_apart_that_are_held_are_both_drained(mark: str) -> None:
    options = ExecOptions(stderr="separate", spill=False)
    result = LocalEnv().exec("yes & yes >&2 & echo done; sleep 0.1", options)
    assert (result.exit_code, result.pipe_held) == (0, 2)
    writers = marked_processes(mark)
    written = [process.io_counters().write_chars for process in writers]
    for process, before in zip(writers, written, strict=True):
        assert eventually(lambda p=process, b=before: p.io_counters().write_chars > b + 8 * 1024 * 1024)
        process.kill()


def test_nothing_is_held_by_a_command_that_ends_alone() -> None:
    assert execute("echo hello").pipe_held == 0


def test_what_holds_the_output_can_be_ended_and_its_last_words_are_kept(mark: str) -> None:
    later = "trap 'echo bye; exit' TERM; while :; do sleep 0.05; done"
    result = execute(f"({later}) & setsid sleep 600 & echo done", on_held="kill")
    assert (result.state, result.exit_code, result.pipe_held) == (RunState.EXITED, 0, 0)
    # Between them is what the shell says of the sleep that it waited for.
    assert result.text.startswith("done\n")
    assert result.text.endswith("bye\n")
    assert marked_processes(mark) == []


def test_what_holds_the_output_and_does_not_hear_is_killed(mark: str) -> None:
    result = execute("(trap '' TERM; while :; do sleep 0.1; done) & echo done", on_held="kill")
    assert (result.state, result.exit_code, result.text) == (RunState.EXITED, 0, "done\n")
    assert marked_processes(mark) == []


def test_a_stop_does_not_wait_for_what_is_being_ended(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boundcap_jupyter.running.ending.END_LADDER", ((0.0, signal.SIGTERM), (600.0, signal.SIGKILL)))
    recorder = Recorder()
    run = start("(trap 'echo no' TERM; echo ready; while :; do sleep 0.1; done) &", recorder, on_held="kill")
    recorder.wait_for("no\n")
    run.stop()
    result = run.wait()
    assert (result.state, result.exit_code) == (RunState.EXITED, 0)
    assert marked_processes(mark) == []


def test_what_is_not_ours_to_end_is_left_all_the_same(monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    monkeypatch.setattr("boundcap_jupyter.running.loop.Process.signal", lambda self, number: None)
    monkeypatch.setattr("boundcap_jupyter.running.ending.END_LADDER", ((0.0, signal.SIGTERM),))
    monkeypatch.setattr("boundcap_jupyter.running.loop.UNKILLABLE", 0.1)
    result = execute("sleep 600 & echo done", on_held="kill")
    assert (result.exit_code, result.text, result.pipe_held) == (0, "done\n", 1)
    for process in marked_processes(mark):
        process.kill()


# --- ending it


def test_a_tree_that_does_not_hear_term_is_gone_after_a_timeout(mark: str) -> None:
    with pytest.raises(ExecutionError) as caught:
        execute("echo kept; trap '' TERM; bash -c 'trap \"\" TERM; sleep 600' & wait", timeout=1)
    result = caught.value.result
    assert (result.state, result.signal, result.text) == (RunState.TIMEOUT, "SIGKILL", "kept\n")
    assert marked_processes(mark) == []


@pytest.mark.parametrize("stops", [1, 2])
def test_who_runs_away_is_reached_by_a_stop(child: Callable[..., list[str]], tmp_path: Path, stops: int) -> None:
    recorder = Recorder()
    run = start(child("escape.py", tmp_path / "pid"), recorder)
    recorder.wait_for("ready\n")
    runaway = number_in(tmp_path / "pid")
    assert eventually(lambda: psutil.Process(runaway).name() == "sleep")
    assert psutil.Process(runaway).environ() == {}
    assert os.getsid(runaway) not in (run._process.pid, runaway)  # type: ignore[union-attr]
    for _ in range(stops):
        run.stop()
    assert run.wait().state is RunState.STOPPED
    # Not before it was gone: nothing has to be waited for.
    assert not psutil.pid_exists(runaway)


def test_who_runs_away_is_reached_by_a_timeout(child: Callable[..., list[str]], tmp_path: Path) -> None:
    result = start(child("escape.py", tmp_path / "pid"), timeout=3).wait()
    assert result.state is RunState.TIMEOUT
    assert not psutil.pid_exists(number_in(tmp_path / "pid"))


HOP = """
import os, signal
if os.fork():
    os.wait()
    signal.pause()
print("ready", flush=True)
for _ in range(100_000):  # a minute, should it get away
    os.fork() and os._exit(0)
    os.setsid()
"""


def test_who_hops_from_process_to_process_faster_than_anyone_can_look_is_killed(mark: str) -> None:
    recorder = Recorder()
    run = start([sys.executable, "-S", "-c", HOP], recorder)
    recorder.wait_for("ready\n")
    run.stop()
    run.stop()
    run.wait()
    assert marked_processes(mark) == []


def test_an_interrupt_reaches_every_process_once(
    child: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boundcap_jupyter.running.ending.STOP_LADDER", ((0.0, signal.SIGINT), (1.0, signal.SIGTERM)))
    recorder = Recorder()
    count = " ".join(child("count_interrupts.py"))
    nested = f"setsid sh -c 'trap : INT TERM; {count} & wait; wait'"
    run = start(f"trap : INT TERM; {count} & setsid {count} & {nested} & wait; wait", recorder)
    recorder.wait_for("ready\nready\nready\n")
    run.stop()
    assert sorted(run.wait().text.split()) == sorted(3 * ["ready", "heard1"])


def test_a_command_of_a_command_is_interrupted_once(child: Callable[..., list[str]]) -> None:
    recorder = Recorder()
    nested = child("save_on_interrupt.py", 0.5)
    run = start([*child("run_nested.py"), *nested], recorder, env={"PYTHONPATH": str(ROOT)})
    recorder.wait_for("ready\n")
    run.stop()
    result = run.wait()
    assert result.state is RunState.STOPPED
    assert "saving\nsaved\n" in result.text


def test_killing_a_command_ends_the_commands_of_it(child: Callable[..., list[str]], mark: str) -> None:
    recorder = Recorder()
    run = start([*child("run_nested.py"), *child("ignore_requests.py")], recorder, env={"PYTHONPATH": str(ROOT)})
    recorder.wait_for("ready\n")
    run.stop()
    run.stop()
    assert run.wait().signal == "SIGKILL"
    assert marked_processes(mark) == []


# --- deaths


@pytest.fixture
def owner(child: Callable[..., list[str]], mark: str, tmp_path: Path) -> Iterator[Callable[..., Owner]]:
    owners: list[Owner] = []

    def make(kind: str, script: str | None = None) -> Owner:
        runaway = " ".join(child("escape.py", tmp_path / "pid"))
        tree = f"echo $$ > {tmp_path}/leader; {runaway} & sleep 600 & echo ready; trap : TERM; wait; sleep 600"
        owners.append(Owner([*child("own_a_command.py", kind), script or tree]))
        return owners[-1]

    yield make
    for each in owners:
        each.close()


class Owner:
    """A process that owns a command, the command's tree, and who watches over it."""

    def __init__(self, argv: list[str]) -> None:
        self.popen = subprocess.Popen(
            argv, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        assert self.line() == "ready"

    def line(self) -> str:
        assert self.popen.stdout is not None
        return self.popen.stdout.readline().strip()

    def watch(self, tmp_path: Path) -> None:
        self.leader = psutil.Process(number_in(tmp_path / "leader"))
        self.runaway = psutil.Process(number_in(tmp_path / "pid"))
        guard = self.leader.parent()
        assert guard is not None
        supervisor = guard.parent()
        assert supervisor is not None
        self.guard, self.supervisor = guard, supervisor

    def close(self) -> None:
        self.popen.kill()
        self.popen.wait()
        assert self.popen.stdout is not None
        self.popen.stdout.close()


def kill(*processes: psutil.Process) -> None:
    """At one moment, as far as others can see: nobody acts between."""
    for process in processes:
        process.suspend()
    for process in processes:
        process.kill()


@pytest.mark.parametrize("kind", ["stay", "fork"])
@pytest.mark.parametrize("together", [False, True], ids=["owner", "owner and supervisor"])
def test_who_loses_its_owner_is_ended(
    owner: Callable[..., Owner], mark: str, tmp_path: Path, kind: str, together: bool
) -> None:
    it = owner(kind)
    it.watch(tmp_path)
    forked = [process.pid for process in psutil.Process(it.popen.pid).children()]
    assert len(forked) == (kind == "fork")
    killed = psutil.Process(it.popen.pid)
    kill(*([killed, it.supervisor] if together else [killed]))
    assert eventually(lambda: not it.runaway.is_running())
    assert eventually(lambda: {process.pid for process in marked_processes(mark)} <= {it.popen.pid, *forked})
    assert eventually(lambda: not it.guard.is_running() and not it.supervisor.is_running())
    for pid in forked:
        os.kill(pid, signal.SIGKILL)


def test_an_owner_that_dies_leaves_alone_what_outlived_its_run(owner: Callable[..., Owner], mark: str) -> None:
    it = owner("stay", "yes & echo done")
    assert it.line() == "exited"
    yes = next(process for process in marked_processes(mark) if process.name() == "yes")
    it.close()
    written = yes.io_counters().write_chars
    # It is still drained, far beyond what a pipe holds.
    assert eventually(lambda: yes.io_counters().write_chars > written + 64 * 1024 * 1024)
    guard = yes.parent()
    assert guard is not None
    yes.kill()
    assert eventually(lambda: not guard.is_running())


def test_a_command_that_loses_its_supervisor_is_ended_and_the_owner_says_so(
    owner: Callable[..., Owner], tmp_path: Path
) -> None:
    it = owner("stay")
    it.watch(tmp_path)
    it.supervisor.kill()
    assert it.line().startswith("worker_lost the supervisor of this session's commands was killed")
    assert eventually(lambda: not it.runaway.is_running() and not it.leader.is_running() and not it.guard.is_running())


def test_a_command_that_loses_its_guard_is_ended_and_the_owner_says_so(
    owner: Callable[..., Owner], tmp_path: Path, mark: str
) -> None:
    it = owner("stay")
    it.watch(tmp_path)
    it.guard.kill()
    assert it.line().startswith("worker_lost the process that watched over the command was killed")
    assert eventually(lambda: not it.runaway.is_running() and not it.leader.is_running())
    assert eventually(lambda: [process.pid for process in marked_processes(mark)] == [it.popen.pid])


def test_a_command_that_loses_supervisor_and_guard_is_ended_as_far_as_its_session_goes(
    owner: Callable[..., Owner], tmp_path: Path, mark: str
) -> None:
    it = owner("stay")
    it.watch(tmp_path)
    kill(it.supervisor, it.guard)
    assert it.line().startswith("worker_lost")
    assert eventually(lambda: [process.pid for process in marked_processes(mark)] == [it.popen.pid])
    # Nobody is left who knows of the one that ran away.
    assert it.runaway.is_running()
    it.runaway.kill()


def test_when_all_who_watch_are_killed_at_once_the_command_itself_is_too(
    owner: Callable[..., Owner], tmp_path: Path, mark: str
) -> None:
    it = owner("stay")
    it.watch(tmp_path)
    kill(psutil.Process(it.popen.pid), it.supervisor, it.guard)
    assert eventually(lambda: not is_alive(it.leader.pid))
    # The limit of what can be done: nobody is left who would end the rest.
    assert is_alive(it.runaway.pid)
    it.runaway.kill()
    for process in marked_processes(mark):
        process.kill()


def test_a_supervisor_that_died_is_replaced(client: SupervisorClient, caplog: pytest.LogCaptureFixture) -> None:
    run = start("read word; sleep 0.2")
    supervisor, _ = watchers(run)
    assert run.wait().exit_code == 0
    supervisor.kill()
    assert eventually(lambda: not is_alive(supervisor.pid))
    again = start("echo again; sleep 0.2; exit 3")
    assert watchers(again)[0] != supervisor
    assert (again.wait().text, again.wait().exit_code) == ("again\n", 3)
    assert caplog.records == []


def test_a_supervisor_that_dies_during_a_run_costs_that_run_only(client: SupervisorClient, mark: str) -> None:
    recorder = Recorder()
    run = start("echo ready; sleep 600 & sleep 600", recorder)
    recorder.wait_for("ready\n")
    watchers(run)[0].kill()
    result = run.wait()
    assert (result.state, result.signal, result.text) == (RunState.WORKER_LOST, "SIGTERM", "ready\n")
    with pytest.raises(ExecutionError, match="the supervisor of this session's commands was killed"):
        result.check()
    assert marked_processes(mark) == []
    assert execute("echo again").text == "again\n"


def test_a_supervisor_that_dies_while_a_command_starts_is_no_second_start(client: SupervisorClient) -> None:
    """A command that may have run is not run again."""
    run = start("sleep 0.2")
    supervisor, _ = watchers(run)
    run.wait()
    supervisor.suspend()
    with ThreadPoolExecutor(1) as pool:
        lost = pool.submit(start, "echo twice")
        time.sleep(0.3)
        assert not lost.done()
        supervisor.kill()
        result = lost.result().wait()
    assert (result.state, result.exit_code) == (RunState.WORKER_LOST, None)
    assert "while the command was starting" in result.status.detail
    assert execute("echo again").text == "again\n"


def test_a_supervisor_short_of_file_descriptors_refuses_runs_and_goes_on_with_those_it_has(
    client: SupervisorClient, mark: str
) -> None:
    run = start("sleep 600")
    supervisor, _ = watchers(run)
    _, most = supervisor.rlimit(psutil.RLIMIT_NOFILE)
    details = set()
    # At least one: without any, it could not answer.
    for free in range(2, 12):
        supervisor.rlimit(psutil.RLIMIT_NOFILE, (supervisor.num_fds() + free, most))
        result = start("echo hello").wait()
        assert (result.state, result.text) in ((RunState.EXITED, "hello\n"), (RunState.SPAWN_ERROR, ""))
        details.add(result.status.detail.rpartition(": ")[2])
    assert details == {"", "Too many open files"}
    assert supervisor.is_running()
    supervisor.rlimit(psutil.RLIMIT_NOFILE, (most, most))
    assert execute("echo again").text == "again\n"
    assert not run.done
    run.stop()
    run.wait()


def test_what_is_left_of_earlier_runs_outlives_supervisor_and_guards(client: SupervisorClient, mark: str) -> None:
    execute("sleep 600 & echo done")
    (left,) = marked_processes(mark)
    run = start("exec sleep 600")
    supervisor, guard = watchers(run)
    # The guard of what was left, then that of a run: the supervisor inherits from both.
    left.parent().kill()  # type: ignore[union-attr]
    assert eventually(lambda: left.ppid() == supervisor.pid)
    guard.kill()
    assert run.wait().state is RunState.WORKER_LOST
    assert is_alive(left.pid)
    left.kill()
    assert eventually(lambda: not psutil.pid_exists(left.pid))


# --- where it starts


def test_signals_that_the_kernel_ignores_are_heard_by_commands() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ask = "import signal; print(signal.getsignal(signal.SIGINT), signal.pthread_sigmask(0, []))"
        assert "default_int_handler" in execute([sys.executable, "-c", ask]).text
    finally:
        signal.signal(signal.SIGINT, before)
    state = execute(["grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"]).text
    assert state.split() == ["SigBlk:", "0" * 16, "SigIgn:", "0" * 16]


def test_the_umask_is_that_of_the_moment(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        assert execute("umask").text == "0027\n"
    finally:
        os.umask(before)
    assert execute("umask").text == f"{before:04o}\n"


def test_it_runs_where_the_kernel_is_even_if_the_directory_has_no_name_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert execute(["readlink", "/proc/self/cwd"]).text == f"{gone} (deleted)\n"


def test_an_environment_as_large_as_the_system_takes_arrives_whole() -> None:
    variables = {f"V{number}": "x" * 10_000 for number in range(100)}
    result = execute("echo ${#V0} ${#V99}; env | wc -c", env=variables)
    first, size = result.text.splitlines()
    assert first == "10000 10000"
    assert int(size) > 1_000_000


def test_a_command_has_three_files_and_no_other() -> None:
    assert execute("ls -x /proc/$$/fd; exit").text.split() == ["0", "1", "2"]


def test_a_terminal_as_input_is_the_terminal_of_the_command() -> None:
    ours, theirs = pty.openpty()
    client = SupervisorClient()
    try:
        child = client.start(["sh", "-c", "echo heard > /dev/tty"], dict(os.environ), None, (theirs, theirs, theirs))
        assert child is not None
        assert os.read(ours, 100) == b"heard\r\n"
        assert child.reap(20) == 0
    finally:
        client.close()
        os.close(ours)
        os.close(theirs)


# --- without one


@pytest.mark.parametrize("executable", ["/bin/false", "/nonexistent", ""])
def test_where_no_supervisor_can_start_commands_run_all_the_same_and_it_is_said_once(
    client: SupervisorClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, executable: str
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    for _ in range(2):
        assert execute("echo hello; exit 3").exit_code == 3
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "without a supervisor" in record.getMessage()


def test_a_forked_child_has_a_supervisor_of_its_own(client: SupervisorClient) -> None:
    mine = start("sleep 0.5")
    supervisor, _ = watchers(mine)
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            client.forget()
            child = client.start(["sleep", "600"], dict(os.environ), None, (0, 1, 2))
            assert child is not None
            theirs = psutil.Process(child.pid).parents()[1].pid
            child.signal(signal.SIGKILL)
            os.write(write_end, f"{theirs} {child.reap(20)}".encode())
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    other, code = os.read(read_end, 100).split()
    os.close(read_end)
    os.close(write_end)
    assert int(other) != supervisor.pid
    assert code == b"-9"
    # The parent's is untouched.
    assert mine.wait().exit_code == 0


# --- facts


def test_the_time_of_the_processor_is_that_of_the_whole_tree() -> None:
    burn = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    python = f"{sys.executable} -S -c '{burn}'"
    result = execute(f"{python} & setsid {python}; wait")
    assert result.cpu_time is not None
    assert 0.6 <= result.cpu_time < 5
    short = execute("true").cpu_time
    assert short is not None
    assert 0 <= short < 0.5


def test_the_peak_of_memory_is_that_of_the_whole_tree() -> None:
    hold = f"{sys.executable} -S -c 'import time; held = bytearray(60_000_000); time.sleep(2)'"
    result = execute(f"{hold} & setsid {hold}; wait")
    assert result.peak_memory is not None
    assert 120_000_000 < result.peak_memory < 250_000_000
    assert execute("true").peak_memory is None


def test_the_time_of_the_processor_is_known_without_a_supervisor(unsupervised: None) -> None:
    result = execute([sys.executable, "-S", "-c", "sum(range(5_000_000))"])
    assert result.cpu_time is not None
    assert 0.01 < result.cpu_time < 10
    assert result.peak_memory is None


# --- processes and pipes


def test_a_process_with_a_hostile_name_is_read_right(tmp_path: Path) -> None:
    hostile = tmp_path / ") R 1 2 3 ("
    hostile.symlink_to("/bin/sleep")
    with subprocess.Popen([hostile, "600"], start_new_session=True) as process:
        entry = program.look(process.pid)
        assert entry is not None
        assert eventually(lambda: program.look(process.pid).name == hostile.name.encode())  # type: ignore[union-attr]
        entry = program.look(process.pid)
        assert entry is not None
        assert (entry.parent, entry.group, entry.session) == (os.getpid(), process.pid, process.pid)
        assert entry.is_alive
        process.kill()
        assert eventually(lambda: not program.look(process.pid).is_alive)  # type: ignore[union-attr]
    assert program.look(process.pid) is None


def entries(*rows: tuple[int, int, int]) -> dict[int, program.Entry]:
    """(number, parent, session)"""
    return {
        pid: program.Entry(pid, f"{pid} (x) S {parent} {pid} {session} {' 0' * 20}".encode())
        for pid, parent, session in rows
    }


def test_below_is_every_generation_and_who_shares_a_session_with_one() -> None:
    table = entries(
        (10, 1, 10),  # the guard's parent
        (11, 10, 10),  # the guard
        (12, 11, 12),  # the command
        (13, 12, 12),
        (14, 13, 14),  # left for a session of its own
        (15, 99, 14),  # whose parent exited while the table was made
        (16, 15, 16),
        (17, 10, 10),  # another guard
        (18, 17, 18),  # another command
        (19, 1, 0),  # outside of the container
    )
    assert sorted(entry.pid for entry in program.below(table, (11,))) == [12, 13, 14, 15, 16]
    assert sorted(entry.pid for entry in program.below(table, (), (14,))) == [14, 15, 16]


def test_group_zero_would_be_our_own_and_is_never_signalled(monkeypatch: pytest.MonkeyPatch) -> None:
    signalled: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, number: signalled.append(group))
    outside = program.Entry(5, b"5 (x) S 1 0 0 " + b" 0" * 20)
    program.signal_groups([outside, *entries((7, 1, 7)).values()], signal.SIGTERM)
    assert signalled == [7]


def test_only_those_who_could_write_hold_a_pipe() -> None:
    read_end, write_end = os.pipe()
    reader = subprocess.Popen(["sleep", "600"], stdin=read_end)
    writers = [subprocess.Popen(["sleep", "600"], stdout=write_end, stderr=write_end) for _ in range(2)]
    os.close(write_end)
    assert count_holders([read_end]) == 2
    for process in (reader, *writers):
        process.kill()
        process.wait()
    # Somebody must hold it if it is asked for, seen or not.
    assert count_holders([read_end]) == 1
    os.close(read_end)


def test_a_process_without_descriptors_left_knows_of_one_holder(monkeypatch: pytest.MonkeyPatch) -> None:
    def listdir(path: str) -> list[str]:
        raise OSError(errno.EMFILE, "Too many open files", path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "listdir", listdir)
        assert count_holders(()) == 1


# --- many


def test_a_thousand_runs_leave_nothing_behind(client: SupervisorClient) -> None:
    run = start("sleep 0.2")
    supervisor, _ = watchers(run)
    run.wait()
    this = psutil.Process()

    def held() -> list[int]:
        ours = [this.num_fds(), this.num_threads(), len(this.children(recursive=True))]
        return [*ours, supervisor.num_fds(), len(supervisor.children(recursive=True))]

    # The guard of the next run is there already.
    assert eventually(lambda: held()[-1] == 1)
    before = held()
    for _ in range(1000):
        assert execute("true").exit_code == 0
    # Less is fine: the thread of the first run may just have been about to end.
    assert eventually(lambda: all(now <= then for now, then in zip(held(), before, strict=True))), (before, held())


@pytest.mark.timeout(3600)
def test_random_kills_under_load_leave_no_orphan_and_lose_no_byte(mark: str) -> None:
    """A tree of printing processes in several sessions, of which a random one is killed at a random moment."""
    script = (
        "for i in 1 2 3; do (while :; do seq 1 200; done) & done; setsid sh -c 'while :; do seq 300 400; done' & "
        "seq 1 20000; wait"
    )
    chance = random.Random(4)

    def one(seed: int) -> ExecResult:
        chance = random.Random(seed)
        recorder = Recorder()
        limits = OutputLimits(max_bytes=1000)
        run = start(script, recorder, limits=limits, on_held="kill")
        recorder.wait_for("\n")
        leader = psutil.Process(run._process.pid)  # type: ignore[union-attr]
        for _ in range(chance.randrange(1, 4)):
            time.sleep(chance.random() * 0.1)
            try:
                chance.choice([leader, *leader.children(recursive=True)]).send_signal(
                    chance.choice([signal.SIGKILL, signal.SIGTERM])
                )
            except psutil.NoSuchProcess:
                continue
        for _ in range(chance.randrange(1, 3)):
            run.stop()
        done = threading.Event()
        run.add_done_callback(done.set)
        assert done.wait(60), "it hangs"
        return run.result()

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(one, [chance.randrange(1 << 30) for _ in range(KILLS)]))
    assert {result.state for result in results} <= {RunState.STOPPED, RunState.SIGNALED}
    for result in results:
        cut = result.truncation
        if result.spill_path is None:
            # Killed before it had printed more than the view holds.
            assert (cut.truncated, cut.total_bytes) == (False, len(result.text))
            continue
        content = Path(result.spill_path).read_bytes()
        assert (cut.total_bytes, cut.total_lines) == (
            len(content),
            content.count(b"\n") + (not content.endswith(b"\n")),
        )
        assert result.view.metadata.spill_state == "complete"
    assert marked_processes(mark) == []
