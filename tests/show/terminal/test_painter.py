import pytest

from boundcap_jupyter.show.terminal.painter import WHOLE_AFTER, Painter
from tests.show.terminal.screens import CUTS, WRAPS, Terminal

ABOVE = [f"above {n}" for n in range(1, 31)]


def block(n, rows=4, width=70):
    """The n-th state of a block, as wide as it is told; its first row is the empty one."""
    return ["", *(f"{n} row {row} ".ljust(width, "-") for row in range(1, rows))]


@pytest.fixture
def painter():
    return Painter()


@pytest.fixture
def terminal():
    terminal = Terminal(80, 24)
    terminal.feed("".join(f"{row}\n" for row in ABOVE))
    return terminal


def test_the_block_stands_below_what_was_there_and_is_taken_away(painter, terminal):
    for n in range(50):
        terminal.feed(painter.frame(block(n), (80, 24), n / 10))
        assert terminal.rows() == ABOVE + block(n)
    terminal.feed(painter.erase() + "the result\n")
    assert terminal.rows() == [*ABOVE, "the result"]


def test_it_grows_and_shrinks_in_its_place(painter, terminal):
    for n, rows in enumerate((2, 5, 12, 3, 2, 9)):
        terminal.feed(painter.frame(block(n, rows), (80, 24), n))
        assert terminal.rows() == ABOVE + block(n, rows)


def test_what_is_shown_is_not_drawn_again(painter):
    assert painter.frame(block(1), (80, 24), 0)
    assert painter.frame(block(1), (80, 24), 100) == ""


def test_only_rows_that_changed_are_drawn(painter, terminal):
    first = ["", "one", "two", "three", "running · 1 s"]
    second = [*first[:-1], "running · 2 s"]
    whole = painter.frame(first, (80, 24), 0)
    part = painter.frame(second, (80, 24), 1)
    assert "one" in whole
    assert "one" not in part
    assert len(part) < len(whole)
    terminal.feed(whole + part)
    assert terminal.rows() == ABOVE + second
    between = ["", "one", "2", "three", "running · 2 s"]
    terminal.feed(painter.frame(between, (80, 24), 2))
    assert terminal.rows() == ABOVE + between


def test_between_frames_cursor_wrapping_and_colours_are_as_they_were(painter, terminal):
    before = set(terminal.screen.mode)
    for n in range(3):
        terminal.feed(painter.frame(block(n), (80, 24), n))
        assert terminal.screen.mode == before
        assert not terminal.screen.cursor.hidden
        assert (terminal.screen.cursor.x, terminal.shown()[terminal.screen.cursor.y]) == (0, "")
    terminal.feed(painter.erase())
    assert terminal.screen.mode == before


def test_a_row_that_the_terminal_takes_for_wider_than_it_is_does_not_wrap(painter, terminal):
    for n in range(3):
        terminal.feed(painter.frame(block(n, width=100), (80, 24), n))
    assert [row[:7] for row in terminal.rows()[len(ABOVE) :]] == ["", "2 row 1", "2 row 2", "2 row 3"]


@pytest.mark.parametrize("way", [WRAPS, CUTS])
@pytest.mark.parametrize(
    "sizes", [[(40, 24), (20, 24), (120, 24)], [(80, 10), (80, 50)], [(30, 8), (80, 24), (25, 60)]]
)
def test_a_terminal_that_is_resized_keeps_what_was_above_the_block(way, sizes):
    terminal, painter = Terminal(80, 24, way), Painter()
    terminal.feed("".join(f"{row}\n" for row in ABOVE))
    terminal.feed(painter.frame(block(0, width=79), (80, 24), 0))
    for n, size in enumerate(sizes, 1):
        terminal.resize(*size)
        for frame in (2 * n, 2 * n + 1):
            shown = block(frame, width=size[0] - 1)
            terminal.feed(painter.frame(shown, size, frame / 10))
            assert terminal.rows() == ABOVE + shown
    terminal.feed(painter.erase() + "the result\n")
    assert terminal.rows() == [*ABOVE, "the result"]


def test_a_terminal_that_is_resized_after_it_was_measured_loses_nothing(painter, terminal):
    terminal.feed(painter.frame(block(0, width=79), (80, 24), 0))
    terminal.resize(40, 24)
    # Drawn for the old width: the rows are cut at the edge.
    terminal.feed(painter.frame(block(1, width=79), (80, 24), 0.1))
    shown = block(2, width=39)
    terminal.feed(painter.frame(shown, (40, 24), 0.2))
    assert terminal.rows() == ABOVE + shown


def test_a_line_that_others_write_meanwhile_stands_above_the_block(painter, terminal):
    terminal.feed(painter.frame(block(0), (80, 24), 0))
    terminal.feed("a line of a log\n")
    terminal.feed(painter.frame(block(1), (80, 24), WHOLE_AFTER))
    assert terminal.rows() == [*ABOVE, "a line of a log", *block(1)]
    terminal.feed(painter.erase() + "the result\n")
    assert terminal.rows() == [*ABOVE, "a line of a log", "the result"]


def test_nothing_is_taken_away_where_nothing_was_drawn(painter):
    assert painter.erase() == ""
