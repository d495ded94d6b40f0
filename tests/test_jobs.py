"""`start` and its job, as a program uses them; the last part in a real kernel, through the magic."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from boundcap_jupyter import CommandFailed, ExecutionError, Job, Result, RunState, run, start
from boundcap_jupyter.running.local import LocalRun

#: Seconds. Nothing is measured by it: what takes as long hangs.
PATIENCE = 60


def waiting_for(path: Path) -> str:
    return f"echo before; while [ ! -e {path} ]; do sleep 0.02; done; echo after"


def test_start_takes_the_arguments_of_run_but_for_the_display():
    arguments = dict(inspect.signature(run).parameters)
    del arguments["display"]
    assert inspect.signature(start).parameters == arguments


def test_start_returns_at_once_and_the_job_knows_the_end(tmp_path):
    job = start(waiting_for(tmp_path / "go"))
    assert isinstance(job, Job)
    assert (job.done, job.state) == (False, "running")
    with pytest.raises(RuntimeError, match="is not over"):
        job.result()
    with pytest.raises(TimeoutError, match=r"is not over after 0\.05 s"):
        job.wait(0.05)
    (tmp_path / "go").touch()
    result = job.wait(PATIENCE)
    assert isinstance(result, Result)
    assert (result.text, result.exit_code) == ("before\nafter\n", 0)
    assert (job.done, job.state) == (True, RunState.EXITED)
    assert job.result() is job.wait() is result


@pytest.mark.parametrize(
    ("arguments", "field"), [({"command": ""}, None), ({"command": 5}, "command"), ({"cwd": "/nonexistent"}, "cwd")]
)
def test_what_run_refuses_start_refuses(arguments, field):
    arguments = {"command": "true", **arguments}
    if field is None:
        assert start(**arguments).wait(PATIENCE).exit_code == 0
        return
    for refuse in (run, start):
        with pytest.raises(ValueError, match=field):
            refuse(**arguments)


def test_a_failed_job_raises_where_somebody_waits_and_nowhere_else(capfd, caplog):
    job = start("echo no; exit 3", check=True)
    with pytest.raises(CommandFailed) as failed:
        job.wait(PATIENCE)
    assert failed.value.result is job.result()
    assert start("exit 3").wait(PATIENCE).exit_code == 3
    never = start(["/nonexistent/program"])
    with pytest.raises(ExecutionError, match="cannot start"):
        never.wait(PATIENCE)
    assert never.state == "spawn_error"
    del job, never
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


def test_cancel_stops_as_an_interrupt_does_and_twice_kills(tmp_path, child):
    polite = start("trap 'echo cleaned; exit 0' INT; echo up; while :; do sleep 0.05; done")
    stubborn = start(child("ignore_requests.py"))
    for job in (polite, stubborn):
        _until(lambda job=job: b"" != job._shown.run._streams[0].view().text.encode())
        job.cancel()
    stubborn.cancel()
    for job in (polite, stubborn):
        with pytest.raises(ExecutionError):
            job.wait(PATIENCE)
        assert job.state == "stopped"
    assert polite.result().text == "up\ncleaned\n"
    assert stubborn.result().exit_code == 137
    polite.cancel()


def test_a_receiver_of_updates_that_fails_at_the_end_fails_the_job_which_keeps_its_output():
    class Receiver:
        def __call__(self, update):
            pass

        def finish(self, status):
            raise OSError("full")

    job = start("echo kept", on_update=Receiver())
    with pytest.raises(ExecutionError, match="raised OSError: full"):
        job.wait(PATIENCE)
    assert job.result().text == "kept\n"
    with pytest.raises(ExecutionError, match="raised OSError: full") as failed:
        run("echo kept", on_update=Receiver())
    assert (failed.value.state, failed.value.result.text) == ("callback_error", "kept\n")


def test_a_run_that_breaks_off_for_a_defect_of_ours_is_over_all_the_same(monkeypatch):
    def broken(self):
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(LocalRun, "_run", broken)
    job = start("sleep 600")
    with pytest.raises(ExecutionError, match="a defect"):
        job.wait(PATIENCE)
    assert job.state == "worker_lost"


def test_any_number_of_threads_may_wait():
    job = start("sleep 0.1; echo done")
    texts = []
    threads = [threading.Thread(target=lambda: texts.append(job.wait(PATIENCE).text)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == ["done\n"] * 8


def test_the_text_of_a_job_says_how_it_goes(tmp_path):
    job = start(waiting_for(tmp_path / "go"))
    assert repr(job).startswith("<Job running · 0.")
    assert " · echo before; while" in repr(job)
    (tmp_path / "go").touch()
    job.wait(PATIENCE)
    assert repr(job).startswith("<Job exit 0 · 2 lines · 13 B · ")


def test_a_script_that_exits_leaves_no_job_and_needs_no_notebook(tmp_path):
    script = (
        "import sys; from boundcap_jupyter import start\n"
        f"job = start('echo $$ > {tmp_path}/pid.new; mv {tmp_path}/pid.new {tmp_path}/pid; exec sleep 600')\n"
        "import os, time\n"
        f"while not os.path.exists('{tmp_path}/pid'): time.sleep(0.01)\n"
        "print(job.state, [m for m in ('IPython', 'ipywidgets') if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert (said.stdout, said.stderr) == ("running []\n", "")
    pid = int((tmp_path / "pid").read_text())
    _until(lambda: not _lives(pid))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _until(condition) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# In a kernel, where a program runs the notebook


def _execute(*cells: str):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells]


def test_the_magic_shows_the_job_once_and_its_end_takes_the_place_while_other_cells_run(tmp_path):
    go = tmp_path / "go"
    _, shown, other, captured, waited, _, fails = _execute(
        "%load_ext boundcap_jupyter",
        f"%%bounded --bg --out job\n{waiting_for(go)}",
        "print(job.state, _ is job, _exit_code)",
        f"%%capture kept\nopen('{go}', 'w').close()\nwhile not job.done: pass\nprint('mine')\njob",
        "job.wait()",
        "assert kept.stdout == 'mine\\n' and kept.outputs[0].data['text/plain'].startswith('before')",
        "%bounded --bg --out job exit 3\ntry:\n    job.wait()\nexcept Exception as e:\n    print(type(e).__name__)",
    )
    (output,) = shown
    assert output.data["text/plain"].startswith("before\nafter\nexit 0 · 2 lines · 13 B · ")
    assert set(output.data) == {"text/plain", "text/html"}
    assert other[0].text == "running True None\n"
    assert captured == []
    assert waited[0].data["text/plain"].startswith("before\nafter\nexit 0 · ")
    texts = [output.get("text") or output.data["text/plain"] for output in fails]
    assert texts[0].startswith("failed · exit 3 · ")
    assert texts[1] == "CommandFailed\n"


def test_a_job_of_start_is_shown_where_it_is_displayed():
    nothing, shown = _execute(
        "from boundcap_jupyter import start\njob = start('echo hi')",
        "job.wait(); job",
    )
    assert nothing == []
    assert shown[0].data["text/plain"].startswith("hi\nexit 0 · ")
