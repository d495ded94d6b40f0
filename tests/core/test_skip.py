import pytest

from boundcap_jupyter.core.charset import UTF_8, checked_charset
from boundcap_jupyter.core.limits import Bound
from boundcap_jupyter.core.screen import REACH
from boundcap_jupyter.core.skip import fresh_start, harmless_bytes, new_ground

BOUND = Bound(max_bytes=1000, max_lines=100)


@pytest.mark.parametrize(
    ("data", "length"),
    [
        (b"plain\r\ntext\b\n", 0),
        (b"\x1b[1;31mcolour\x1b[m\x1b[K\n", 7 + 3 + 3),
        # What is open at the end has not moved anything yet.
        (b"text\x1b", 0),
        (b"text\x1b[12", 0),
        (b"up\x1b[A\n", -1),
        (b"\x1b]0;title\x07", -1),
        (b"\x1b[2K", -1),
        (b"\x1b[1;31 m", -1),
    ],
)
def test_only_colours_are_known_to_leave_the_cursor_where_it_is(data, length):
    assert harmless_bytes(data) == length


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
    assert fresh_start(b"x\n" * 100 + overwritten + b"x\n" * 200, BOUND, UTF_8) == -1


def test_in_another_charset_only_what_is_ascii_counts():
    koi8 = checked_charset("koi8-r")
    letters = "ж".encode("koi8-r") * 60 + b"\n"
    bound = Bound(max_bytes=1000, max_lines=10_000)
    assert fresh_start(letters * (2 * REACH + 100), bound, koi8) == 0
    assert fresh_start((b"x" * 60 + b"\n") * (2 * REACH + 100), bound, koi8)


@pytest.mark.parametrize(
    ("data", "ground"),
    [
        # The cursor may be 63 rows above the last one: 63 newlines bring it there, the next makes a row.
        (b"x\n" * REACH, 2 * REACH),
        (b"x\n" * (REACH - 1), 0),
        (b"x\n" * 100 + b"\x1b[36A", 2 * REACH),
        # One row further up is older.
        (b"x\n" * 100 + b"\x1b[37A", 0),
        (b"x\n" * 100 + b"\x1b[37Ax" + b"\n" * REACH, 200 + 6 + REACH),
        # A climb before there is such a row makes the way to it longer.
        (b"x\n" * 60 + b"\x1b[3A" + b"y\n" * 7, 120 + 4 + 14),
        (b"x\n" * 60 + b"\x1b[3A" + b"y\n" * 6, 0),
        (b"x\n" * REACH + b"\x1bM", 0),
        (b"x\n" * REACH + b"\x1b[F", 0),
        (b"x\n" * REACH + b"\x1b[000000009A", 0),
        (b"x\n" * REACH + b"\x1b[B\x1b[31m\x1b[5C", 2 * REACH),
    ],
)
def test_the_cursor_never_returns_above_new_ground(data, ground):
    assert new_ground(data) == ground
