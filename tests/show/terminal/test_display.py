import io
import threading
import time

import pytest

from boundcap_jupyter.core.update import Append, Replace
from boundcap_jupyter.show.terminal.display import TerminalDisplay, terminal_text
from tests.show.examples import FAILED, Ended, view_of, view_with

TAKEN_AWAY = "\r\x1b[J"
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


@pytest.mark.parametrize(
    ("charset", "text"), [("ascii", "h? ? ?"), ("latin-1", "h\u00e9 ? ?"), ("utf-8", "h\u00e9 € 😀")]
)
def test_characters_that_the_stream_has_not_lose_no_result(charset, text):
    for errors in ("strict", "backslashreplace"):
        out = io.TextIOWrapper(io.BytesIO(), charset, errors, newline="\n")
        TerminalDisplay(out=out, err=io.StringIO()).closed(Ended(view_of("h\u00e9 € 😀\n".encode())))
        assert out.buffer.getvalue().decode(charset).splitlines()[0] == text


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


def test_while_it_runs_it_is_drawn_and_taken_away_before_the_result():
    err = Terminal()
    display = TerminalDisplay(out=io.StringIO(), err=err)
    display.opened(lambda: None)
    display(Replace(view_of(b"one\n")))
    display(Append("two\n", view_of(b"one\ntwo\n").metadata))
    _wait_for(err, " · 2 lines · 8 B · two")
    display.stopping()
    _wait_for(err, "stopping… · ")
    display.closed(Ended(view_of(b"one\ntwo\n")))
    assert err.getvalue().endswith(TAKEN_AWAY)


def _wait_for(err, text):
    deadline = time.monotonic() + 60
    while text not in err.getvalue():
        assert time.monotonic() < deadline, err.getvalue()
        time.sleep(0.01)


# --- a standard error that is kept apart


def test_both_texts_are_printed_under_their_headings():
    ended = Ended(view_of(b"\x1b[31mone\x1b[0m"), FAILED, view_of(b"two\n"))
    status = "failed · exit 3 · stdout: 1 line, 12 B · stderr: 1 line, 4 B · 0.4 s\n"
    assert _shown(io.StringIO(), ended=ended) == f"[stdout]\none\n[stderr]\ntwo\n{status}"
    coloured = _shown(Terminal(), ended=ended)
    assert coloured.startswith("[stdout]\n\x1b[31mone\x1b[0m")
    assert coloured.endswith(f"\n[stderr]\ntwo\n{status}")


def test_updates_of_both_streams_are_drawn():
    err = Terminal()
    display = TerminalDisplay(out=io.StringIO(), err=err)
    display.opened(lambda: None)
    try:
        display(Replace(view_of(b"one\n")))
        display.take_stderr(Replace(view_of(b"oops\n")))
        _wait_for(err, "stdout: 1 line, 4 B · stderr: 1 line, 5 B · oops")
    finally:
        display.closed(Ended(view_of(b"one\n")))
