from hypothesis import given
from hypothesis import strategies as st

from boundcap_jupyter.core.row import PLAIN_PEN, Pen, Row
from boundcap_jupyter.core.sgr import PLAIN, Style

RED, BOLD = Pen(Style(foreground=1)), Pen(Style(bold=True))
LINK = Pen(PLAIN, "https://example.org")


def painted(*pieces: tuple[int, str, Pen]) -> Row:
    row = Row(0, 0)
    for column, text, pen in pieces:
        row.write(column, text, pen)
    return row


def test_a_row_is_written_with_the_pens_that_wrote_it():
    row = painted((0, "red", RED), (3, " plain", PLAIN_PEN))
    assert row.render(PLAIN, ended=True) == "\x1b[31mred\x1b[0m plain\n"


def test_overwriting_takes_the_colour_of_what_is_overwritten_and_no_more():
    row = painted((0, "redred", RED), (2, "BO", BOLD))
    assert row.render(PLAIN, ended=False) == "\x1b[31mre\x1b[0;1mBO\x1b[0;31med\x1b[0m"
    assert painted((0, "redred", RED), (0, "redred", PLAIN_PEN)).render(PLAIN, ended=False) == "redred"


def test_a_row_starts_in_the_style_before_it_and_ends_in_its_own():
    row = painted((0, "text", PLAIN_PEN))
    row.end = RED.style
    assert row.render(BOLD.style, ended=True) == "\x1b[0mtext\x1b[31m\n"
    empty = Row(0, 0, end=RED.style)
    assert empty.render(RED.style, ended=True) == "\n"


def test_blanks_in_front_of_text_are_plain():
    assert painted((3, "x", RED)).render(PLAIN, ended=False) == "   \x1b[31mx\x1b[0m"


def test_links_are_opened_and_closed_within_the_row():
    row = painted((0, "a", PLAIN_PEN), (1, "b", LINK), (2, "c", PLAIN_PEN), (3, "d", LINK))
    opened, closed = "\x1b]8;;https://example.org\x1b\\", "\x1b]8;;\x1b\\"
    assert row.render(PLAIN, ended=False) == f"a{opened}b{closed}c{opened}d{closed}"


def test_the_end_of_a_row_can_be_rendered_alone():
    row = painted((0, "aaa", RED), (3, "bbb", BOLD))
    assert row.render(row.style_at(2), ended=True, first=2) == "a\x1b[0;1mbbb\x1b[0m\n"


def test_the_beginning_of_a_row_ends_in_the_style_of_its_last_column():
    row = painted((0, "aaa", RED), (3, "bbb", BOLD))
    assert row.beginning(4).render(PLAIN, ended=False) == "\x1b[31maaa\x1b[0;1mb"


def test_the_rendered_text_follows_every_change():
    row = painted((0, "abc", PLAIN_PEN))
    assert row.render(PLAIN, ended=False) == "abc"
    row.write(3, "d", PLAIN_PEN)
    assert row.render(PLAIN, ended=False) == "abcd"
    row.erase_right(2)
    assert row.render(PLAIN, ended=False) == "ab"
    row.drop_front(1)
    assert row.render(PLAIN, ended=True) == "b\n"
    row.clear()
    assert row.render(PLAIN, ended=True) == "\n"


pens = st.sampled_from([PLAIN_PEN, RED, BOLD, LINK, Pen(RED.style, LINK.link), Pen(BOLD.style, LINK.link)])
writes = st.tuples(st.just("write"), st.integers(0, 12), st.text("abc😀", min_size=1, max_size=5), pens)
erasures = st.tuples(st.sampled_from(["erase_right", "erase_left", "drop_front"]), st.integers(0, 12))


@given(st.lists(writes | erasures, max_size=12))
def test_runs_of_pens_agree_with_a_list_of_single_cells(steps):
    row, cells = Row(0, 0), []
    for name, column, *rest in steps:
        if name == "drop_front":
            column = min(column, row.size)
            del cells[:column]
        elif name == "erase_right":
            del cells[column:]
        elif name == "erase_left":
            cells[: column + 1] = [(" ", PLAIN_PEN)] * (column + 1) if column + 1 < len(cells) else []
            if column + 1 >= row.size:
                cells.clear()
        else:
            text, pen = rest
            cells += [(" ", PLAIN_PEN)] * (column - len(cells))
            cells[column : column + len(text)] = [(char, pen) for char in text]
        getattr(row, name)(column, *rest)
        assert row.text == "".join(char for char, _ in cells)
        assert [row._pen_at(column) for column in range(row.size)] == [pen for _, pen in cells]
        if not row.cut:
            # What a row is charged with is never more than it takes: rows that are shown would be forgotten.
            assert row.least_bytes <= len(row.render(PLAIN, ended=False).encode())
