"""%%bounded and %bounded, through a real shell; the last part through a real kernel, with the real API."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from boundcap_jupyter import magics
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.view import OutputMetadata, OutputView, Truncation
from boundcap_jupyter.options import OPTIONS
from boundcap_jupyter.running.environment import CommandFailed, ExecResult, ExecutionError


def result(state: RunState = RunState.EXITED, exit_code: int | None = 0, text: str = "", **status: Any) -> ExecResult:
    size = len(text)
    truncation = Truncation(False, None, 1, size, 1, size, False, False, 2000, 51200)
    return ExecResult("x", RunStatus(state, exit_code, **status), OutputView(text, OutputMetadata(truncation)))


class FakeApi:
    """Stands for `api.run` and `show.choose_display`: keeps what it was given, does what it was told."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.clears: list[bool] = []
        self.outcome: ExecResult | BaseException = result()

    def run(self, command: str, **arguments: Any) -> ExecResult:
        self.calls.append({"command": command, **arguments})
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        if arguments["check"]:
            self.outcome.check()
        return self.outcome

    def choose_display(self, command: str, *, clears_cell: bool, retain: str) -> str:
        self.clears.append(clears_cell)
        return f"display of the {retain} of {command}"

    @property
    def commands(self) -> list[str]:
        return [call["command"] for call in self.calls]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    config = Config()
    config.HistoryManager.enabled = False
    # %%capture and display() ask for the one instance.
    InteractiveShell.clear_instance()
    instance = InteractiveShell.instance(config=config)
    magics.load_ipython_extension(instance)
    yield instance
    InteractiveShell.clear_instance()


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> FakeApi:
    fake = FakeApi()
    monkeypatch.setattr(magics, "run", fake.run)
    monkeypatch.setattr(magics, "choose_display", fake.choose_display)
    return fake


# What reaches the API


def test_a_cell_runs_its_body_as_it_stands(shell: Any, api: FakeApi) -> None:
    shell.user_ns["x"] = "python"
    assert shell.run_cell("%%bounded\necho $x {x} $$ \\\n  'a'  \n").result is None
    assert api.commands == ["echo $x {x} $$ \\\n  'a'  \n"]


def test_a_blank_body_is_an_empty_script(shell: Any, api: FakeApi) -> None:
    assert shell.run_cell("%%bounded\n \n").success
    assert [command.strip() for command in api.commands] == [""]


def test_a_line_runs_its_rest_expanded_as_after_an_exclamation_mark(shell: Any, api: FakeApi) -> None:
    shell.run_cell("x = 'a b'\n%bounded --lines 5 echo $x {x.upper()} $$HOME '$x'")
    assert api.commands == ["echo a b A B $HOME '$x'"]
    assert api.calls[0]["max_lines"] == 5


@pytest.mark.parametrize(
    "line", ["$x {x}", "$$x", "{{x}}", "{x!r}", "$nothing {x}", "awk '{print $1}'", "a } b", "$x.y"]
)
def test_expansion_is_that_of_the_exclamation_mark(
    shell: Any, api: FakeApi, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    expanded: list[str] = []
    monkeypatch.setattr(shell, "system", lambda command: expanded.append(shell.var_expand(command, depth=1)))
    shell.user_ns["x"] = 5
    shell.run_cell(f"!echo {line}")
    shell.run_cell(f"%bounded echo {line}")
    assert api.commands == expanded


def test_names_are_those_of_the_function_that_holds_the_line(shell: Any, api: FakeApi) -> None:
    shell.run_cell("x = 1\ndef f():\n    x = 2\n    %bounded --env X=$x echo $x {x + 1}\nf()")
    assert api.commands == ["echo 2 3"]
    assert api.calls[0]["env"] == {"X": "2"}


def test_values_of_options_are_expanded_and_stay_one_word(shell: Any, api: FakeApi, tmp_path: Path) -> None:
    directory = tmp_path / "my dir"
    directory.mkdir()
    shell.user_ns.update(d=directory, n=3)
    for head in ("%bounded --cwd $d --timeout {n * 60}m x", "%%bounded --cwd {d} --timeout={n * 60}m\nx"):
        shell.run_cell(head)
    assert [(call["cwd"], call["timeout"]) for call in api.calls] == [(str(directory), 180 * 60.0)] * 2


def test_values_of_options_know_the_environment(shell: Any, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOTH", "environment")
    monkeypatch.setenv("ONLY", "environment")
    shell.user_ns["BOTH"] = "python"
    shell.run_cell("%bounded --env A=$BOTH:$ONLY:${ONLY} --env 'B=$ONLY' --env C=$NEITHER:$ONLY x")
    assert api.calls[0]["env"] == {"A": "python:environment:environment", "B": "$ONLY", "C": "$NEITHER:$ONLY"}


def test_every_option_reaches_the_api(shell: Any, api: FakeApi) -> None:
    shell.run_cell(
        "%bounded --bytes 1k --lines 7 --retain head --no-spill --cwd / --env A=1 --timeout 2m --encoding latin-1 "
        "--stderr separate --no-raise-error --idle-timeout 5 --stdin /dev/null --shell 'sh -e' --pty --columns 132 "
        "--held kill "
        "--on-spill-failure continue --max-spill 3k make"
    )
    assert api.calls == [
        {
            "command": "make",
            "max_bytes": 1024,
            "max_lines": 7,
            "retain": "head",
            "spill": False,
            "cwd": "/",
            "env": {"A": "1"},
            "timeout": 120.0,
            "encoding": "iso8859-1",
            "stderr": "separate",
            "idle_timeout": 5.0,
            "stdin": Path("/dev/null"),
            "shell": "sh -e",
            "pty": True,
            "columns": 132,
            "on_held": "kill",
            "on_spill_failure": "continue",
            "max_spill_bytes": 3072,
            "check": True,
            "display": "display of the head of make",
        }
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text().filter(lambda text: not set(text) & set("${}")))
def test_the_rest_of_the_line_is_the_command_byte_for_byte(shell: Any, api: FakeApi, text: str) -> None:
    shell.run_line_magic("bounded", f"--lines 5 x{text}")
    assert api.commands[-1] == f"x{text}"


# Errors before anything runs


WRONG: list[tuple[Any, ...]] = [
    ("%bounded --bytes 0 no", "--bytes must be a size of at least 64 bytes, such as 800, 50k or 2M, not '0'"),
    ("%%bounded --lines x\nno", "--lines must be a whole number of at least 1, such as 500 or 2k, not 'x'"),
    ("%bounded --cwd /nonexistent x", "--cwd must be a directory that exists, not '/nonexistent'"),
    ("%bounded --byts 5 x", "there is no option '--byts': did you mean --bytes?"),
    ("%bounded", "%bounded needs a command after its options (%bounded --help shows them)"),
    ("%bounded --lines 5 --", "%bounded needs a command after its options (%bounded --help shows them)"),
    (
        "%%bounded make\necho x",
        "%%bounded takes only options on its line, not 'make': put the command below it, or use %bounded",
    ),
]


@pytest.mark.parametrize(("cell", "message"), WRONG)
def test_a_wrong_line_is_one_line_of_error_and_nothing_runs(
    shell: Any, api: FakeApi, capsys: pytest.CaptureFixture[str], cell: str, message: str
) -> None:
    shell.user_ns["_exit_code"] = "as before"
    outcome = shell.run_cell(cell)
    assert isinstance(outcome.error_in_exec, UsageError)
    assert capsys.readouterr() == ("", f"UsageError: {message}\n")
    assert not api.calls
    assert shell.user_ns["_exit_code"] == "as before"


def test_a_cell_without_any_body_is_refused_by_ipython_with_the_way_out(
    shell: Any, api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_cell("%%bounded make")
    assert "Did you mean the line magic %bounded (single %)?" in capsys.readouterr().err
    assert not api.calls


def test_an_argument_that_only_the_api_refuses_is_one_line_too(
    shell: Any, api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.outcome = ValueError("command must not hold NUL,\nnot 'a\\x00b'")
    shell.run_cell("%bounded x")
    assert capsys.readouterr().err == "UsageError: command must not hold NUL, not 'a\\x00b'\n"


# What is left afterwards


ENDS: list[tuple[Callable[[], ExecResult | BaseException], int | None, type[BaseException] | None]] = [
    (lambda: result(), 0, None),
    (lambda: result(exit_code=3), 3, CommandFailed),
    (lambda: result(RunState.SIGNALED, 143, signal="SIGTERM"), 143, CommandFailed),
    (lambda: ExecutionError(result(RunState.TIMEOUT, 143)), 143, ExecutionError),
    (lambda: ExecutionError(result(RunState.STOPPED, 130)), 130, ExecutionError),
    (lambda: ExecutionError(result(RunState.SPAWN_ERROR, None, detail="no bash")), None, ExecutionError),
    (lambda: interrupt(result(RunState.STOPPED, 130)), 130, KeyboardInterrupt),
]


def interrupt(run: ExecResult) -> KeyboardInterrupt:
    error: Any = KeyboardInterrupt()
    error.result = run
    return error  # type: ignore[no-any-return]  # Any only to attach the result, as the API does


@pytest.mark.parametrize(("outcome", "exit_code", "error"), ENDS)
@pytest.mark.parametrize("quiet", [False, True])
def test_result_and_exit_code_are_set_whatever_the_end(
    shell: Any,
    api: FakeApi,
    outcome: Callable[[], ExecResult | BaseException],
    exit_code: int | None,
    error: type[BaseException] | None,
    quiet: bool,
) -> None:
    api.outcome = outcome()
    run = api.outcome if isinstance(api.outcome, ExecResult) else getattr(api.outcome, "result", None)
    shell.user_ns.update(r="stale", _exit_code="stale")
    outcome_of_cell = shell.run_cell(f"%bounded {'--no-raise-error ' if quiet else ''}--out r x")
    assert shell.user_ns["r"] is run
    assert shell.user_ns["_exit_code"] == exit_code
    raised = None if error is None or (quiet and error is not KeyboardInterrupt) else error
    if raised is None:
        assert outcome_of_cell.success
        assert outcome_of_cell.result is None
    else:
        assert isinstance(outcome_of_cell.error_in_exec, raised)


def test_an_interrupt_before_there_is_a_result_leaves_no_stale_one(shell: Any, api: FakeApi) -> None:
    api.outcome = KeyboardInterrupt()
    shell.user_ns.update(r="stale", _exit_code="stale")
    shell.run_cell("%bounded --out r x")
    assert (shell.user_ns["r"], shell.user_ns["_exit_code"]) == (None, None)


# fmt: off
SHOWN: list[tuple[Any, ...]] = [
    (lambda: result(exit_code=3, text="a\n\x1b[31mwhy\x1b[0m\n"),  "CommandFailed: exit code 3; last line: why\n"),
    (lambda: ExecutionError(result(RunState.TIMEOUT, 143, "a\n", duration=1.0)),
                                                            "ExecutionError: timed out after 1.0 s; last line: a\n"),
    (lambda: interrupt(result(RunState.STOPPED, 130, "a\n", duration=1.0)),
                                                            "KeyboardInterrupt: stopped after 1.0 s; last line: a\n"),
]
# fmt: on


@pytest.mark.parametrize(("outcome", "shown"), SHOWN)
def test_an_error_is_shown_in_one_line(
    shell: Any,
    api: FakeApi,
    capsys: pytest.CaptureFixture[str],
    outcome: Callable[[], ExecResult | BaseException],
    shown: str,
) -> None:
    api.outcome = outcome()
    shell.run_cell("%%bounded\nx")
    assert capsys.readouterr().out == shown


def test_a_failed_command_is_a_called_process_error(shell: Any, api: FakeApi) -> None:
    api.outcome = result(exit_code=3, text="before\n")
    shell.run_cell(
        "import subprocess\n"
        "try:\n    get_ipython().run_cell_magic('bounded', '', 'x')\n"
        "except subprocess.CalledProcessError as error:\n    caught = error"
    )
    caught = shell.user_ns["caught"]
    assert isinstance(caught, subprocess.CalledProcessError)
    assert (caught.returncode, caught.output) == (3, "before\n")
    assert caught.__suppress_context__


def test_the_cause_of_a_failed_run_stays_with_its_error(shell: Any, api: FakeApi) -> None:
    cause = OSError("disk")
    api.outcome = ExecutionError(result(RunState.SPILL_ERROR, 143, detail="disk"))
    api.outcome.__cause__ = cause
    error = shell.run_cell("%bounded x").error_in_exec
    assert str(error) == "spill_error: disk"
    assert error.__cause__ is cause


def test_the_magic_works_under_time_and_capture(
    shell: Any, api: FakeApi, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(magics, "run", lambda command, **_: print(f"ran {command!r}") or result())
    shell.run_cell("%%time\n%%bounded\nx")
    assert capsys.readouterr().out.startswith("ran 'x\\n'\n")
    shell.run_cell("%%capture captured\n%%bounded\nx")
    assert capsys.readouterr().out == ""
    assert shell.user_ns["captured"].stdout == "ran 'x\\n'\n"


# Which display is chosen


# fmt: off
WHOLE_CELL: list[tuple[Any, ...]] = [
    ("%%bounded\nx",                                    [True]),
    ("%%bounded --lines 5\nx\ny",                       [True]),
    ("%bounded x",                                      [True]),
    ("\n# why\n%bounded x\n",                           [True]),
    ("%bounded a\n%bounded b",                          [False, False]),
    ("print()\n%bounded x",                             [False]),
    ("for _ in range(2):\n    %bounded x",              [False, False]),
    ("r = %bounded x",                                  [False]),
    ("get_ipython().run_cell('%bounded x')",            [False]),
    ("%%time\n%%bounded\nx",                            [False]),
    ("%%capture\n%%bounded\nx",                         [False]),
    ("%time %bounded x",                                [False]),
]
# fmt: on


@pytest.mark.parametrize(("cell", "clears"), WHOLE_CELL)
def test_only_a_magic_that_is_the_whole_cell_may_clear_it(
    shell: Any, api: FakeApi, monkeypatch: pytest.MonkeyPatch, cell: str, clears: list[bool]
) -> None:
    monkeypatch.setattr(type(shell), "get_parent", lambda _: {"content": {"code": cell}}, raising=False)
    shell.run_cell(cell)
    assert api.clears == clears


@pytest.mark.parametrize(
    "request_", [None, {}, {"content": {}}, {"content": {"code": None}}, {"content": {"code": "("}}]
)
def test_without_the_code_of_the_cell_nothing_is_cleared(
    shell: Any, api: FakeApi, monkeypatch: pytest.MonkeyPatch, request_: Any
) -> None:
    if request_ is not None:
        monkeypatch.setattr(type(shell), "get_parent", lambda _: request_, raising=False)
    shell.run_cell("%bounded x")
    assert api.clears == [False]


# Help and completion


def test_help_names_every_option_and_runs_nothing(shell: Any, api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell("%bounded --help")
    help_ = capsys.readouterr().out
    shell.run_cell("%%bounded?")
    shown = capsys.readouterr().out
    for line in filter(None, map(str.strip, help_.splitlines())):
        assert line in shown
    for option in OPTIONS:
        assert f"\n    {option.name} {option.metavar}".rstrip() in help_
        assert option.help in help_
    assert "{expression}" in help_
    assert "{{" not in help_
    assert max(map(len, help_.splitlines())) <= 120
    assert not api.calls


COMPLETIONS = [
    ("%%bounded --by", "--by", ["--bytes"]),
    ("%bounded --by", "--by", ["--bytes"]),
    ("%%bounded ", "", [option.name for option in OPTIONS]),
    ("%bounded --lines 5 --no", "--no", ["--no-spill", "--no-raise-error"]),
    ("%%bounded --retain ", "", ["tail", "head", "both"]),
    ("%bounded --retain=h", "h", ["head"]),
    ("%%bounded --cwd DIR/m", "DIR/m", ["DIR/my\\ dir/"]),
    ("%%bounded --cwd DIR/my\\ d", "DIR/my\\ d", ["DIR/my\\ dir/"]),
    ("%bounded --cwd='DIR/my d", "'DIR/my d", ["'DIR/my dir/"]),
    ("%bounded --cwd $D/m", "$D/m", ["$D/my\\ dir/"]),
    ("%%time\n%%bounded --by", "--by", ["--bytes"]),
]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "tree" / "my dir").mkdir(parents=True)
    return tmp_path / "tree"


@pytest.mark.filterwarnings("ignore:`Completer.complete`:PendingDeprecationWarning")
@pytest.mark.parametrize(("typed", "replaced", "texts"), COMPLETIONS)
@pytest.mark.parametrize("jedi", [False, True])
def test_tab_completes_the_line_of_the_magic(
    shell: Any, directory: Path, typed: str, replaced: str, texts: list[str], jedi: bool
) -> None:
    shell.Completer.use_jedi = jedi
    shell.user_ns["D"] = directory
    typed, replaced, *texts = (text.replace("DIR", str(directory)) for text in (typed, replaced, *texts))
    for body in ("", "\n", "\necho --li"):
        with provisionalcompleter():
            found = list(shell.Completer.completions(typed + body, len(typed)))
        assert [completion.text for completion in found] == texts
        assert {(completion.start, completion.end) for completion in found} == {
            (len(typed) - len(replaced), len(typed))
        }
    line = typed.split("\n")[-1]
    assert shell.complete("", line, len(line)) == (replaced, texts)


@pytest.mark.parametrize("typed", ["%bounded make --by", "%%bounded\necho --by", "%boundedx --by", "x --by"])
def test_tab_proposes_no_option_elsewhere(shell: Any, typed: str) -> None:
    with provisionalcompleter():
        texts = [completion.text for completion in shell.Completer.completions(typed, len(typed))]
    assert "--bytes" not in texts


def test_tab_runs_no_expression_of_the_user(shell: Any) -> None:
    launched: list[bool] = []
    shell.user_ns["launch"] = lambda: launched.append(True)
    with provisionalcompleter():
        list(shell.Completer.completions("%bounded --cwd {launch()}/", 26))
    assert not launched


# Loading


def test_the_extension_loads_and_unloads_by_its_name(
    shell: Any, api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    magics.unload_ipython_extension(shell)
    for line, runs in (("%load_ext", 1), ("%reload_ext", 2), ("%unload_ext", 2)):
        shell.run_cell(f"{line} boundcap_jupyter")
        shell.run_cell("%bounded x")
        assert len(api.calls) == runs
    assert "not found" in capsys.readouterr().err


def test_unloading_takes_everything_away_and_loading_twice_adds_nothing(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(shell.Completer.custom_matchers) == 1
    magics.load_ipython_extension(shell)
    assert len(shell.Completer.custom_matchers) == 1
    magics.unload_ipython_extension(shell)
    magics.unload_ipython_extension(shell)
    assert not shell.Completer.custom_matchers
    shell.run_cell("%bounded x")
    assert "not found" in capsys.readouterr().err


def test_unloading_leaves_what_others_put_in_its_place(shell: Any) -> None:
    own = SimpleNamespace(called=[])
    shell.register_magic_function(own.called.append, "line", "bounded")
    shell.Completer.custom_matchers.append(lambda text: [])
    magics.unload_ipython_extension(shell)
    shell.run_cell("%bounded x")
    assert own.called == ["x"]
    assert len(shell.Completer.custom_matchers) == 1


# Through a kernel, with the real API


class Kernel:
    """One kernel; a cell gives its reply and the messages that it published."""

    def __init__(self, manager: Any, client: Any) -> None:
        self.client = client
        self.interrupt = manager.interrupt_kernel

    def run(self, code: str) -> tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]:
        published: list[tuple[str, dict[str, Any]]] = []
        reply = self.client.execute_interactive(
            code,
            timeout=60,
            allow_stdin=False,
            output_hook=lambda message: published.append((message["msg_type"], message["content"])),
        )
        return reply["content"], published

    def value(self, expression: str) -> Any:
        reply, _ = self.run(f"import json as _json; _json_text = _json.dumps({expression})")
        assert reply["status"] == "ok"
        reply = self.client.execute_interactive(
            "", user_expressions={"v": "_json_text"}, silent=True, timeout=60, output_hook=lambda _: None
        )
        return json.loads(eval(reply["content"]["user_expressions"]["v"]["data"]["text/plain"]))


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    manager = pytest.importorskip("jupyter_client.manager")
    kernel_manager, client = manager.start_new_kernel(kernel_name="python3")
    try:
        started = Kernel(kernel_manager, client)
        reply, _ = started.run("%load_ext boundcap_jupyter")
        assert reply["status"] == "ok", reply
        yield started
    finally:
        client.stop_channels()
        kernel_manager.shutdown_kernel(now=True)


def test_in_a_kernel_a_wrong_line_is_one_line_of_error_and_stops_what_follows(kernel: Kernel) -> None:
    reply, published = kernel.run("%%bounded --bytes 0\ntouch never")
    assert reply["status"] == "error"
    assert [content["text"] for kind, content in published if kind == "stream"] == [
        "UsageError: --bytes must be a size of at least 64 bytes, such as 800, 50k or 2M, not '0'\n"
    ]


def test_in_a_kernel_a_failed_command_is_a_short_error(kernel: Kernel) -> None:
    reply, published = kernel.run("%%bounded --out r\necho before\nexit 3")
    assert reply["status"] == "error"
    (error,) = (content for kind, content in published if kind == "error")
    assert error["traceback"] == ["CommandFailed: exit code 3; last line: before"]
    assert error["evalue"] == "exit code 3; last line: before"
    assert kernel.value("[r.text, r.exit_code, _exit_code]") == ["before\n", 3, 3]


def test_in_a_kernel_the_error_can_be_left_to_the_next_cell(kernel: Kernel) -> None:
    reply, _ = kernel.run("%bounded --no-raise-error --out r echo before; exit 4")
    assert reply["status"] == "ok"
    assert kernel.value("[r.text, r.exit_code, _exit_code]") == ["before\n", 4, 4]


def test_in_a_kernel_a_timeout_keeps_what_was_printed(kernel: Kernel) -> None:
    reply, published = kernel.run("%bounded --timeout 0.5 --out r seq 1000; sleep 60")
    assert reply["status"] == "error"
    (error,) = (content for kind, content in published if kind == "error")
    assert error["traceback"][0].startswith("ExecutionError: timed out after ")
    assert kernel.value("[r.state, r.truncation.total_lines, len(r.text.splitlines())]") == ["timeout", 1000, 1000]


def test_in_a_kernel_a_command_that_asks_ends_at_once_and_a_quiet_one_when_it_is_told_to(kernel: Kernel) -> None:
    kernel.run("%bounded --out r read -p 'Continue? ' a; echo \"got $a\"; cat")
    assert kernel.value("r.text") == "got \n"
    reply, published = kernel.run("%bounded --idle-timeout 0.5 --timeout 60 --out r echo before; sleep 60; echo ok")
    assert reply["status"] == "error"
    assert kernel.value("[r.state, r.text]") == ["idle_timeout", "before\n"]
    assert any("nothing was printed for 0.5 s" in str(content) for _, content in published)


def test_in_a_kernel_a_cell_can_be_python_with_a_file_as_its_input(kernel: Kernel, tmp_path: Path) -> None:
    (tmp_path / "in put").write_text("1\n2\n")
    code = f"%%bounded --shell python3 --stdin '{tmp_path}/in put' --out r\nimport sys\nprint(sum(map(int, sys.stdin)))"
    assert kernel.run(code)[0]["status"] == "ok"
    assert kernel.value("r.text") == "3\n"


def test_in_a_kernel_a_script_of_three_megabytes_runs(kernel: Kernel) -> None:
    kernel.run(f"%%bounded --out r\necho before\n# {'x' * 3_000_000}\necho after")
    assert kernel.value("r.text") == "before\nafter\n"


def test_in_a_kernel_programs_colour_their_output_and_with_a_terminal_know_its_width(kernel: Kernel) -> None:
    kernel.run("%bounded --out r echo $$FORCE_COLOR $$CLICOLOR_FORCE $$TERM $$PAGER")
    assert kernel.value("r.text") == "1 1 xterm-color cat\n"
    kernel.run("%bounded --pty --columns 132 --out r tput cols; echo $$TERM $$PAGER $$GIT_PAGER")
    assert kernel.value("r.text.split()[-4:]") == ["132", "xterm-256color", "cat", "cat"]


def run_and_interrupt(kernel: Kernel, ready: Path, code: str) -> tuple[Any, Any]:
    """Run a cell, and interrupt the kernel as soon as `ready` is there."""

    def interrupt_when_ready() -> None:
        while not ready.exists():
            time.sleep(0.02)
        kernel.interrupt()

    thread = threading.Thread(target=interrupt_when_ready, daemon=True)
    thread.start()
    answer = kernel.run(code)
    thread.join()
    return answer


def test_in_a_kernel_python_and_pip_are_the_kernels(kernel: Kernel) -> None:
    kernel.run("%bounded --out r which python pip")
    own = Path(sys.executable).parent
    assert kernel.value("r.text.split()") == [str(own / "python"), str(own / "pip")]


def test_in_a_kernel_an_interrupt_reaches_a_run_in_a_cell_that_awaits(kernel: Kernel, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    code = f"import asyncio\nawait asyncio.sleep(0)\n%bounded touch {ready}; sleep 600\n_after = 1"
    reply, _ = run_and_interrupt(kernel, ready, code)
    assert reply["ename"] == "KeyboardInterrupt"
    assert kernel.value("'_after' in globals()") is False
    # The cell's own handler is back: the next interrupt of an awaiting cell is ipykernel's again.
    assert kernel.run("await asyncio.sleep(0)")[0]["status"] == "ok"


def test_in_a_kernel_an_interrupt_is_raised_in_one_line_and_keeps_what_was_printed(
    kernel: Kernel, tmp_path: Path
) -> None:
    ready = tmp_path / "ready"
    code = f"%bounded --no-raise-error --out r echo before; touch {ready}; exec sleep 600"
    reply, published = run_and_interrupt(kernel, ready, code)
    assert reply["ename"] == "KeyboardInterrupt"
    (error,) = (content for kind, content in published if kind == "error")
    assert len(error["traceback"]) == 1
    assert error["traceback"][0].startswith("KeyboardInterrupt: stopped after ")
    assert error["traceback"][0].endswith("; last line: before")
    assert kernel.value("[r.state, r.text, _exit_code]") == ["stopped", "before\n", 130]


def test_in_a_kernel_only_the_whole_cell_is_cleared(kernel: Kernel) -> None:
    kernel.run(
        "from boundcap_jupyter import magics as _m\n_real, _seen = _m.choose_display, []\n"
        "def _spy(command, *, clears_cell, retain):\n    _seen.append(clears_cell)\n"
        "    return _real(command, clears_cell=clears_cell, retain=retain)\n_m.choose_display = _spy"
    )
    for cell in ("%%bounded\ntrue", "%bounded true", "1\n%bounded true", "%%time\n%%bounded\ntrue"):
        assert kernel.run(cell)[0]["status"] == "ok"
    assert kernel.value("_seen") == [True, True, False, False]
    kernel.run("_m.choose_display = _real")


def test_in_a_kernel_tab_completes_the_line_of_the_magic(kernel: Kernel, directory: Path) -> None:
    for jedi in (True, False):
        kernel.run(f"get_ipython().Completer.use_jedi = {jedi}")
        for typed, replaced, texts in COMPLETIONS:
            if "$D" in typed:
                continue
            typed, replaced, *texts = (text.replace("DIR", str(directory)) for text in (typed, replaced, *texts))
            reply = kernel.client.complete(typed + "\necho", len(typed), reply=True, timeout=60)["content"]
            assert reply["matches"] == texts
            assert (reply["cursor_start"], reply["cursor_end"]) == (len(typed) - len(replaced), len(typed))
