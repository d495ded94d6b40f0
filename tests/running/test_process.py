from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.running import process as module
from boundcap_jupyter.running.environment import Command, ExecOptions, ExecutionError
from boundcap_jupyter.running.local import LocalEnv
from boundcap_jupyter.running.process import ALWAYS_INHERITED, Process, child_environment
from tests.running.observe import eventually

Start = Callable[..., Process]


SUPERVISED = pytest.param("supervised", marks=pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper"))


@pytest.fixture(autouse=True, params=[SUPERVISED, "group"])
def kind(request: pytest.FixtureRequest) -> str:
    """Under the supervisor, or in a process group alone, as on macOS."""
    if request.param == "group":
        request.getfixturevalue("unsupervised")
    return request.param


#: How a command is held without a supervisor.
group_alone = pytest.mark.parametrize("kind", ["group"], indirect=True)


@pytest.fixture
def start(kind: str) -> Iterator[Start]:
    """Starts processes; those that still run are ended with the test, their pipes closed."""
    started: list[tuple[Process, int]] = []

    def make(command: Command, **options: Any) -> Process:
        process = Process(command, ExecOptions(**options))
        started.append((process, process.output))
        return process

    yield make
    for process, output in started:
        process.signal(signal.SIGKILL)
        process.reap(patience=20)
        os.close(output)


def everything(process: Process) -> bytes:
    """What it prints until the pipe's end."""
    parts = []
    while data := os.read(process.output, 65536):
        parts.append(data)
    return b"".join(parts)


def code(process: Process) -> int | None:
    assert eventually(process.has_exited)
    return process.reap()


# --- the environment


@pytest.fixture
def own() -> str:
    """The directory of this interpreter."""
    return str(Path(sys.executable).parent)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/usr/bin:/bin", "{own}:/usr/bin:/bin"),
        ("{own}:/usr/bin", "{own}:/usr/bin"),
        ("/usr/bin:{own}", "{own}:/usr/bin:{own}"),
        (None, "{own}:" + os.defpath),
    ],
)
def test_this_interpreters_directory_comes_first_on_path(
    own: str, monkeypatch: pytest.MonkeyPatch, path: str | None, expected: str
) -> None:
    if path is None:
        monkeypatch.delenv("PATH")
    else:
        monkeypatch.setenv("PATH", path.format(own=own))
    assert child_environment(ExecOptions())["PATH"] == expected.format(own=own)


def test_a_virtual_environment_counts_not_the_python_it_links_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "python").symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert child_environment(ExecOptions())["PATH"].split(":")[0] == str(tmp_path)


@pytest.mark.parametrize("executable", ["", None])
def test_an_embedded_interpreter_without_a_path_adds_none(
    monkeypatch: pytest.MonkeyPatch, executable: str | None
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setenv("PATH", "/bin")
    assert child_environment(ExecOptions())["PATH"] == "/bin"


def test_what_the_caller_sets_wins_over_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A", "outer")
    changes = {"A": "inner", "PATH": "/only", "PYTHONUNBUFFERED": ""}
    environment = child_environment(ExecOptions(env=changes))
    assert {name: environment[name] for name in changes} == changes


@pytest.mark.parametrize(("outer", "expected"), [(None, "1"), ("", ""), ("x", "x")])
def test_python_is_not_buffered_unless_the_environment_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, outer: str | None, expected: str
) -> None:
    if outer is None:
        monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    else:
        monkeypatch.setenv("PYTHONUNBUFFERED", outer)
    assert child_environment(ExecOptions())["PYTHONUNBUFFERED"] == expected


def test_the_environment_of_this_process_is_not_touched() -> None:
    before = dict(os.environ)
    child_environment(ExecOptions(env={"NEW": "1"}))
    assert dict(os.environ) == before


def test_without_inheritance_only_what_every_program_needs_is_there(own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*ALWAYS_INHERITED, "API_TOKEN", "FORCE_COLOR", "LD_PRELOAD"):
        monkeypatch.setenv(name, "/outer")
    environment = child_environment(ExecOptions(inherit_env=False, env={"A": "1"}, unset_env=["TZ"]))
    kept = dict.fromkeys(ALWAYS_INHERITED - {"TZ"}, "/outer")
    assert environment == {**kept, "PATH": f"{own}:/outer", "PYTHONUNBUFFERED": "1", "A": "1"}


def test_what_is_unset_is_gone_even_if_it_would_be_added_and_what_is_set_as_well_is_set() -> None:
    environment = child_environment(ExecOptions(unset_env=["PYTHONUNBUFFERED", "PATH"], env={"PATH": "/only"}))
    assert "PYTHONUNBUFFERED" not in environment
    assert environment["PATH"] == "/only"


@pytest.mark.parametrize(
    ("outer", "expected"),
    [(None, "xterm-256color"), ("", "xterm-256color"), ("dumb", "xterm-256color"), ("xterm-color", "xterm-256color")]
    + [(name, name) for name in ("xterm-256color", "screen", "linux")],
)
def test_a_command_on_a_terminal_is_told_which(
    monkeypatch: pytest.MonkeyPatch, outer: str | None, expected: str
) -> None:
    monkeypatch.delenv("TERM", raising=False)
    if outer is not None:
        monkeypatch.setenv("TERM", outer)
    assert child_environment(ExecOptions(pty=True))["TERM"] == expected
    assert child_environment(ExecOptions()).get("TERM") == outer
    assert child_environment(ExecOptions(pty=True, env={"TERM": "dumb"}))["TERM"] == "dumb"


def test_on_a_terminal_no_pager_waits_for_keys_and_no_size_of_another_terminal_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {"PAGER": "less", "GIT_PAGER": "less", "COLUMNS": "10", "LINES": "5"}.items():
        monkeypatch.setenv(name, value)
    environment = child_environment(ExecOptions(pty=True))
    assert (environment["PAGER"], environment["GIT_PAGER"]) == ("cat", "cat")
    assert not {"COLUMNS", "LINES"} & environment.keys()
    assert child_environment(ExecOptions())["PAGER"] == "less"
    assert child_environment(ExecOptions(pty=True, env={"COLUMNS": "33"}))["COLUMNS"] == "33"


def test_a_variable_that_is_no_utf8_arrives_as_the_same_bytes(start: Start) -> None:
    assert everything(start('printf %s "$A"', env={"A": os.fsdecode(b"\xff\xfe")})) == b"\xff\xfe"


# --- starting


def test_both_outputs_come_through_one_pipe_in_the_order_of_writing(start: Start) -> None:
    script = "for i in 1 2 3; do echo out$i; echo err$i >&2; done"
    assert everything(start(script)) == b"out1\nerr1\nout2\nerr2\nout3\nerr3\n"


def test_it_leads_a_session_and_a_group_of_its_own(start: Start) -> None:
    process = start(["sleep", "600"])
    assert os.getsid(process.pid) == os.getpgid(process.pid) == process.pid
    assert os.getsid(0) != process.pid


BIG = b"0123456789abcdef" * 65536  # 1 MiB: more than any pipe holds


def test_an_input_for_which_there_is_no_room_says_where(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            start(["cat"], stdin=b"x" * 1_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.filename == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("stdin", "expected"),
    [
        (None, b""),
        ("", b""),
        ("text ü\n", "text ü\n".encode()),
        (b"\0\xff", b"\0\xff"),
        (BIG, BIG),
    ],
    ids=["none", "empty", "str", "bytes", "1 MiB"],
)
def test_the_input_is_what_was_given_and_then_ends(start: Start, stdin: Any, expected: bytes) -> None:
    assert everything(start(["cat"], stdin=stdin)) == expected


def test_the_input_may_be_a_file(start: Start, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(BIG)
    assert everything(start(["cat"], stdin=tmp_path / "input")) == BIG


def test_a_read_without_an_input_ends_at_once(start: Start) -> None:
    assert everything(start("read -p 'Continue? ' a; echo \"got $a\"")) == b"got \n"


def test_it_inherits_no_other_file(start: Start, tmp_path: Path) -> None:
    with open(tmp_path / "ours", "w") as ours:
        os.set_inheritable(ours.fileno(), True)
        shown = everything(start(["ls", "-l", "/proc/self/fd"] if sys.platform == "linux" else ["true"]))
    assert b"ours" not in shown


@pytest.mark.parametrize(
    ("command", "options", "error"),
    [
        (["/nonexistent"], {}, FileNotFoundError),
        ([""], {}, OSError),
        (["/"], {}, PermissionError),
        (["true", "x" * 3_000_000], {}, OSError),
        ("true", {"shell": "/nonexistent"}, FileNotFoundError),
    ],
    ids=["missing", "empty name", "directory", "huge argument", "missing interpreter"],
)
def test_what_can_not_be_started_is_an_os_error_and_leaves_nothing_open(
    command: Command, options: dict[str, Any], error: type[OSError]
) -> None:
    with pytest.raises(error):
        Process(command, ExecOptions(**options))


def test_an_input_that_is_gone_by_now_is_an_os_error_and_leaves_nothing_open(tmp_path: Path) -> None:
    (tmp_path / "input").write_text("x")
    options = ExecOptions(stdin=tmp_path / "input")
    (tmp_path / "input").unlink()
    with pytest.raises(FileNotFoundError) as caught:
        Process(["cat"], options)
    assert caught.value.filename == str(tmp_path / "input")


def test_a_pipe_that_may_not_grow_is_used_as_it_is(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("over the limit of this user")

    monkeypatch.setattr(module.fcntl, "fcntl", refuse)
    assert everything(start(["echo", "hello"])) == b"hello\n"


# --- how it ended


@group_alone
@pytest.mark.parametrize(
    ("script", "expected"),
    [("true", 0), ("exit 3", 3), ("exit 255", 255), ("kill -TERM $$", -15), ("kill -KILL $$", -9)],
)
@pytest.mark.parametrize("pidfd", [True, False], ids=["pidfd", "no pidfd"])
def test_the_exit_code_is_the_commands(
    start: Start, monkeypatch: pytest.MonkeyPatch, script: str, expected: int, pidfd: bool
) -> None:
    if not pidfd:
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    process = start(script)
    assert (process.exit_fd is not None) is (pidfd and sys.platform == "linux")
    assert code(process) == expected
    assert code(process) == expected


@group_alone
def test_a_sandbox_that_forbids_pidfd_is_served_all_the_same(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_: int) -> int:
        raise PermissionError("seccomp")

    monkeypatch.setattr(os, "pidfd_open", forbidden, raising=False)
    process = start("exit 3")
    assert process.exit_fd is None
    assert code(process) == 3


@group_alone
def test_it_stays_a_zombie_with_its_number_until_it_is_reaped(start: Start) -> None:
    process = start("true")
    assert eventually(process.has_exited)
    assert psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE
    assert process.reap() == 0
    assert not psutil.pid_exists(process.pid)
    assert process.has_exited()


@group_alone
def test_one_that_does_not_exit_is_left_to_a_thread_that_waits_for_it(start: Start) -> None:
    process = start(["sleep", "600"])
    assert process.reap() is None
    os.kill(process.pid, signal.SIGKILL)
    assert eventually(lambda: not psutil.pid_exists(process.pid))


@group_alone
def test_one_that_somebody_else_collected_has_exited(start: Start) -> None:
    process = start("exit 3")
    os.waitpid(process.pid, 0)
    assert process.has_exited()
    process.reap()


# --- signals


def test_a_signal_reaches_every_process_of_the_group(start: Start, mark: str) -> None:
    process = start("sleep 600 & sleep 600 & echo ready; wait")
    assert os.read(process.output, 6) == b"ready\n"
    process.signal(signal.SIGTERM)
    assert code(process) == -15
    assert everything(process) == b""


@group_alone
def test_signals_to_a_zombie_are_harmless(start: Start) -> None:
    process = start("exit 3")
    assert eventually(process.has_exited)
    process.signal(signal.SIGKILL)
    assert code(process) == 3


@group_alone
def test_after_it_was_reaped_its_number_may_be_a_strangers_and_is_not_signalled(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = start("true")
    code(process)
    signalled: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda pid, number: signalled.append(pid))
    process.signal(signal.SIGKILL)
    assert signalled == []


@group_alone
@pytest.mark.parametrize("error", [ProcessLookupError, PermissionError])
def test_a_group_that_can_not_be_signalled_is_no_error(
    start: Start, monkeypatch: pytest.MonkeyPatch, error: type[OSError]
) -> None:
    process = start("true")
    with monkeypatch.context() as patch:
        patch.setattr(os, "killpg", lambda pid, number: (_ for _ in ()).throw(error()))
        process.signal(signal.SIGKILL)


# --- the group


@group_alone
def test_the_leader_alone_is_no_member(start: Start) -> None:
    assert not start(["sleep", "600"]).has_members()


def test_members_count_until_they_are_gone_also_after_the_leader(start: Start) -> None:
    process = start("sleep 600 > /dev/null 2>&1 & echo ready")
    assert everything(process) == b"ready\n"
    assert eventually(process.has_exited)
    assert process.has_members()
    process.signal(signal.SIGKILL)
    assert eventually(lambda: not process.has_members())


@group_alone
def test_zombies_are_no_members(start: Start) -> None:
    process = start(
        [sys.executable, "-c", "import os, time; p = os.fork() or os._exit(0); print(p, flush=True); time.sleep(600)"]
    )
    pid = int(os.read(process.output, 20))
    assert eventually(lambda: psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    assert os.getpgid(pid) == process.pid
    assert not process.has_members()


@group_alone
def test_one_that_left_the_group_is_no_member(start: Start) -> None:
    process = start([sys.executable, "-c", "import os; os.setpgid(os.fork() or 0, 0)"])
    assert code(process) in (0, 1)
    assert not process.has_members()


@group_alone
def test_a_process_that_may_not_be_looked_at_counts_as_alive(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    process = start("sleep 600 > /dev/null 2>&1 & echo ready")
    everything(process)
    assert eventually(process.has_exited)

    def hidden(self: psutil.Process) -> str:
        raise psutil.AccessDenied(self.pid)

    monkeypatch.setattr(psutil.Process, "status", hidden)
    assert process.has_members()


@group_alone
def test_an_exit_status_that_somebody_else_collected_is_not_called_a_success() -> None:
    run = LocalEnv().start("read; exit 3", ExecOptions(stdin="go\n"))
    assert run.wait().exit_code == 3
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        result = LocalEnv().start("exit 3").wait()
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert (result.state, result.exit_code) == (RunState.WORKER_LOST, None)
    assert "SIGCHLD" in result.status.detail
    with pytest.raises(ExecutionError, match="not known"):
        result.check()
