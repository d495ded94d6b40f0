"""Earlier runs as a table."""

import re
from datetime import datetime, timezone

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
