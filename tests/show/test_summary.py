import os
import subprocess

import pytest

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.show import summary
from tests.show.examples import DONE, FAILED, NUMBERS, spilled, view_of, view_with


@pytest.fixture(autouse=True)
def home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")


def test_one_line_says_it_all():
    view = spilled(view_of(NUMBERS), "/home/ada/.cache/boundcap/s/r/output.log")
    assert summary.status_line(DONE, view) == (
        "exit 0 · 3,000 lines · 13,893 B · 0.4 s · last 2,000 lines shown · "
        "complete output: ~/.cache/boundcap/s/r/output.log"
    )


def test_what_is_whole_needs_no_more_words():
    assert summary.status_line(DONE, view_of(b"one\n")) == "exit 0 · 1 line · 4 B · 0.4 s"
    assert summary.status_line(DONE, view_of(b"")) == "exit 0 · 0 lines · 0 B · 0.4 s"


@pytest.mark.parametrize(
    ("status", "words", "label"),
    [
        (RunStatus(RunState.RUNNING), "running", "running"),
        (RunStatus(RunState.EXITED, 3), "failed · exit 3", "failed · exit 3"),
        (RunStatus(RunState.EXITED), "failed · exit unknown", "failed · exit unknown"),
        (RunStatus(RunState.SIGNALED, 143, "SIGTERM"), "killed by SIGTERM", "failed · SIGTERM"),
        (RunStatus(RunState.STOPPED, 130, "SIGINT"), "stopped", "stopped"),
        (RunStatus(RunState.TIMEOUT, 143, "SIGTERM"), "timed out", "timed out"),
        (RunStatus(RunState.TIMEOUT, detail="ended after 1 s"), "timed out", "timed out"),
        (RunStatus(RunState.IDLE_TIMEOUT), "timed out, idle", "timed out, idle"),
        (RunStatus(RunState.SPAWN_ERROR, detail="no bash"), "failed: no bash", "could not start"),
        (RunStatus(RunState.SPAWN_ERROR), "could not start", "could not start"),
        (RunStatus(RunState.SPILL_ERROR, detail="a\nb"), "failed: a b", "failed · output could not be kept"),
        (RunStatus(RunState.CALLBACK_ERROR, detail="x"), "failed: x", "failed · the output's receiver raised"),
        (RunStatus(RunState.WORKER_LOST), "failed · worker lost", "failed · worker lost"),
    ],
)
def test_every_state_has_its_words(status, words, label):
    assert summary.status_line(status, view_of(b"")) == f"{words} · 0 lines · 0 B · 0.0 s"
    assert summary.state_label(status) == label


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, []), (0.09, []), (0.1, ["at least 0.1 s"]), (2.0, ["at least 2.0 s"]), (65, ["at least 1 min 05 s"])],
)
def test_how_long_an_interrupted_run_took_is_known_in_part_or_not_at_all(seconds, words):
    status = RunStatus(RunState.INTERRUPTED, duration=seconds)
    assert summary.state_label(status) == "interrupted"
    assert summary.status_line(status, view_of(b"")).split(" · ") == ["interrupted", "0 lines", "0 B", *words]
    both = summary.status_line(status, view_of(b"a\n"), "tail", view_of(b"b\n"))
    assert both.split(" · ") == ["interrupted", "stdout: 1 line, 2 B", "stderr: 1 line, 2 B", *words]


def test_every_state_has_a_label():
    assert all(summary.state_label(RunStatus(state)) for state in RunState)


def test_the_exit_status_alone_decides_between_good_and_bad():
    outcomes = {state: summary.outcome(RunStatus(state, 0)) for state in RunState}
    assert outcomes.pop(RunState.RUNNING) == "running"
    assert outcomes.pop(RunState.EXITED) == "good"
    assert outcomes.pop(RunState.STOPPED) == outcomes.pop(RunState.INTERRUPTED) == "ended"
    assert set(outcomes.values()) == {"bad"}
    assert summary.outcome(FAILED) == "bad"


@pytest.mark.parametrize(
    ("view", "retain", "beside_totals", "alone"),
    [
        (view_of(b"x\n"), "tail", "", ""),
        (view_of(NUMBERS, max_lines=1), "tail", "last 1 line shown", "last 1 of 3,000 lines"),
        (view_of(NUMBERS, retain="head"), "head", "first 2,000 lines shown", "first 2,000 of 3,000 lines"),
        (view_of(b"*" * 100_000 + b"\n"), "tail", "end of a line of 100,000 B shown", "end of a line of 100,000 B"),
        (
            view_of(b"1\n" + b"*" * 100_000),
            "tail",
            "end of the last line of 100,000 B shown",
            "end of the last line of 100,000 B, 2 lines in all",
        ),
        (view_of(b"*" * 100_000, retain="head"), "head", "start of a long line shown", "start of a long line"),
        (
            view_of(b"*" * 100_000 + b"\n1\n", retain="head"),
            "head",
            "start of a long line shown",
            "start of a long line, 2 lines in all",
        ),
        (
            view_of(b"*" * 1000 + b"\nend\n", max_bytes=64),
            "tail",
            "last 2 lines shown, the first one cut",
            "last 2 of 2 lines, the first one cut",
        ),
        (view_with(binary=True), "tail", "binary output, shown as hex", "binary output, shown as hex"),
    ],
)
def test_what_is_shown_of_the_whole_is_said_exactly(view, retain, beside_totals, alone):
    assert summary.shown(view, retain, of=False) == beside_totals
    assert summary.shown(view, retain) == alone


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("complete", "complete output:"),
        ("open", "all output so far:"),
        ("incomplete", "incomplete after 13,893 B:"),
    ],
)
def test_what_a_spill_holds_is_said_before_its_path(state, words):
    view = spilled(view_of(NUMBERS), "/x/output.log", state)
    assert summary.spill_words(view.metadata) == words
    assert summary.status_line(DONE, view).endswith(f" · {words} /x/output.log")


def test_a_spill_that_could_not_be_made_leads_nowhere_and_says_so():
    view = view_with("x", truncated=True, spill_state="incomplete")
    assert summary.status_line(DONE, view).endswith(" · incomplete after 0 B: no file")


def test_what_was_not_kept_is_said():
    assert summary.status_line(DONE, view_of(NUMBERS)).endswith(" · last 2,000 lines shown · the rest was not kept")


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, ""),
        (1, "1 process still holds the output"),
        (2, "2 processes still hold the output"),
        (1234, "1,234 processes still hold the output"),
    ],
)
def test_who_could_still_print_is_said(count, words):
    status = RunStatus(RunState.EXITED, 0, duration=0.5, pipe_held=count)
    assert summary.held(status) == words
    assert summary.status_line(status, view_of(b"x\n")) == " · ".join(
        filter(None, ["exit 0 · 1 line · 2 B · 0.5 s", words])
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0.0 s"),
        (0.49, "0.4 s"),
        (9.99, "9.9 s"),
        (10, "10 s"),
        (59.99, "59 s"),
        (60, "1 min 00 s"),
        (185.2, "3 min 05 s"),
        (3599.9, "59 min 59 s"),
        (7620, "2 h 07 min"),
        (3_600_000, "1,000 h 00 min"),
    ],
)
def test_a_duration_never_says_more_than_what_has_passed(seconds, words):
    assert summary.duration(seconds) == words


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/ada/x/output.log", "~/x/output.log"),
        ("/home/ada", "~"),
        ("/home/adam/output.log", "/home/adam/output.log"),
        ("/tmp/home/ada/x", "/tmp/home/ada/x"),
        ("output.log", "output.log"),
    ],
)
def test_the_home_directory_is_abbreviated(path, shown):
    assert summary.display_path(path) == shown


def test_a_shell_takes_the_abbreviated_path():
    script = f"printf %s {summary.display_path('/home/ada/x/output.log')}"
    printed = subprocess.run(["sh", "-c", script], env=dict(os.environ), stdout=subprocess.PIPE, text=True, check=True)
    assert printed.stdout == "/home/ada/x/output.log"


def test_without_a_home_a_path_stays_as_it_is(monkeypatch):
    monkeypatch.setenv("HOME", "/")
    assert summary.display_path("/x/output.log") == "/x/output.log"


@pytest.mark.parametrize(
    ("command", "label"),
    [
        ("make -j8", "make -j8"),
        ("\n\n  make -j8 \n", "make -j8"),
        ("make\nmake test\n", "make …"),
        (["printf", "%s", "a b"], "printf %s 'a b'"),
        ("", ""),
        ("x" * 121, "x" * 118 + " …"),
    ],
)
def test_a_command_has_a_label_of_one_line(command, label):
    assert summary.command_label(command) == label


def test_both_ends_are_named_where_there_are_two():
    capture = OutputCapture(OutputLimits(max_lines=4, retain="both"))
    capture.feed(b"".join(b"%d\n" % number for number in range(1, 1001)))
    capture.finish()
    view = capture.view()
    assert summary.shown(view, "both") == "first 1 and last 3 of 1,000 lines"
    assert summary.shown(view, "both", of=False) == "first 1 and last 3 lines shown"


def test_what_can_not_be_printed_is_not():
    hostile = "\x1b]0;title\x07\u202e\udcff"
    assert summary.display_path(f"/tmp/{hostile}/output.log") == "/tmp/\ufffd]0;title\ufffd\ufffd\ufffd/output.log"
    status = RunStatus(RunState.CALLBACK_ERROR, detail=f"it raised {hostile}")
    assert summary.detail(status) == "it raised \ufffd]0;title\ufffd\ufffd\ufffd"


def test_that_the_time_was_up_is_said_once():
    assert summary.detail(RunStatus(RunState.TIMEOUT, detail="the time limit of 1 s was reached")) == ""


# --- a standard error that is kept apart


def test_two_streams_have_their_totals_in_the_status_line():
    out, errors = spilled(view_of(NUMBERS), "/x/output.log"), view_of(b"no\n")
    line = summary.status_line(FAILED, out, "tail", errors)
    assert line == "failed · exit 3 · stdout: 3,000 lines, 13,893 B · stderr: 1 line, 3 B · 0.4 s"
    line = summary.status_line(DONE, view_of(b""), "tail", errors)
    assert line == "exit 0 · stdout: nothing · stderr: 1 line, 3 B · 0.4 s"


def test_a_standard_error_that_printed_nothing_is_named_in_the_line_of_the_output():
    assert summary.status_line(DONE, view_of(b"x\n"), "tail", view_of(b"")) == (
        "exit 0 · 1 line · 2 B · 0.4 s · stderr: nothing"
    )
    out = spilled(view_of(NUMBERS), "/x/output.log")
    assert summary.status_line(DONE, out, "tail", view_of(b"")) == (
        "exit 0 · 3,000 lines · 13,893 B · 0.4 s · stderr: nothing"
        " · last 2,000 lines shown · complete output: /x/output.log"
    )


def test_there_is_a_second_text_where_there_is_something_in_it():
    out, errors = view_of(b"out\n"), view_of(b"err\n")
    assert summary.sections(out, None) == summary.sections(out, view_of(b"")) == (("", out),)
    assert summary.sections(out, errors) == (("stdout", out), ("stderr", errors))
    # A command may print what shows nothing: it printed.
    assert len(summary.sections(out, view_of(b"\x1b[31m"))) == 2


def test_a_heading_says_what_is_shown_and_where_the_rest_is():
    assert summary.heading("stderr", view_of(b"err\n")) == "[stderr]"
    assert summary.heading("stdout", spilled(view_of(NUMBERS), "/x/output.log")) == (
        "[stdout] last 2,000 of 3,000 lines · complete output: /x/output.log"
    )
