"""`run` and `arun` as a program uses them; what a command prints is judged in tests/running."""

import _thread
import asyncio
import inspect
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import boundcap_jupyter
from boundcap_jupyter import CommandFailed, ExecutionError, Result, RunState, arun, run
from boundcap_jupyter.core.update import apply_update
from boundcap_jupyter.core.view import OutputView


class Recorder:
    """A display that keeps what it is told."""

    def __init__(self):
        self.calls = []
        self.stop = None

    def opened(self, stop):
        self.stop = stop
        self.calls.append("opened")

    def __call__(self, update):
        self.calls.append(update.kind)

    def take_stderr(self, update):
        self.calls.append(f"stderr {update.kind}")

    def stopping(self):
        self.calls.append("stopping")

    def closed(self, outcome):
        self.calls.append(("closed", outcome.state))


class Reader(Recorder):
    """A display that also takes what lies in the spills."""

    def read_from(self, sources):
        self.sources = sources


@pytest.mark.parametrize("name", ["display", "on_update"])
def test_a_display_and_a_receiver_of_updates_may_read_the_spill(name, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    reader = Reader()
    result = run("seq 20000", **{name: reader})
    assert set(reader.sources) == {"output"}
    assert reader.sources["output"].size == result.view.metadata.spill_bytes == 108_894
    assert reader.sources["output"].read(0, 6) == b"1\n2\n3\n"


def test_the_public_names_are_these():
    assert set(boundcap_jupyter.__all__) == {
        "BoundedOutput",
        "CommandFailed",
        "ExecutionError",
        "Job",
        "OutputLimits",
        "OutputMetadata",
        "OutputSink",
        "OutputView",
        "Result",
        "RunState",
        "Truncation",
        "__version__",
        "arun",
        "load_ipython_extension",
        "parse_jsonl",
        "run",
        "run_cli",
        "run_with_capture",
        "runs",
        "start",
        "unload_ipython_extension",
    }
    for name in boundcap_jupyter.__all__:
        assert getattr(boundcap_jupyter, name) is not None
    assert set(dir(boundcap_jupyter)) == set(boundcap_jupyter.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        boundcap_jupyter.nonsense


def test_the_import_costs_neither_ipython_nor_widgets():
    script = "import sys, boundcap_jupyter; print([m for m in ('IPython', 'ipywidgets', 'psutil') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "[]"


def test_a_script_can_use_run_without_ipython_or_widgets():
    script = (
        "import sys; from boundcap_jupyter import run; r = run('echo hi'); "
        "print(r.text.strip(), r.state, [m for m in ('IPython', 'ipywidgets') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "hi exited []"


def test_run_is_a_function_whatever_was_imported_before():
    script = (
        "import boundcap_jupyter.api, boundcap_jupyter.magics; "
        "from boundcap_jupyter import run; print(run('true').state)"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "exited"


def test_a_result_tells_what_the_command_came_to():
    result = run("echo out; echo err >&2; exit 3")
    assert isinstance(result, Result)
    assert (result.state, result.exit_code, result.signal) == (RunState.EXITED, 3, None)
    assert result.state == "exited"
    assert result.text == "out\nerr\n"
    assert result.truncation.total_bytes == 8
    assert result.spill_path is None
    assert result.duration >= 0
    assert isinstance(result.view, OutputView)


def test_the_text_of_a_result_has_no_colours_and_its_view_has():
    result = run(r"printf '\033[31mred\033[0m\n'")
    assert result.text == "red\n"
    assert result.view.text == "\x1b[31mred\x1b[0m\n"


def test_a_result_that_keeps_both_ends_has_them_apart():
    result = run("printf '\\033[31m'; seq 100", retain="both", max_lines=8)
    # A quarter of the lines is for the head.
    assert (result.head, result.text) == ("1\n2\n", "95\n96\n97\n98\n99\n100\n")
    assert run("seq 3", retain="both").head == ""


def test_output_in_another_charset_is_named():
    assert run(r"printf '\xd0\xd2\xc9\xd7\xc5\xd4\n'", encoding="koi8-r").text == "привет\n"


def test_an_argument_vector_is_not_for_a_shell():
    assert run([sys.executable, "-c", "import sys; print(sys.argv[1])", "$HOME; `x`"]).text == "$HOME; `x`\n"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"max_bytes": 0}, "max_bytes"),
        ({"max_lines": "x"}, "max_lines"),
        ({"retain": "middle"}, "retain"),
        ({"cwd": "/nonexistent"}, "cwd"),
        ({"env": {"A=B": "x"}}, "env"),
        ({"env": {"A": 1}}, "env"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"stdin": 7}, "stdin"),
        ({"encoding": "utf-16"}, "encoding"),
        ({"idle_timeout": 0}, "idle_timeout"),
        ({"shell": ""}, "shell"),
        ({"unset_env": "A"}, "unset_env"),
        ({"unset_env": 1}, "unset_env"),
        ({"unset_env": iter(["A"])}, "unset_env"),
        ({"inherit_env": None}, "inherit_env"),
        ({"pty": 1}, "pty"),
        ({"columns": 80}, "columns"),
        ({"stderr": "apart"}, "stderr must be 'merge' or 'separate', not 'apart'"),
        ({"stderr": None}, "stderr must be"),
        ({"on_stderr": print}, "on_stderr needs stderr='separate', not 'merge'"),
        ({"on_held": "drop"}, "on_held"),
    ],
)
def test_a_wrong_argument_is_named_and_nothing_runs(arguments, field, tmp_path):
    display = Recorder()
    with pytest.raises(ValueError, match=field):
        run(f"touch {tmp_path}/ran", display=display, **arguments)
    assert not (tmp_path / "ran").exists()
    assert display.calls == []


@pytest.mark.parametrize("command", [None, [], [1], 7, b"echo", "nul\0"])
def test_what_is_no_command_is_refused(command):
    with pytest.raises(ValueError, match="command"):
        run(command)


def test_a_shell_for_an_argument_vector_is_refused_before_anything_appears():
    display = Recorder()
    with pytest.raises(ValueError, match=r"^shell must be None"):
        run(["true"], shell="bash", display=display)
    assert display.calls == []


def test_run_and_arun_take_the_same_arguments_with_the_same_defaults():
    assert inspect.signature(run).parameters == inspect.signature(arun).parameters


def test_every_argument_of_the_options_reaches_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("OUTER", "outer")
    (tmp_path / "in").write_text("from the file")
    arguments = {
        "shell": [sys.executable],
        "stdin": tmp_path / "in",
        "cwd": tmp_path,
        "env": {"INNER": "inner"},
        "pty": True,
        "columns": 132,
    }
    script = (
        "import os, sys; print(os.getcwd(), sys.stdin.read(), os.get_terminal_size(1).columns, "
        "*map(os.environ.get, ('OUTER', 'INNER', 'HOME', 'PYTHONUNBUFFERED')))"
    )
    monkeypatch.setenv("HOME", "/home")
    head = f"{tmp_path} from the file 132"
    assert run(script, **arguments).text == f"{head} outer inner /home 1\n"
    assert run(script, unset_env=["OUTER"], **arguments).text == f"{head} None inner /home 1\n"
    assert asyncio.run(arun(script, inherit_env=False, **arguments)).text == f"{head} None inner /home 1\n"


def test_silence_ends_a_command_that_has_an_idle_limit_and_no_other():
    with pytest.raises(ExecutionError) as caught:
        run("echo before; sleep 30; echo ok", idle_timeout=0.3, timeout=60)
    assert caught.value.state is RunState.IDLE_TIMEOUT
    assert caught.value.result.text == "before\n"
    assert run("sleep 0.5; echo ok", timeout=60).text == "ok\n"
    # Whatever is printed counts, for as long as it takes.
    assert run("for i in 1 2 3 4 5 6; do sleep 0.5; echo $i; done", idle_timeout=2.5).exit_code == 0


def test_check_raises_for_an_exit_code_other_than_zero():
    with pytest.raises(CommandFailed) as caught:
        run("echo before; exit 3", check=True)
    assert isinstance(caught.value, subprocess.CalledProcessError)
    assert caught.value.returncode == 3
    assert caught.value.output == "before\n"
    assert caught.value.result.text == "before\n"
    assert run("true", check=True).exit_code == 0


def test_a_time_limit_keeps_what_was_printed():
    with pytest.raises(ExecutionError) as caught:
        run("seq 1000; sleep 60", timeout=0.5)
    assert caught.value.state is RunState.TIMEOUT
    assert caught.value.result.truncation.total_lines == 1000
    assert "0.5 s" in str(caught.value)


def test_updates_lead_to_the_final_view():
    updates = []
    result = run("for i in 1 2 3; do echo $i; sleep 0.15; done", on_update=updates.append)
    view = None
    for update in updates:
        view = apply_update(view, update)
    assert view == result.view


def test_a_receiver_that_raises_ends_the_command_and_its_error_is_the_cause():
    def broken(update):
        raise LookupError("no")

    with pytest.raises(ExecutionError) as caught:
        run("echo kept; sleep 60", on_update=broken)
    assert caught.value.state is RunState.CALLBACK_ERROR
    assert isinstance(caught.value.__cause__, LookupError)
    assert caught.value.result.text == "kept\n"


def test_a_display_is_opened_fed_and_closed_and_so_is_the_receiver():
    display, updates = Recorder(), []
    run("echo hi", display=display, on_update=updates.append)
    assert display.calls[0] == "opened"
    assert display.calls[1:-1] == [update.kind for update in updates] != []
    assert display.calls[-1] == ("closed", RunState.EXITED)


def test_a_display_is_closed_when_the_run_fails():
    display = Recorder()
    with pytest.raises(ExecutionError):
        run(["/nonexistent/program"], display=display)
    assert display.calls[-1] == ("closed", RunState.SPAWN_ERROR)


def test_a_display_hears_of_an_interrupt_before_the_run_is_over():
    display = Recorder()
    threading.Timer(0.3, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt) as caught:
        run("exec sleep 60", display=display)
    assert caught.value.result.state is RunState.STOPPED
    assert display.calls.count("stopping") == 1
    assert display.calls[-1] == ("closed", RunState.STOPPED)


def test_the_stop_of_a_display_stops_the_run():
    display = Recorder()
    threading.Timer(0.3, lambda: display.stop()).start()
    with pytest.raises(ExecutionError) as caught:
        run("echo before; exec sleep 60", display=display)
    assert caught.value.state is RunState.STOPPED
    assert caught.value.result.text == "before\n"


def test_the_repr_is_one_short_line():
    text = repr(run("seq 3000"))
    assert text.startswith("<Result exit 0 · 3,000 lines · 13,893 B · ")
    assert "\n" not in text


# --- a standard error that is kept apart

ALTERNATING = "for i in $(seq 500); do echo out $i; echo err $i >&2; done"


def test_both_outputs_are_one_text_in_the_order_of_the_writes():
    result = run(ALTERNATING)
    assert result.text == "".join(f"out {n}\nerr {n}\n" for n in range(1, 501))
    assert (result.stderr, result.stderr_view) == (None, None)


def test_a_standard_error_that_is_kept_apart_has_its_own_text_totals_limits_and_file():
    result = run(ALTERNATING, stderr="separate", max_lines=100)
    assert result.text == "".join(f"out {n}\n" for n in range(401, 501))
    assert result.stderr == "".join(f"err {n}\n" for n in range(401, 501))
    # 9 numbers of one digit, 90 of two, 401 of three, and "out " or "err " and a newline with each.
    size = 500 * 5 + 9 * 1 + 90 * 2 + 401 * 3
    for view, word in ((result.view, "out"), (result.stderr_view, "err")):
        assert (view.metadata.truncation.total_lines, view.metadata.truncation.total_bytes) == (500, size)
        spill = Path(view.metadata.spill_path)
        assert spill.read_text() == "".join(f"{word} {n}\n" for n in range(1, 501))
        assert spill.stat().st_mode & 0o777 == 0o600


def test_each_stream_has_its_updates():
    updates, errors = [], []
    script = "for i in 1 2 3; do echo $i; echo e$i >&2; sleep 0.15; done"
    result = run(script, stderr="separate", on_update=updates.append, on_stderr=errors.append)
    for steps, final in ((updates, result.view), (errors, result.stderr_view)):
        view = None
        for update in steps:
            view = apply_update(view, update)
        assert view == final


def test_a_display_gets_the_updates_of_both_streams_and_so_do_the_receivers():
    display, updates, errors = Recorder(), [], []
    script = "echo out; echo err >&2"
    run(script, stderr="separate", display=display, on_update=updates.append, on_stderr=errors.append)
    told = display.calls[1:-1]
    assert [call for call in told if not call.startswith("stderr ")] == [update.kind for update in updates] != []
    assert [call for call in told if call.startswith("stderr ")] == [f"stderr {each.kind}" for each in errors] != []


def test_a_merged_run_tells_its_display_of_one_stream():
    display = Recorder()
    run("echo out; echo err >&2", display=display)
    assert not [call for call in display.calls if str(call).startswith("stderr")]


def test_a_receiver_of_the_standard_error_that_raises_ends_the_command():
    def broken(update):
        raise LookupError("no")

    with pytest.raises(ExecutionError) as caught:
        run("echo out; sleep 0.2; echo err >&2; sleep 60", stderr="separate", on_stderr=broken)
    assert caught.value.state is RunState.CALLBACK_ERROR
    assert isinstance(caught.value.__cause__, LookupError)
    assert (caught.value.result.text, caught.value.result.stderr) == ("out\n", "err\n")


def test_a_command_that_failed_has_its_standard_error():
    with pytest.raises(CommandFailed) as caught:
        run("echo out; echo err >&2; exit 3", stderr="separate", check=True)
    assert (caught.value.output, caught.value.stderr) == ("out\n", "err\n")
    with pytest.raises(CommandFailed) as caught:
        run("echo out; echo err >&2; exit 3", check=True)
    assert (caught.value.output, caught.value.stderr) == ("out\nerr\n", None)


def test_what_is_written_to_the_standard_error_is_no_failure():
    result = run("echo error >&2", stderr="separate", check=True)
    assert result.status.succeeded
    assert repr(result).startswith("<Result exit 0 · stdout: nothing · stderr: 1 line, 6 B · ")


def test_a_run_that_could_not_start_has_an_empty_standard_error():
    with pytest.raises(ExecutionError) as caught:
        run(["/nonexistent/program"], stderr="separate")
    assert caught.value.result.stderr == ""


def test_the_rich_repr_has_both_texts():
    bundle = run("echo out; echo err >&2", stderr="separate")._repr_mimebundle_()
    assert bundle["text/plain"].startswith("[stdout]\nout\n[stderr]\nerr\nexit 0 · stdout: 1 line, 4 B · ")
    assert bundle["text/html"].count("<pre") == 2


# --- asyncio


def test_arun_keeps_the_standard_error_apart():
    errors = []
    result = asyncio.run(arun("echo out; echo err >&2", stderr="separate", on_stderr=errors.append))
    assert (result.text, result.stderr) == ("out\n", "err\n")
    assert errors[-1].output == result.stderr_view
    with pytest.raises(ValueError, match="on_stderr needs"):
        asyncio.run(arun("true", on_stderr=errors.append))


def test_the_event_loop_goes_on_while_commands_run():
    async def main():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(tick())
        results = await asyncio.gather(arun("sleep 0.3; echo one"), arun("sleep 0.3; echo two"))
        ticking.cancel()
        return results, ticks

    results, ticks = asyncio.run(main())
    assert [result.text for result in results] == ["one\n", "two\n"]
    assert ticks >= 5


def test_a_cancelled_task_stops_its_command_and_carries_the_result():
    results = []

    async def command():
        try:
            await arun("echo before; exec sleep 60")
        except asyncio.CancelledError as error:
            results.append(error.result)
            raise

    async def main():
        task = asyncio.create_task(command())
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return results[0]

    result = asyncio.run(main())
    assert result.state is RunState.STOPPED
    assert result.text == "before\n"


def test_arun_raises_as_run_does():
    with pytest.raises(CommandFailed):
        asyncio.run(arun("exit 1", check=True))
    with pytest.raises(ExecutionError):
        asyncio.run(arun("sleep 60", timeout=0.1))
    with pytest.raises(ValueError, match="max_lines"):
        asyncio.run(arun("true", max_lines=0))


def test_wait_for_ends_the_command_with_its_own_timeout():
    async def main():
        started = time.monotonic()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(arun("exec sleep 60"), 0.2)
        return time.monotonic() - started

    assert asyncio.run(main()) < 30


def test_windows_is_told_that_it_is_not_supported_yet():
    script = "import sys; sys.platform = 'win32'; import boundcap_jupyter; boundcap_jupyter.run"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    assert "ImportError: boundcap_jupyter runs commands on Linux and macOS; Windows is not supported yet" in done.stderr
