import pytest

from boundcap_jupyter.core.escape import ESCAPE, MAX_STRING, is_open


def first_sequence(text):
    match = ESCAPE.search(text)
    assert match is not None
    return match


@pytest.mark.parametrize(
    ("text", "sequence"),
    [
        ("\x1b[1;31mred", "\x1b[1;31m"),
        ("\x1b[?25lx", "\x1b[?25l"),
        ("\x1b[ qx", "\x1b[ q"),
        ("\x1b]0;title\x07x", "\x1b]0;title\x07"),
        ("\x1b]8;;https://a.b\x1b\\x", "\x1b]8;;https://a.b\x1b\\"),
        ("\x1bPq#0\x1b\\x", "\x1bPq#0\x1b\\"),
        ("\x1b(Bx", "\x1b(B"),
        ("\x1b7x", "\x1b7"),
        # What does not belong ends the sequence and is not part of it.
        ("\x1b[3\x07", "\x1b[3"),
        ("\x1b[3é", "\x1b[3"),
        ("\x1b[1 1m", "\x1b[1 "),
        ("\x1b\x1b[m", "\x1b"),
        ("\x1bé", "\x1b"),
        ("\x1b]0;title\x1b[31m", "\x1b]0;title"),
        ("\x1b]0;title\x18x", "\x1b]0;title\x18"),
        ("\x1b[" + "1" * 60 + "m", "\x1b[" + "1" * 48),
        ("\x1b]" + "x" * 5000 + "\x07", "\x1b]" + "x" * MAX_STRING),
    ],
)
def test_a_sequence_ends_where_it_is_complete_or_broken_off(text, sequence):
    assert first_sequence(text)[0] == sequence


def test_text_and_controls_are_no_sequences():
    assert ESCAPE.search("plain text\twith é€😀 and\nlines\r\b\0\x9f\x7f") is None


@pytest.mark.parametrize(
    "text",
    ["\x1b", "\x1b[", "\x1b[1;3", "\x1b[ ", "\x1b(", "\x1b]", "\x1b]0;title", "\x1b]0;title\x1b", "\x1bP\x1b"],
)
def test_a_sequence_at_the_end_is_open_until_it_is_complete(text):
    assert is_open(first_sequence(text))


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[m",
        "\x1b7",
        "\x1b(B",
        "\x1b]\x07",
        "\x1b]\x1b\\",
        "\x1b[1é",
        "\x1b]a\x1b[",
        "\x1b]" + "x" * MAX_STRING,
    ],
)
def test_a_sequence_that_is_complete_or_broken_off_is_not_open(text):
    assert not is_open(first_sequence(text))
