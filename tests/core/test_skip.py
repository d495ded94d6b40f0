import pytest

from boundcap_jupyter.core.charset import UTF_8, checked_charset
from boundcap_jupyter.core.limits import Bound
from boundcap_jupyter.core.screen import REACH
from boundcap_jupyter.core.sgr import PLAIN, Style
from boundcap_jupyter.core.skip import fresh_start, stays_below, style_after

BOUND = Bound(max_bytes=1000, max_lines=100)


@pytest.mark.parametrize(
    ("data", "below"),
    [
        (b"plain\r\ntext\b\n", True),
        (b"\x1b[1;31mcolour\x1b[m\x1b[K\n", True),
        # What is open at the end has not moved anything yet.
        (b"text\x1b", True),
        (b"text\x1b[12", True),
        (b"up\x1b[A\n", False),
        (b"\x1b]0;title\x07", False),
        (b"\x1b[2K", False),
        (b"\x1b[1;31 m", False),
    ],
)
def test_only_colours_are_known_to_leave_the_cursor_where_it_is(data, below):
    assert stays_below(data) is below


def test_a_view_starts_where_the_cursor_is_surely_below_everything_older():
    lines = b"%03d\n" * 300 % tuple(range(300))
    start = fresh_start(lines, BOUND, UTF_8)
    assert lines[start:].startswith(b"%03d\n" % REACH)


@pytest.mark.parametrize("count", [10, REACH, 2 * REACH, 2 * REACH + 100])
def test_too_few_lines_fill_no_view(count):
    assert fresh_start(b"x\n" * count, BOUND, UTF_8) == 0


def test_lines_fill_a_view_by_their_number_or_by_their_bytes():
    assert fresh_start(b"x\n" * (2 * REACH + 102), BOUND, UTF_8)
    assert fresh_start(b"x" * 50 * 20 + b"\n" + (b"x" * 60 + b"\n") * (2 * REACH + 18), BOUND, UTF_8)


@pytest.mark.parametrize("unseen", [b"\x07", b"\x1b[31m", b"\xc2\x85", b"\x01\x02", b"\x7f"])
def test_what_is_not_shown_fills_no_view(unseen):
    line = unseen * (60 // len(unseen)) + b"\n"
    bound = Bound(max_bytes=1000, max_lines=10_000)
    assert fresh_start(line * (2 * REACH + 100), bound, UTF_8) == 0
    assert fresh_start(b"x" * 60 + b"\n" + (b"x" * 60 + b"\n") * (2 * REACH + 100), bound, UTF_8)


@pytest.mark.parametrize("overwritten", [b"a\rb\n", b"a\b\n"])
def test_text_that_is_written_over_fills_no_view(overwritten):
    assert fresh_start(b"x\n" * 100 + overwritten + b"x\n" * 200, BOUND, UTF_8) == 0


@pytest.mark.parametrize(
    ("data", "style"),
    [
        (b"no colour", Style(bold=True)),
        (b"\x1b[31mred", Style(bold=True, foreground=1)),
        (b"\x1b[31mred\x1b[0m then \x1b[4m", Style(underline=True)),
        (b"\x1b[31mred\x1b[m", PLAIN),
        (b"\x1b[0;32m", Style(foreground=2)),
        (b"\x1b[31mred\x1b[K\x1b[3", Style(bold=True, foreground=1)),
    ],
)
def test_colours_are_found_in_what_is_never_interpreted(data, style):
    assert style_after(Style(bold=True), data) == style


def test_in_another_charset_only_what_is_ascii_counts():
    koi8 = checked_charset("koi8-r")
    letters = "ж".encode("koi8-r") * 60 + b"\n"
    bound = Bound(max_bytes=1000, max_lines=10_000)
    assert fresh_start(letters * (2 * REACH + 100), bound, koi8) == 0
    assert fresh_start((b"x" * 60 + b"\n") * (2 * REACH + 100), bound, koi8)
