import pytest
from wcwidth import wcswidth

from boundcap_jupyter.core.sgr import PLAIN, Style
from boundcap_jupyter.show.terminal.columns import clip

RED = Style(foreground=1)
LINK = "\x1b]8;;https://example.org/\x1b\\"
END = "\x1b]8;;\x1b\\"


@pytest.mark.parametrize(
    ("text", "columns", "clipped"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("漢字", 4, "漢字"),
        ("漢字漢", 5, "漢字…"),
        ("漢字漢", 4, "漢…"),
        ("e\u0301e\u0301", 2, "e\u0301e\u0301"),
        ("\u1112\u1161\u11ab", 2, "\u1112\u1161\u11ab"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
        ("", 0, ""),
        ("a\tb", 9, "a       b"),
        ("a\tb", 8, "a…"),
        ("12345678\tb", 20, "12345678        b"),
    ],
)
def test_a_line_is_clipped_to_the_columns_that_it_takes(text, columns, clipped):
    assert clip(text, columns) == clipped
    assert wcswidth(clipped) <= columns


def test_colours_are_those_in_force_and_end_with_the_row():
    assert clip("abc", 3, RED, colours=True) == "\x1b[31mabc\x1b[0m"
    assert clip("a\x1b[1mbcd", 3, RED, colours=True) == "\x1b[31ma\x1b[1mb…\x1b[0m"
    assert clip("a\x1b[0mbc", 3, RED, colours=True) == "\x1b[31ma\x1b[0mbc"
    assert clip("", 3, RED, colours=True) == ""


def test_without_colours_there_is_text_alone():
    assert clip("a\x1b[1mb\x1b[0mcd", 3, RED) == "ab…"


def test_links_are_dropped_and_their_text_is_not():
    assert clip(f"see {LINK}this{END} now", 40, PLAIN, colours=True) == "see this now"
