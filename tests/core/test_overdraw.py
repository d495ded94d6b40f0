import pytest

from boundcap_jupyter.core import screen as screen_module
from boundcap_jupyter.core.overdraw import Write, last_frames, last_writes
from boundcap_jupyter.core.screen import Screen

WIDTH = 100


@pytest.mark.parametrize(
    ("line", "shorter"),
    [
        ("\r10%\r20%\r30%\r", "\r30%\r"),
        # What stands before the first CR goes over what was there; what follows the last may go on.
        ("99%\r10%\r20%\r30", "99%\r20%\r30"),
        # The ends of longer frames stay, each behind the next.
        ("\rlongest\r1\rlong\r2\r3\r", "\rlongest\rlong\r3\r"),
        # An erased row shows nothing older.
        ("old\rlongest\r\x1b[Ka\rb\r", "\r\x1b[Ka\rb\r"),
        ("old\rlongest\ra\x1b[K\rb\r", "\ra\x1b[K\rb\r"),
        ("old\rlongest\x1b[2K\ra\rb\r", "\rlongest\x1b[2K\rb\r"),
        # A frame that jumps over columns before it erases leaves them.
        ("old\r\x1b[5Ca\x1b[K\rb\r", "old\r\x1b[5Ca\x1b[K\rb\r"),
        # Colours outlive the text that they were for, until a reset.
        ("\r\x1b[31mone\r\x1b[1mtwo\rten\r", "\x1b[31m\x1b[1m\rten\r"),
        ("\r\x1b[31mone\x1b[0m\rtwo\rten\r", "\x1b[0m\rten\r"),
        ("\r\x1b[31mone\r\x1b[Ktwo\r", "\x1b[31m\r\x1b[Ktwo\r"),
        ("é\r€\r😀😀\r", "é\r😀😀\r"),
    ],
)
def test_of_frames_only_those_are_left_that_later_ones_do_not_cover(line, shorter):
    assert last_frames(line, WIDTH) == shorter


@pytest.mark.parametrize(
    "line",
    [
        "\rab\b\b\rx\r",
        "\rab\x1b[Dc\rx\r",
        "\rab\x1b[A\rx\r",
        "\rab\x1b[J\rx\r",
        "\rab\x1bM\rx\r",
        # Here a CR is part of a title.
        "\x1b]0;ab\rx\r",
        "\rab\x07\rx\r",
        "\rab\x85\rx\r",
        "\r" + "x" * (WIDTH + 1) + "\ry\r",
    ],
)
def test_a_line_is_left_alone_if_more_than_frames_are_in_it(line):
    assert last_frames(line, WIDTH) == line


def writes(text, *, row=0, column=0, rows=2):
    return last_writes(text, row=row, column=column, rows=rows, max_width=WIDTH)


def test_of_rows_that_are_redrawn_the_last_writes_are_left():
    assert writes("\router 1\n\rinner 1\x1b[A\router 2\n\rinner 2\x1b[A") == [
        # The first row was left downwards, the last one upwards: that is when they end.
        Write(0, 0, "outer 2", ""),
        Write(0, 0, None, ""),
        Write(1, 0, "inner 2", ""),
        Write(1, 0, None, ""),
        Write(0, 7, "", ""),
    ]


def test_a_row_ends_in_the_colours_in_which_it_was_left():
    assert writes("\x1b[31ma\n\x1b[0mb\x1b[A\r", rows=2) == [
        Write(0, 0, "\x1b[31ma", ""),
        Write(0, 0, None, ""),
        Write(1, 0, "\x1b[0mb", ""),
        Write(1, 0, None, ""),
        Write(0, 0, "", ""),
    ]


def test_erased_rows_show_nothing_older_and_the_ends_of_longer_ones_stay():
    kept = writes("\rlonger\x1b[A\rabc\x1b[B\rlong\x1b[A\r\x1b[2Kx\x1b[B\rabc\x1b[A", row=1)
    assert [write[:3] for write in kept if write.text] == [
        (1, 0, "longer"),
        (1, 0, "long"),
        (0, 0, "\x1b[2Kx"),
        (1, 0, "abc"),
    ]


@pytest.mark.parametrize("text", ["\n\n", "a\x1b[Jb", "a\bb", "\x1b[?25l", "\x1bM", "x" * (WIDTH + 1), "\x1b[2;3A"])
def test_nothing_is_said_of_new_rows_and_other_moves(text):
    assert writes(text) is None


def test_the_cursor_stops_at_the_first_row_and_at_the_last():
    assert writes("\x1b[9Aa\x1b[9Bb", row=1)[:1] == [Write(1, 0, None, "")]
    assert [write[:3] for write in writes("\x1b[9Aa\x1b[9Bb", row=1) if write.text] == [(0, 0, "a"), (1, 1, "b")]


@pytest.mark.parametrize(
    "cycle",
    [
        "\router {0}\n\rinner {1}\x1b[A",
        "".join(f"\x1b[2Ktask {task}: {{1}}\n" for task in range(5)) + "\x1b[5A",
        "\x1b[2A\x1b[2K\r\x1b[32mpulled {0}\x1b[0m\x1b[2B\x1b[A\x1b[2K\rlayer {1}\r\x1b[B",
        "\r\x1b[K{1} of 5000",
    ],
)
def test_a_long_display_is_hardly_interpreted(cycle, monkeypatch):
    """Ten thousand cycles cost a few writes for each piece that is fed, and leave what one by one they would."""
    text = "first\n" * 6 + "".join(cycle.format(number // 100, number) for number in range(10_000))
    fed = Screen()
    counted = 0
    write = Screen._write

    def counting(self, text):
        nonlocal counted
        counted += 1
        write(self, text)

    monkeypatch.setattr(Screen, "_write", counting)
    pieces = [text.encode()[begin : begin + 32_768] for begin in range(0, len(text), 32_768)]
    # In the first one rows are made.
    fed.feed(pieces[0])
    counted = 0
    for piece in pieces[1:]:
        fed.feed(piece)
    assert counted < 30 * len(pieces)
    monkeypatch.setattr(screen_module, "last_frames", lambda line, max_width: line)
    monkeypatch.setattr(screen_module, "last_writes", lambda text, **where: None)
    slow = Screen()
    slow.feed(text.encode())
    assert [row.text for row in fed.rows] == [row.text for row in slow.rows]
    assert (fed.origin, fed.line, fed.style) == (slow.origin, slow.line, slow.style)
