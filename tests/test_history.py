"""`runs`, `%bounded_show` and the command line: earlier runs as a person meets them."""

import os
import re
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import boundcap_jupyter
from boundcap_jupyter import __main__ as command_line
from boundcap_jupyter import config, magics, run, runs
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.running import settings
from boundcap_jupyter.running.record import RecordError
from tests.running.stored import DAY, SESSION, STARTED, put_run, record_file, view_of


@pytest.fixture
def root(cache_home):
    return cache_home / "boundcap"


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    made = Config()
    made.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    instance = InteractiveShell.instance(config=made)
    magics.load_ipython_extension(instance)
    yield instance
    magics.unload_ipython_extension(instance)
    InteractiveShell.clear_instance()


def test_a_run_that_left_files_is_listed_and_shows_what_its_result_did(root):
    result = run("seq 3000; exit 3")
    (found,) = runs()
    assert found.command == "seq 3000; exit 3"
    assert (found.state, found.exit_code) == (RunState.EXITED, 3)
    assert (found.total_lines, found.total_bytes) == (3000, 13_893)
    assert found.spill_path == result.spill_path
    assert found.cwd == os.getcwd()
    assert found.duration == result.duration
    assert (found.text, found.view, found.stderr_view) == (result.text, result.view, None)
    assert found._repr_mimebundle_() == result._repr_mimebundle_()
    assert repr(found) == f"<EarlierRun {found.id} exited>"


def test_runs_are_a_sequence_newest_first(root):
    for number in 1, 2, 3:
        put_run(root, number, age=-number, started=STARTED + timedelta(seconds=number))
    found = runs()
    assert [one.id[-1] for one in found] == ["3", "2", "1"]
    assert (len(found), found.total, found[-1].id) == (3, 3, f"{SESSION}/0001")
    assert [one.id[-1] for one in found[1:]] == ["2", "1"]
    few = runs(limit=1)
    assert (len(few), few.total) == (1, 3)
    assert repr(few).endswith("… and 2 more")
    assert "… and 2 more" in few._repr_html_()


def test_what_a_run_took_whose_kernel_died_is_said_as_far_as_it_is_known(root):
    put_run(root, 1, RunState.RUNNING, status=RunStatus(RunState.RUNNING, duration=2.04))
    # Killed before its second record: the first one is written when the run has taken no time.
    put_run(
        root, 2, RunState.RUNNING, age=-1, started=STARTED + timedelta(seconds=1), status=RunStatus(RunState.RUNNING)
    )
    unknown, known = runs()
    for page in repr(runs()), runs()._repr_html_():
        assert re.sub("<[^>]*>", "", page).count("at least 2.0 s") == 1
        assert "0.0 s" not in page
    assert (known.duration, unknown.duration) == (2.04, 0.0)
    assert known._repr_mimebundle_()["text/plain"].endswith("\ninterrupted · 2 lines · 8 B · at least 2.0 s")
    assert unknown._repr_mimebundle_()["text/plain"].endswith("\ninterrupted · 2 lines · 8 B")
    assert ">at least 2.0 s<" in known._repr_mimebundle_()["text/html"]
    assert "0.0 s" not in unknown._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("limit", [-1, True, "3", 1.5])
def test_a_limit_is_a_number_of_runs(limit):
    with pytest.raises(ValueError, match="limit must be a number of runs"):
        runs(limit)


def test_a_damaged_record_is_listed_with_the_reason_and_shown_as_it(root):
    record_file(put_run(root)).write_text("{")
    (found,) = runs()
    assert (found.state, found.duration, found.total_bytes, found.spill_path) == (None, None, None, None)
    assert "not JSON" in found.damage
    assert "damaged" in repr(runs())
    assert "cannot be shown" in found._repr_mimebundle_()["text/plain"]
    with pytest.raises(RecordError, match="not JSON"):
        found.view


def test_a_run_that_was_removed_meanwhile_says_so(root):
    directory = put_run(root)
    (found,) = runs()
    for path in directory.iterdir():
        path.unlink()
    directory.rmdir()
    with pytest.raises(RecordError, match="it was removed"):
        found.text


def test_markup_of_a_command_or_an_output_stays_text(root):
    put_run(root, command="<script>alert(1)</script>", view=view_of(b"<script>alert(2)</script>\n"))
    (found,) = runs()
    html = runs()._repr_html_() + found._repr_mimebundle_()["text/html"]
    assert "<script" not in html


# --- %bounded_show


def test_without_an_id_the_magic_lists(shell, root, capsys):
    put_run(root)
    shell.run_line_magic("bounded_show", "")
    assert f"{SESSION}/0001" in capsys.readouterr().out


def test_with_an_id_the_magic_shows_the_view_the_totals_and_the_file(shell, root, capsys):
    spill = b"".join(b"%d\n" % number for number in range(3000))
    directory = put_run(root, 1, RunState.RUNNING, spill=spill)
    shell.run_line_magic("bounded_show", f" {SESSION[:15]} ")
    shown = capsys.readouterr().out
    assert "\n2999\ninterrupted" in shown
    assert "3,000 lines" in shown
    assert str(directory / "output.log") in shown


@pytest.mark.parametrize(
    ("wanted", "says"), [("2026", "is the beginning of 2 runs"), ("1999", "there is no run '1999'")]
)
def test_an_id_that_is_unknown_or_not_enough_is_one_clear_line(shell, root, wanted, says):
    put_run(root, 1)
    put_run(root, 2)
    with pytest.raises(UsageError, match=says) as caught:
        shell.run_line_magic("bounded_show", wanted)
    assert "\n" not in str(caught.value)


def test_unloading_takes_the_magic_and_the_configuration_away(shell):
    settings.configure("keep_days", 3)
    magics.unload_ipython_extension(shell)
    assert "bounded_show" not in shell.magics_manager.magics["line"]
    assert settings.KEEP_DAYS.get() == 7
    assert not any(isinstance(one, config.Boundcap) for one in shell.configurables)


def test_loading_sweeps_in_the_background(shell, root):
    old = put_run(root, 1, age=0)
    for path in old.iterdir():
        os.utime(path, (DAY, DAY))
    magics.load_ipython_extension(shell)
    for thread in threading.enumerate():
        if thread.name == "boundcap-sweep":
            thread.join()
    assert list(root.iterdir()) == []


def test_the_text_in_a_notebook_is_as_wide_as_it_is(shell, root, monkeypatch):
    put_run(root, command="./train " + "x" * 500)
    monkeypatch.setenv("COLUMNS", "60")
    text = shell.display_formatter.format(runs())[0]["text/plain"]
    assert text == repr(runs())
    assert text.endswith("./train " + "x" * 50 + " …")
    assert shell.display_formatter.format([runs()])[0]["text/plain"] == f"[{text}]".replace("\n", "\n ")


# --- configuration


def test_the_configuration_of_the_profile_counts_above_the_environment(shell, monkeypatch):
    monkeypatch.setenv("BOUNDCAP_MAX_LINES", "20")
    monkeypatch.setenv("BOUNDCAP_MAX_BYTES", "9k")
    shell.config.Boundcap.max_lines = 30
    magics.load_ipython_extension(shell)
    limits = run("true").view.metadata.truncation
    assert (limits.max_lines, limits.max_bytes) == (30, 9 * 1024)
    assert run("true", max_lines=40).view.metadata.truncation.max_lines == 40
    shell.run_cell("%bounded --out it true")
    assert shell.user_ns["it"].truncation.max_lines == 30
    shell.run_cell("%bounded --lines 50 --out it true")
    assert shell.user_ns["it"].truncation.max_lines == 50


def test_the_config_magic_reaches_it(shell, tmp_path, caplog):
    shell.run_line_magic("config", f"Boundcap.dir = {str(tmp_path)!r}")
    result = run("seq 3000")
    assert Path(result.spill_path).is_relative_to(tmp_path / "boundcap")
    # IPython logs what is wrong.
    shell.run_line_magic("config", "Boundcap.keep_days = 'soon'")
    (message,) = caplog.messages
    assert message.startswith("Boundcap.keep_days must be a number of days of at least 0")
    assert message.endswith("not 'soon'")
    assert settings.KEEP_DAYS.get() == 7


def test_a_wrong_configuration_is_a_warning_when_the_extension_is_loaded_and_takes_no_magic_away(shell):
    shell.config.Boundcap.store_bytes = "much"
    shell.config.Boundcap.keep_days = 3
    with pytest.warns(UserWarning, match=r"Boundcap\.store_bytes must be a size in bytes.*, not 'much': this setting"):
        shell.run_line_magic("load_ext", "boundcap_jupyter")
    assert "bounded" in shell.magics_manager.magics["cell"]
    assert settings.STORE_BYTES.get() == 20 * 1024**3
    assert settings.KEEP_DAYS.get() == 3


def test_a_wrong_variable_is_one_line_under_the_magic(shell, monkeypatch):
    monkeypatch.setenv("BOUNDCAP_MAX_LINES", "none")
    with pytest.raises(UsageError, match=r"BOUNDCAP_MAX_LINES must be a whole number of at least 1.*, not 'none'"):
        shell.run_line_magic("bounded", "true")


def test_a_warning_of_the_store_stands_below_the_output(tmp_path, monkeypatch, caplog):
    from boundcap_jupyter import api
    from boundcap_jupyter.running import local
    from boundcap_jupyter.running.store import Session

    session = Session(tmp_path / "file")
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(api, "SESSION", session)
    monkeypatch.setattr(local, "SESSION", session)
    for _ in range(2):
        assert run("echo hello").text == "hello\n"
    assert len(caplog.messages) == 1


# --- python -m boundcap_jupyter


def test_the_command_line_lists(root, capsys):
    put_run(root)
    assert command_line.main(["list"]) == 0
    out = capsys.readouterr().out
    assert f"{SESSION}/0001" in out
    assert str(root) in out


def test_the_command_line_lists_in_the_width_of_a_terminal(root):
    put_run(root, command="./train " + "x" * 500)
    command = [sys.executable, "-m", "boundcap_jupyter", "list"]
    headings, line, place = run(command, pty=True, columns=90).text.splitlines()
    assert headings.split() == ["id", "started", "state", "duration", "command"]
    assert (len(line), line[-1]) == (89, "…")
    assert place == f"in {root}"
    assert run(command).text.splitlines()[1].endswith("./train " + "x" * 50 + " …")


def test_the_command_line_sweeps_or_says_what_it_would(root, capsys, monkeypatch):
    directory = put_run(root)
    for path in directory.iterdir():
        os.utime(path, (DAY, DAY))
    assert command_line.main(["sweep", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith(f"{SESSION}/0001\nwould remove 1 runs of ")
    assert directory.is_dir()
    assert command_line.main(["sweep"]) == 0
    assert "removed 1 runs" in capsys.readouterr().out
    assert not directory.exists()


def test_the_command_line_alone_says_what_there_is(capsys):
    assert command_line.main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("usage: python -m boundcap_jupyter ")
    assert "list earlier runs, the newest first" in err
    assert "remove the files of runs that are old enough" in err


def test_a_wrong_setting_is_an_error_of_the_command_line(capsys, monkeypatch):
    monkeypatch.setenv("BOUNDCAP_STORE_BYTES", "much")
    with pytest.raises(SystemExit, match="2"):
        command_line.main(["sweep"])
    assert "BOUNDCAP_STORE_BYTES must be a size in bytes" in capsys.readouterr().err


def test_it_runs_as_a_module():

    done = subprocess.run(
        [sys.executable, "-m", "boundcap_jupyter", "list"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("no runs\n")
    assert boundcap_jupyter.runs is runs


def test_it_may_be_read_by_one_who_has_enough():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "boundcap_jupyter", "list"], stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
