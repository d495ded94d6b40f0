import io
import os
import threading
import time

import pytest

from boundcap_jupyter.core.update import Append, Replace
from boundcap_jupyter.show import terminal
from boundcap_jupyter.show.terminal import TerminalDisplay, clip, live_line, terminal_text
from tests.show.examples import FAILED, NUMBERS, Ended, view_of, view_with

CLEAR = "\r\x1b[K"
RESET = "\x1b[0m\x1b]8;;\x1b\\"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def _shown(out, err=None, ended=None):
    display = TerminalDisplay(out=out, err=err or io.StringIO())
    display.opened(lambda: None)
    display.closed(ended or Ended(view_of(b"\x1b[31mone\x1b[0m\n")))
    return out.getvalue()


def test_a_pipe_gets_the_text_without_colours_and_the_status_line():
    assert _shown(io.StringIO()) == "one\nexit 0 · 1 line · 13 B · 0.4 s\n"


def test_a_terminal_gets_colours_that_end():
    assert _shown(Terminal()) == f"\x1b[31mone\x1b[0m{RESET}\nexit 0 · 1 line · 13 B · 0.4 s\n"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_that_wants_no_colours_gets_none(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert _shown(Terminal()) == "one\nexit 0 · 1 line · 13 B · 0.4 s\n"


def test_a_run_that_printed_nothing_is_its_status_line():
    assert _shown(io.StringIO(), ended=Ended(view_of(b""), FAILED)) == "failed · exit 3 · 0 lines · 0 B · 0.4 s\n"


def test_it_is_shown_once():
    out = io.StringIO()
    display = TerminalDisplay(out=out, err=io.StringIO())
    display.closed(Ended(view_of(b"one\n")))
    display.closed(Ended(view_of(b"one\n")))
    assert out.getvalue().count("one\n") == 1


def test_colours_that_were_on_before_the_view_are_on_and_both_ends_are_apart():
    view = view_with("last", head="\x1b[1mfirst", lead_sgr="\x1b[31m", omitted_bytes=9, omitted_lines=2)
    assert terminal_text(Ended(view), colours=True).startswith(
        f"\x1b[1mfirst{RESET}\n… 2 lines, 9 B not shown …\n\x1b[31mlast{RESET}\nexit 0"
    )


def test_without_a_terminal_nothing_is_drawn_while_it_runs():
    err = io.StringIO()
    before = threading.active_count()
    display = TerminalDisplay(out=io.StringIO(), err=err)
    display.opened(lambda: None)
    display(Replace(view_of(b"one\n")))
    assert threading.active_count() == before
    display.closed(Ended(view_of(b"one\n")))
    assert err.getvalue() == ""


def test_while_it_runs_one_line_is_drawn_in_place_and_then_taken_away():
    err = Terminal()
    display = TerminalDisplay(out=io.StringIO(), err=err)
    display.opened(lambda: None)
    display(Replace(view_of(b"one\n")))
    display(Append("two\n", view_of(b"one\ntwo\n").metadata))
    deadline = time.monotonic() + 5
    while "two" not in err.getvalue() and time.monotonic() < deadline:
        time.sleep(0.01)
    display.closed(Ended(view_of(b"one\ntwo\n")))
    drawn = err.getvalue()
    assert "\n" not in drawn
    assert drawn.startswith(f"{CLEAR}running · 0.0 s")
    assert " · 2 lines · 8 B · two" in drawn
    assert drawn.endswith(CLEAR)
    assert not any(thread.name == "boundcap-terminal" for thread in threading.enumerate())


def test_a_flood_is_drawn_at_most_ten_times_a_second():
    err = Terminal()
    display = TerminalDisplay(out=io.StringIO(), err=err)
    start = time.monotonic()
    display.opened(lambda: None)
    while time.monotonic() - start < 0.5:
        display(Replace(view_of(b"one\n")))
    display.closed(Ended(view_of(b"one\n")))
    elapsed = time.monotonic() - start
    assert err.getvalue().count("running") <= elapsed / terminal.REDRAW_INTERVAL + 1


def test_the_live_line_has_time_totals_and_the_last_line_without_colours():
    assert live_line(None, 0.25) == "running · 0.2 s"
    view = view_of(b"one\n\x1b[31mtwo\tand\x1b[0m three\n")
    assert live_line(view, 75) == "running · 1 min 15 s · 2 lines · 27 B · two and three"
    assert live_line(view_of(NUMBERS, retain="head"), 1, "head") == "running · 1.0 s · 3,000 lines · 13,893 B"


@pytest.mark.parametrize(
    ("text", "columns", "clipped"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("漢字", 4, "漢字"),
        ("漢字漢", 5, "漢字…"),
        ("漢字漢", 4, "漢…"),
        ("e\u0301e\u0301", 2, "e\u0301e\u0301"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
        ("", 0, ""),
    ],
)
def test_a_line_is_clipped_to_the_columns_that_it_takes(text, columns, clipped):
    assert clip(text, columns) == clipped


def test_the_width_is_that_of_the_terminal():
    leader, follower = os.openpty()
    with os.fdopen(leader, "rb"), os.fdopen(follower, "w") as stream:
        import fcntl
        import struct
        import termios

        fcntl.ioctl(stream, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 33, 0, 0))
        assert terminal._columns(stream) == 33
    assert terminal._columns(io.StringIO()) == 80


# --- a standard error that is kept apart


def test_both_texts_are_printed_under_their_headings():
    ended = Ended(view_of(b"\x1b[31mone\x1b[0m"), FAILED, view_of(b"two\n"))
    status = "failed · exit 3 · stdout: 1 line, 12 B · stderr: 1 line, 4 B · 0.4 s\n"
    assert _shown(io.StringIO(), ended=ended) == f"[stdout]\none\n[stderr]\ntwo\n{status}"
    coloured = _shown(Terminal(), ended=ended)
    assert coloured.startswith("[stdout]\n\x1b[31mone\x1b[0m")
    assert coloured.endswith(f"\n[stderr]\ntwo\n{status}")


def test_the_live_line_has_the_totals_of_both_and_the_last_line_of_the_one_with_the_news():
    out, errors = view_of(b"one\ntwo\n"), view_of(b"oops\n")
    totals = "running · 1.0 s · stdout: 2 lines, 8 B · stderr: 1 line, 5 B"
    assert live_line(out, 1, "tail", errors) == f"{totals} · two"
    assert live_line(out, 1, "tail", errors, latest_is_stderr=True) == f"{totals} · oops"
    assert live_line(None, 1, "tail", errors, latest_is_stderr=True) == "running · 1.0 s · stderr: 1 line, 5 B · oops"
    assert live_line(out, 1, "tail", view_of(b"")) == "running · 1.0 s · 2 lines · 8 B · two"


def test_updates_of_both_streams_reach_the_live_line():
    err = Terminal()
    display = TerminalDisplay(out=io.StringIO(), err=err)
    display.opened(lambda: None)
    try:
        display.take_stderr(Append("lost", view_of(b"lost").metadata))
        display(Replace(view_of(b"one\n")))
        display.take_stderr(Replace(view_of(b"oops\n")))
        display.take_stderr(Append("again\n", view_of(b"oops\nagain\n").metadata))
        deadline = time.monotonic() + 60
        while "stdout: 1 line, 4 B · stderr: 2 lines, 11 B · again" not in err.getvalue():
            assert time.monotonic() < deadline, err.getvalue()
            time.sleep(0.01)
    finally:
        display.closed(Ended(view_of(b"one\n")))
