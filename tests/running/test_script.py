"""How a script reaches its interpreter; the second part with real ones."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.running import script as module
from boundcap_jupyter.running.environment import Command, ExecOptions, ExecResult, ExecutionError
from boundcap_jupyter.running.local import LocalEnv
from boundcap_jupyter.running.script import MAX_ARGUMENT, ScriptFile, invocation
from tests.running.observe import Recorder


def words(command: Command, shell: Any = None) -> list[str]:
    """The words of a command that needs no file."""
    call = invocation(command, shell)
    assert call.script is None
    return call.words


# --- what is a command


def test_a_script_is_for_a_shell_and_an_argument_vector_for_none() -> None:
    shell, option, script = words("echo $HOME")
    assert Path(shell).name == "bash"
    assert (option, script) == ("-c", "echo $HOME")
    assert words(["echo", "$HOME"]) == words(("echo", "$HOME")) == ["echo", "$HOME"]


def test_without_bash_a_script_is_for_sh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert words("true") == ["/bin/sh", "-c", "true"]


@pytest.mark.parametrize(
    "command",
    [None, 5, b"true", [], (), ["echo", 5], [b"true"], {"true": 1}, "nul\0", "\ud800"],
    ids=repr,
)
def test_what_is_no_command_is_a_value_error_that_names_it(command: Any) -> None:
    with pytest.raises(ValueError, match=r"^command must ") as caught:
        invocation(command)
    assert repr(command) in str(caught.value)


@pytest.mark.parametrize("word", ["a\0b", "\ud800"], ids=repr)
def test_a_word_that_no_program_can_be_given_is_a_value_error_that_names_it(word: str) -> None:
    with pytest.raises(ValueError, match=r"^command must not contain NUL characters or lone surrogates") as caught:
        invocation(["echo", word])
    assert repr(word) in str(caught.value)


def test_paths_are_arguments_too(tmp_path: Path) -> None:
    assert words(["ls", tmp_path]) == ["ls", str(tmp_path)]


@pytest.mark.parametrize(
    ("shell", "expected"),
    [
        ("python3", ["python3", "-c", "x"]),
        ("/opt/my\\ venv/bin/python3.12 -X dev", ["/opt/my venv/bin/python3.12", "-X", "dev", "-c", "x"]),
        ("'bash' -e", ["bash", "-e", "-c", "x"]),
        (["bash", "-o", "pipefail"], ["bash", "-o", "pipefail", "-c", "x"]),
        ((Path("/bin/zsh"),), ["/bin/zsh", "-c", "x"]),
        ("node", ["node", "-e", "x"]),
    ],
)
def test_shells_python_and_node_are_given_the_script_as_an_argument(shell: Any, expected: list[str]) -> None:
    assert words("x", shell) == expected


@pytest.mark.parametrize("shell", ["perl -w", "Rscript", "env python3", "sudo bash", ["make", "-f"], "my-bash"])
def test_any_other_interpreter_is_given_a_file(shell: Any) -> None:
    call = invocation("x", shell)
    assert (call.words, call.script) == (shell if isinstance(shell, list) else shell.split(), "x")


@pytest.mark.parametrize("shell", [None, "bash", "node"])
def test_a_script_is_an_argument_as_long_as_the_system_takes_it(shell: str | None) -> None:
    # Two bytes a letter: it is bytes that count, with the NUL at the end.
    longest = "#" + "\xe4" * ((MAX_ARGUMENT - 2) // 2)
    assert len(longest.encode()) == MAX_ARGUMENT - 1
    assert words(longest, shell)[-1] == longest
    assert invocation(longest + "x", shell).script == longest + "x"


@pytest.mark.parametrize("shell", ["python3", "", ["bash"]])
def test_an_argument_vector_has_no_interpreter(shell: Any) -> None:
    with pytest.raises(ValueError, match=r"^shell must be None for an argument vector") as caught:
        invocation(["true"], shell)
    assert repr(shell) in str(caught.value)


# --- the file


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary directory of this test and of its commands."""
    directory = tmp_path / "scratch"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return directory


def test_the_file_is_private_whatever_the_umask_and_goes_with_its_directory(scratch: Path) -> None:
    before = os.umask(0)
    try:
        file = ScriptFile("nul\udcff \xe4")
    finally:
        os.umask(before)
    path = Path(file.path)
    assert path.read_bytes() == b"nul\xff \xc3\xa4"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.parent.parent == scratch
    file.remove()
    file.remove()
    assert list(scratch.iterdir()) == []


def test_the_file_is_its_owners_even_under_a_umask_that_forbids_that(scratch: Path) -> None:
    before = os.umask(0o777)
    try:
        file = ScriptFile("x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(Path(file.path).stat().st_mode) == 0o600
    file.remove()


def test_a_file_that_can_not_be_written_leaves_nothing(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int, mode: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fchmod", full)
    with pytest.raises(OSError, match="No space left"):
        ScriptFile("x")
    with pytest.raises(ExecutionError, match=r"cannot start 'perl': No space left on device \(.*/script\)") as caught:
        execute("x", shell="perl")
    assert caught.value.state is RunState.SPAWN_ERROR
    assert list(scratch.iterdir()) == []


# --- real interpreters


def execute(script: str, **options: Any) -> ExecResult:
    return LocalEnv().exec(script, ExecOptions(**options))


#: 3 MB that no interpreter here looks at.
COMMENT = "\n#" + "x" * 3_000_000 + "\n"
interpreters = pytest.mark.parametrize("filler", ["\n", COMMENT], ids=["short", "3 MB"])


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"there is no {program}")


@interpreters
@pytest.mark.parametrize("shell", [None, "sh", "bash -u", pytest.param("zsh", marks=needs("zsh"))])
def test_a_script_of_any_length_runs_with_its_own_input(scratch: Path, shell: str | None, filler: str) -> None:
    result = execute(f"cat{filler}cat; echo end; exit 3", shell=shell, stdin="in\n")
    assert (result.text, result.exit_code) == ("in\nend\n", 3)
    assert list(scratch.iterdir()) == []


@pytest.mark.usefixtures("scratch")
@interpreters
def test_a_script_of_any_length_has_an_empty_input_unless_there_is_one(filler: str) -> None:
    assert execute(f"{filler}cat; read -p 'Continue? ' a; echo \"got $a\"").text == "got \n"


def test_options_of_the_interpreter_count() -> None:
    assert execute("false; echo on", shell="bash").text == "on\n"
    assert execute("false; echo on", shell="bash -e").exit_code == 1


@interpreters
def test_python_imports_from_where_it_runs_and_reads_its_own_input(tmp_path: Path, scratch: Path, filler: str) -> None:
    (tmp_path / "beside.py").write_text("name = 'found'\n")
    script = (
        f"from __future__ import annotations{filler}"
        "import beside, sys\n"
        "print(beside.name, sys.argv, __name__, sys.stdin.read(), sorted(n for n in dir() if n[:2] != '__'))"
    )
    result = execute(script, shell=[sys.executable], cwd=tmp_path, stdin="in", env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert result.text == "found ['-c'] __main__ in ['annotations', 'beside', 'sys']\n"
    assert list(scratch.iterdir()) == []


@pytest.mark.usefixtures("scratch")
def test_an_error_in_a_long_python_script_is_shown_with_its_line() -> None:
    result = execute(f"{COMMENT}1 / 0", shell=[sys.executable])
    assert result.exit_code == 1
    assert "line 3, in <module>\n    1 / 0\n" in result.text


@needs("perl")
def test_an_interpreter_that_gets_a_file_reads_its_own_input_and_its_data(scratch: Path) -> None:
    result = execute("print $0, ' ', <STDIN>, <DATA>;\n__DATA__\ntail\n", shell="perl", stdin="in\n")
    path, rest = result.text.split(" ", 1)
    assert Path(path).is_relative_to(scratch)
    assert rest == "in\ntail\n"
    assert list(scratch.iterdir()) == []


@needs("node")
def test_node_resolves_modules_from_where_it_runs(tmp_path: Path) -> None:
    result = execute("console.log(require.resolve.paths('x')[0])", shell="node", cwd=tmp_path)
    assert result.text == f"{tmp_path}/node_modules\n"


def test_the_file_is_there_while_the_command_runs_and_gone_when_it_was_stopped(
    scratch: Path, child: Callable[..., list[str]]
) -> None:
    recorder = Recorder()
    run = LocalEnv().start("echo ready; exec sleep 600", ExecOptions(shell=["env", "bash"]), recorder)
    recorder.wait_for("ready")
    assert len(list(scratch.rglob("script"))) == 1
    run.stop()
    assert run.wait().state is RunState.STOPPED
    assert list(scratch.iterdir()) == []


def test_an_interpreter_that_is_missing_is_what_is_named(scratch: Path) -> None:
    with pytest.raises(ExecutionError, match=r"^cannot start 'no-such-interpreter': No such file or directory$"):
        execute("x", shell="no-such-interpreter -x")
    assert list(scratch.iterdir()) == []
