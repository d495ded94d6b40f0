import re

import pytest

from boundcap_jupyter.core import passage
from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.charset import UTF_8, checked_charset
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.passage import passage_before
from boundcap_jupyter.core.text import plain


def passage_of(data, end, lines=2000, charset=UTF_8):
    return passage_before(lambda offset, length: data[offset : offset + length], end, lines, charset)


def all_passages(data, end, lines=2000):
    """What a reader sees who pages from `end` back to the beginning, the oldest first."""
    found = []
    while end:
        found.append(passage_of(data, end, lines))
        assert found[-1].begins < end
        end = found[-1].begins
    return found[::-1]


def whole_text(data):
    capture = OutputCapture(OutputLimits(max_bytes=50_000_000, max_lines=1_000_000))
    capture.feed(data)
    capture.finish()
    return capture.view().text


NUMBERS = b"".join(b"%d\n" % n for n in range(1, 10_001))


def test_it_is_the_lines_before_a_place_and_says_where_they_begin():
    end = NUMBERS.index(b"9001\n")
    found = passage_of(NUMBERS, end, 500)
    assert found.text == "".join(f"{n}\n" for n in range(8501, 9001))
    assert (found.begins, found.lines, found.newlines) == (NUMBERS.index(b"8501\n"), 500, 500)


def test_it_ends_at_the_beginning_of_the_stream():
    found = passage_of(NUMBERS, NUMBERS.index(b"11\n"), 500)
    assert (found.text, found.begins, found.lines) == ("".join(f"{n}\n" for n in range(1, 11)), 0, 10)
    assert passage_of(NUMBERS, 0) == passage.Passage("", "", 0, 0, 0)


@pytest.mark.parametrize("limits", [{"max_lines": 30}, {"max_bytes": 700}], ids=str)
def test_with_the_view_that_it_stands_before_it_is_the_whole_stream(limits):
    data = b"".join(b"\x1b[3%dmline %d \xe2\x82\xac\x1b[0m\r\n" % (n % 8, n) for n in range(1000))
    capture = OutputCapture(OutputLimits(**limits))
    capture.feed(data)
    capture.finish()
    view = capture.view()
    older = all_passages(data, view.metadata.omitted_bytes, 300)
    assert "".join(plain(part.text) for part in older) + plain(view.text) == plain(whole_text(data))
    assert sum(part.newlines for part in older) == view.metadata.omitted_lines


def test_colours_and_links_stay_and_all_else_is_gone():
    data = b"\x1b[31mred\n\x1b[?25lstill red\x1b]0;title\x07\n\0\x1b[0m\xff\n<b>\n"
    found = passage_of(data, len(data) - 4, 2)
    assert found.lead_sgr == "\x1b[31m"
    assert re.fullmatch("still red\n\u2400\x1b\\[[0-9;]*m\ufffd\n", found.text)


def test_a_progress_bar_is_one_line_however_long_it_ran():
    bar = b"".join(b"\r%d%%" % n for n in range(100)) + b"\n"
    assert passage_of(b"before\n" + bar + b"after\n", len(b"before\n" + bar)).text == "before\n99%\n"


def test_rows_that_are_written_over_behind_the_place_are_as_they_became():
    data = b"one: 0%\ntwo: 0%\nthree: 0%\n" + b"\x1b[3Aone: 100%\n\x1b[2B"
    assert passage_of(data, data.index(b"two")).text == "one: 100%\n"


def test_where_a_display_was_redrawn_more_is_read_and_no_row_comes_twice(monkeypatch):
    monkeypatch.setattr(passage, "RAW", 8192)
    redrawn = b"a 0\nb 0\n" + b"".join(b"\x1b[2Aa %d\nb %d\n" % (n, n) for n in range(2000))
    data = b"first\n" + redrawn + b"last\n"
    lines = "".join(part.text for part in all_passages(data, len(data), 100)).splitlines()
    assert lines[0] == "first"
    assert lines[-1] == "last"
    # The display was drawn outside of what one passage sees, so its rows are as they were first, or as they became.
    assert len(lines) <= 4


@pytest.mark.parametrize("end_of_line", [b"\n", b""], ids=["ended", "open"])
def test_a_line_longer_than_a_passage_comes_in_pieces_of_whole_characters(monkeypatch, end_of_line):
    monkeypatch.setattr(passage, "RAW", 1000)
    monkeypatch.setattr(passage, "CONTEXT", 100)
    line = "€".encode() * 2345 + end_of_line
    data = b"before\n" + line
    pieces = all_passages(data, len(data))
    assert "".join(part.text for part in pieces) == data.decode()
    assert all(part.lines <= 1 for part in pieces[1:])


def test_from_the_midst_of_a_line_it_is_what_is_missing_of_it():
    found = passage_of(b"one\ntwo three\n", 8, 10)
    assert (found.text, found.begins, found.newlines) == ("one\ntwo ", 0, 1)


def test_a_stream_in_another_charset():
    data = "день\nночь\nутро\n".encode("koi8-r")
    assert passage_of(data, 10, 1, checked_charset("koi8-r")).text == "ночь\n"


def test_no_more_is_read_than_is_said(monkeypatch):
    read = []

    def source(offset, length):
        read.append(length)
        return b"\n" * length

    found = passage_before(source, 10**12, 2000, UTF_8)
    assert (found.lines, 10**12 - found.begins) == (2000, 2000)
    assert sum(read) <= passage.RAW + passage.CONTEXT + passage.BEYOND
