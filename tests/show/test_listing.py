"""Earlier runs as a table."""

import re
from datetime import datetime, timezone

import pytest
from wcwidth import wcswidth

from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.show.listing import MAX_ROWS, Row, listing_html, listing_text
from tests.show.examples import DONE, NUMBERS, view_of
from tests.show.page import Page

STARTED = datetime(2026, 11, 30, 10, 11, 12, tzinfo=timezone.utc)


def row(number=1, command="make -j8", status=DONE, **fields):
    return Row(
        f"20261130-101112-4711-ab12cd/{number:04d}", command, STARTED, status, view_of(NUMBERS).metadata, **fields
    )


def test_a_row_says_what_ran_when_and_what_became_of_it():
    heading, line = listing_text([row()], 1).splitlines()
    assert heading.split() == ["id", "started", "state", "duration", "lines", "bytes", "command"]
    local = STARTED.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    cells = re.split(r" {2,}", line)
    assert cells == ["20261130-101112-4711-ab12cd/0001", local, "done", "0.4 s", "3,000", "13,893", "make -j8"]


def test_columns_stand_under_their_headings():
    lines = listing_text([row(), row(22, "x", RunStatus(RunState.INTERRUPTED, duration=7400))], 2).splitlines()
    assert len({line.index(word) for line, word in zip(lines, ("state", "done", "interrupted"), strict=True)}) == 1


def test_a_record_that_can_not_be_read_is_damaged_and_says_why():
    line = listing_text([Row("s/0001", damage="record.json is not JSON")], 1).splitlines()[1]
    assert "damaged" in line
    assert line.endswith("record.json is not JSON")


def test_the_table_is_bounded_and_says_how_many_more_there_are():
    text = listing_text([row(number) for number in range(MAX_ROWS + 10)], 1234)
    assert len(text.splitlines()) == 1 + MAX_ROWS + 1
    assert text.endswith(f"… and {1234 - MAX_ROWS:,} more")
    assert len(listing_html([row(command="x" * 10_000)] * 1000, 1000)) < 100_000


@pytest.mark.parametrize("columns", [1, 20, 40, 60, 79, 99, 119, 199])
def test_in_a_terminal_a_run_is_one_line_however_narrow(columns):
    rows = [row(), row(2, "x" * 500), row(3, "\u8a9e" * 59), Row("s/0004", damage="no record \u8a9e" * 9)]
    lines = listing_text(rows, 9999, columns).splitlines()
    assert len(lines) == 1 + len(rows) + 1
    assert max(wcswidth(line) for line in lines) <= columns
    assert all(len(line) > columns // 2 for line in lines[2:4])


@pytest.mark.parametrize(
    ("columns", "headings"),
    [
        (None, ["id", "started", "state", "duration", "lines", "bytes", "command"]),
        # 32, 19, 11, 14, 5 and 6 columns and 16 of the command, with two between them.
        (115, ["id", "started", "state", "duration", "lines", "bytes", "command"]),
        (114, ["id", "started", "state", "duration", "lines", "command"]),
        (106, ["id", "started", "state", "duration", "command"]),
        (99, ["id", "state", "duration", "command"]),
        (79, ["id", "state", "duration", "command"]),
        (78, ["id", "state", "command"]),
    ],
)
def test_a_narrow_terminal_does_without_some_columns_so_that_commands_are_known_again(columns, headings):
    ended = RunStatus(RunState.INTERRUPTED, duration=7.0)
    lines = listing_text([row(command="./train --epochs 300", status=ended)], 1, columns).splitlines()
    assert lines[0].split() == headings
    assert "./train --epoch" in lines[1]
    assert ("at least 7.0 s" in lines[1]) == ("duration" in headings)


def test_a_short_command_takes_no_room_that_others_want():
    # 32, 19, 5, 8, 5, 6 and 7 columns, with two between them.
    assert listing_text([row(command="make")], 1, 94) == listing_text([row(command="make")], 1)
    assert "bytes" not in listing_text([row(command="make")], 1, 93)


def test_where_a_cell_may_break_nothing_is_added_to_its_text():
    html = listing_html([row(), row(status=RunStatus(RunState.EXITED, 3, duration=1.0))], 2)
    local = STARTED.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    cells = [re.sub("<[^>]*>", "", cell) for cell in re.findall("<td[^>]*>(.*?)</td>", html)]
    facts = ["20261130-101112-4711-ab12cd/0001", local]
    assert cells == [
        *[*facts, "done", "0.4 s", "3,000", "13,893", "make -j8"],
        *[*facts, "failed · exit 3", "1.0 s", "3,000", "13,893", "make -j8"],
    ]
    assert "<span style='white-space:nowrap'>20261130-101112-</span><span" in html


def test_no_runs_is_said():
    assert listing_text([], 0) == "no runs"
    assert "no runs" in listing_html([], 0)


def test_what_a_command_holds_is_text_and_nothing_else():
    hostile = "echo '<script>alert(1)</script>' \x1b[31m\u202e"
    page = Page(listing_html([row(command=hostile), Row("s/1", damage="<b>\x1b")], 2))
    assert "<script>alert(1)</script>" in page.words
    assert "\x1b" not in page.words + listing_text([row(command=hostile)], 1)
