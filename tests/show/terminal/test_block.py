import pytest
from wcwidth import wcswidth

from boundcap_jupyter.core.sgr import PLAIN, Style
from boundcap_jupyter.core.text import plain
from boundcap_jupyter.show.terminal.block import Scene, block_rows, last_rows, live_line
from tests.show.examples import NUMBERS, view_of, view_with

LOG = view_of(b"".join(b"line %d\n" % n for n in range(1, 31)))


def rows_of(scene, columns=80, lines=24, retain="tail", colours=False):
    return block_rows(scene, retain, columns, lines, colours=colours)


def test_the_block_is_an_empty_row_the_last_rows_and_the_status():
    assert rows_of(Scene(12.3, LOG, pace="1.2 kB/s")) == [
        "",
        *(f"line {n}" for n in range(24, 31)),
        "running · 12 s · 30 lines · 231 B · 1.2 kB/s",
    ]


@pytest.mark.parametrize(
    ("lines", "rows"), [(0, 1), (3, 1), (5, 1), (6, 4), (9, 4), (12, 5), (24, 9), (36, 13), (200, 13)]
)
def test_it_takes_a_third_of_the_terminal_and_one_row_of_a_tiny_one(lines, rows):
    assert len(rows_of(Scene(1, LOG), lines=lines)) == rows
    assert len(rows_of(Scene(1, LOG), columns=19, lines=lines)) == 1


def test_it_is_as_high_as_there_is_text():
    assert rows_of(Scene(0)) == ["", "running · 0.0 s"]
    assert rows_of(Scene(0, view_of(b"one"))) == ["", "one", "running · 0.0 s · 1 line · 3 B"]
    assert rows_of(Scene(0, view_of(b"\n\none\n\n")))[1:-1] == ["", "", "one", ""]


@pytest.mark.parametrize("columns", [20, 33, 80])
def test_no_row_reaches_the_last_column(columns):
    view = view_of("漢字\t".encode() * 30 + b"\n" + b"x" * 500)
    rows = rows_of(Scene(1, view, pace="quiet for 12 s"), columns=columns)
    assert all(wcswidth(row) < columns for row in rows)
    assert rows[1].endswith("…")


def test_colours_from_before_the_rows_are_on_in_them_and_off_after_each():
    view = view_of(b"\x1b[31m" + b"".join(b"line %d\n" % n for n in range(20)) + b"\x1b[0;1mlast\n")
    rows = rows_of(Scene(1, view), colours=True)
    assert rows[1:4] == [f"\x1b[31mline {n}\x1b[0m" for n in (14, 15, 16)]
    assert rows[-2] == "\x1b[1mlast\x1b[0m"
    assert rows[-1].startswith("\x1b[1mrunning")
    assert rows[-1].endswith("\x1b[0m")
    lead = view_with("a\nb", lead_sgr="\x1b[4m")
    assert rows_of(Scene(1, lead), colours=True)[1:3] == ["\x1b[4ma\x1b[0m", "\x1b[4mb\x1b[0m"]


def test_colours_behind_the_last_newline_are_no_row():
    red = view_with("one\n\x1b[31m")
    assert last_rows(red, 5) == [("one", PLAIN)]
    assert last_rows(view_with("\x1b[31m"), 5) == []
    assert last_rows(view_with("\x1b[31ma\nb"), 1) == [("b", Style(foreground=1))]


def test_a_head_moves_until_it_is_full_and_then_stands():
    filling = rows_of(Scene(1, view_of(b"1\n2\n3\n", retain="head")), retain="head")
    assert filling[-2] == "3"
    full = view_of(NUMBERS, retain="head")
    assert rows_of(Scene(1, full), retain="head")[-2] == "2000"
    assert live_line(Scene(1.0, full), "head") == "running · 1.0 s · 3,000 lines · 13,893 B"


def test_of_both_ends_the_tail_is_shown():
    assert rows_of(Scene(1, view_of(NUMBERS, retain="both")), retain="both")[-2] == "3000"


def test_a_stop_is_said():
    assert rows_of(Scene(3, stopping=True))[-1] == "stopping… · 3.0 s"


def test_one_line_has_time_totals_and_the_last_line_without_colours():
    assert live_line(Scene(0.25)) == "running · 0.2 s"
    view = view_of(b"one\n\x1b[31mtwo\tand\x1b[0m three\n")
    assert live_line(Scene(75, view)) == "running · 1 min 15 s · 2 lines · 27 B · two and three"
    assert rows_of(Scene(75, view), lines=4, colours=True) == [live_line(Scene(75, view))]


# --- a standard error that is kept apart

ERRORS = view_of(b"".join(b"error %d\n" % n for n in range(1, 21)))


def test_two_texts_share_the_rows_under_their_headings():
    rows = rows_of(Scene(1, LOG, ERRORS), lines=36)
    assert rows[1:-1] == [
        "[stdout]",
        *(f"line {n}" for n in range(25, 31)),
        "[stderr]",
        *(f"error {n}" for n in (18, 19, 20)),
    ]
    assert rows[-1] == "running · 1.0 s · stdout: 30 lines, 231 B · stderr: 20 lines, 171 B"


def test_rows_that_one_does_not_fill_the_other_has():
    few_errors = rows_of(Scene(1, LOG, view_of(b"oops\n")), lines=36)
    assert few_errors[1:-1] == ["[stdout]", *(f"line {n}" for n in range(23, 31)), "[stderr]", "oops"]
    few_lines = rows_of(Scene(1, view_of(b"one\n"), ERRORS), lines=36)
    assert few_lines[1:-1] == ["[stdout]", "one", "[stderr]", *(f"error {n}" for n in range(13, 21))]
    no_lines = rows_of(Scene(1, view_of(b""), ERRORS), lines=36)
    assert no_lines[1:-1] == ["[stdout]", "[stderr]", *(f"error {n}" for n in range(12, 21))]


def test_where_there_is_no_room_for_both_the_one_with_the_news_is_shown():
    assert rows_of(Scene(1, LOG, ERRORS), lines=12)[-2] == "line 30"
    assert rows_of(Scene(1, LOG, ERRORS, latest_is_stderr=True), lines=12)[-2] == "error 20"


def test_a_standard_error_that_printed_nothing_takes_no_room():
    alone = rows_of(Scene(1, LOG))
    assert rows_of(Scene(1, LOG, view_of(b""))) == alone
    assert rows_of(Scene(1, LOG, view_of(b""), latest_is_stderr=True)) == alone


def test_one_line_has_the_totals_of_both_and_the_last_line_of_the_one_with_the_news():
    out, errors = view_of(b"one\ntwo\n"), view_of(b"oops\n")
    totals = "running · 1.0 s · stdout: 2 lines, 8 B · stderr: 1 line, 5 B"
    assert live_line(Scene(1, out, errors)) == f"{totals} · two"
    assert live_line(Scene(1, out, errors, latest_is_stderr=True)) == f"{totals} · oops"
    only = Scene(1, None, errors, latest_is_stderr=True)
    assert live_line(only) == "running · 1.0 s · stderr: 1 line, 5 B · oops"
    assert plain(live_line(Scene(1, out, view_of(b"")))) == "running · 1.0 s · 2 lines · 8 B · two"
