"""The rules of the table in screen.py, one by one; their combinations are judged in test_capture.py."""

import pytest

from boundcap_jupyter.core.screen import MAX_COLUMN, REACH, WIDE, Screen


def rows(data: bytes, **options) -> list[str]:
    screen = Screen(**options)
    screen.feed(data)
    screen.finish()
    return [row.text for row in screen.rows]


RULES = {
    "newline": (b"one\ntwo\n", ["one", "two", ""]),
    "CR LF is a newline": (b"one\r\ntwo\r\n", ["one", "two", ""]),
    "CR erases nothing, longer old text stays": (b"long line\rshort", ["shortline"]),
    "CR alone at the end": (b"line\r", ["line"]),
    "BS moves back, and not beyond the start": (b"ab\bc\b\b\b\bx", ["xc"]),
    "spinner": (b"|\b/\b-\b\\\b|", ["|"]),
    "TAB is kept, one column": (b"a\tb\r\bcd", ["cdb"]),
    "NUL is shown": (b"a\0b", ["a\u2400b"]),
    "other controls are removed": (b"a\x01\x07\x0b\x0c\x7fb\xc2\x85c", ["abc"]),
    "invalid bytes": (b"ok \xff\xfe\x80 bad", ["ok \ufffd\ufffd\ufffd bad"]),
    "a character that a newline cuts": (b"\xe2\x82\nx", ["\ufffd", "x"]),
    "a character that the end cuts": (b"x\xe2\x82", ["x\ufffd"]),
    "erase to the right": (b"hello world\x1b[5D\x1b[K", ["hello "]),
    "erase to the right, at the end": (b"hello\x1b[K", ["hello"]),
    "erase to the left, the cursor's column too": (b"hello\x1b[3D\x1b[1K", ["   lo"]),
    "erase all to the left": (b"hello\x1b[1K", [""]),
    "erase the row, the column stays": (b"hello\x1b[2Kx", ["     x"]),
    "erase what is unknown": (b"hello\x1b[3K", ["hello"]),
    "up and over": (b"l1\nl2\n\x1b[A\x1b[2Knew\n", ["l1", "new", ""]),
    "up by none is up by one": (b"a\nb\n\x1b[0Ac", ["a", "c", ""]),
    "up beyond the top": (b"a\nb\x1b[99Ac", ["ac", "b"]),
    "down makes no rows": (b"a\nb\x1b[5Bc", ["a", "bc"]),
    "down again": (b"a\nb\nc\x1b[2A\x1b[1BX", ["a", "bX", "c"]),
    "right of the text": (b"a\x1b[3Cb", ["a   b"]),
    "right beyond the last column": (b"\x1b[9999Cx", [" " * MAX_COLUMN + "x"]),
    "left beyond the first": (b"ab\x1b[9Dx", ["xb"]),
    "to a column, counted from one": (b"abc\x1b[2GX\x1b[GY", ["YXc"]),
    "erase to the right and below": (b"a\nbcd\ne\x1b[A\x1b[J", ["a", "b", ""]),
    "erase above, or all": (b"a\nb\x1b[1J\x1b[2J\x1b[3J", ["a", "b"]),
    "rows up and down, to the first column": (b"a\nb\nc\x1b[2FX\x1b[EY", ["X", "Y", "c"]),
    "one row up": (b"a\nb\x1bMc", ["ac", "b"]),
    "a second parameter counts for nothing": (b"a\nb\n\x1b[2;7Ac", ["c", "b", ""]),
    "private and unknown sequences are removed": (b"a\x1b[?25l\x1b[2J\x1b[H\x1b7\x1b(B\x1b[>c\x1b[1 qb", ["ab"]),
    "titles are removed": (b"a\x1b]0;title\x07b\x1bPdata\x1b\\c", ["abc"]),
    "an open title ends with its line": (b"a\x1b]0;title\nb\n", ["a", "b", ""]),
    "a title that never ends hides no more than 4 KiB": (b"\x1b]" + b"x" * 5000, ["x" * (5000 - 4096)]),
    "an escape at the very end vanishes": (b"a\x1b[3", ["a"]),
    "colours are no characters": (b"\x1b[31mred\x1b[0m", ["red"]),
    "a character beyond U+FFFF is one column": ("😀😀\rx".encode(), ["x😀"]),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_of_the_table_holds(rule):
    data, expected = RULES[rule]
    assert rows(data) == expected


def test_a_progress_bar_costs_one_row_however_long_it_runs():
    frames = b"".join(b"\rstep %d of 20000" % number for number in range(1, 20001))
    assert rows(frames + b"\n") == ["step 20000 of 20000", ""]


def test_the_cursor_reaches_the_last_64_rows_and_no_further():
    lines = b"".join(b"line %d\n" % number for number in range(100))
    result = rows(lines + b"\x1b[500A" + b"HERE")
    # 101 rows with the empty last one: the highest of the last 64 is row 37.
    assert result[101 - REACH] == "HERE 37"
    assert result[36] == "line 36"


def test_a_wide_row_is_out_of_reach_once_it_is_left():
    wide = b"x" * (WIDE + 1)
    assert rows(b"a\n" + wide + b"\n\x1b[5Ab")[:2] == ["a", wide.decode()]
    narrow = b"x" * WIDE
    assert rows(b"a\n" + narrow + b"\n\x1b[5Ab")[0] == "b"


def test_a_wide_row_is_not_left_upwards():
    wide = b"x" * (WIDE + 1)
    assert rows(b"a\n" + wide + b"\x1b[A\rb") == ["a", "b" + "x" * WIDE]


def test_a_row_keeps_its_last_columns():
    assert rows(b"0123456789abcdef", max_width=10) == ["6789abcdef"]
    # The columns are counted from what is left.
    assert rows(b"0123456789abcdef\rXY", max_width=10) == ["XY89abcdef"]


def test_a_row_keeps_its_first_columns_where_the_beginning_is_held():
    assert rows(b"0123456789abcdef\nx", max_width=10, keep_start=True) == ["0123456789", "x"]
    assert rows(b"0123456789abcdef\rXY", max_width=10, keep_start=True) == ["XY23456789"]


def test_rows_know_where_in_the_stream_they_began():
    screen = Screen()
    screen.feed("é\nb\r\n".encode() + b"\x1b[Ac\n\nd")
    # Rows began after the raw bytes of the newlines that made them, whatever the cursor did in between.
    assert [(row.start, row.line) for row in screen.rows] == [(0, 0), (3, 1), (6, 2), (12, 4)]


def test_a_link_ends_with_its_line():
    screen = Screen()
    screen.feed(b"\x1b]8;;https://example.org\x07here\nnot here")
    before = screen.rows[0].render(screen.lead, ended=True)
    assert before == "\x1b]8;;https://example.org\x1b\\here\x1b]8;;\x1b\\\n"
    assert screen.rows[1].render(screen.lead, ended=False) == "not here"


def test_a_link_to_anything_but_the_web_is_text():
    screen = Screen()
    screen.feed(b"\x1b]8;;javascript:alert(1)\x07here\x1b]8;;\x07")
    assert screen.rows[0].render(screen.lead, ended=False) == "here"
