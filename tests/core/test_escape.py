import pytest

from boundcap_jupyter.core.escape import MAX_STRING, TOKEN, is_open


def first_token(text):
    match = TOKEN.search(text)
    assert match is not None
    return match


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("a\rb", "\r"),
        ("\x1b[1;31mred", "\x1b[1;31m"),
        ("\x1b[?25lx", "\x1b[?25l"),
        ("\x1b[ qx", "\x1b[ q"),
        ("\x1b]0;title\x07x", "\x1b]0;title\x07"),
        ("\x1b]8;;https://a.b\x1b\\x", "\x1b]8;;https://a.b\x1b\\"),
        ("\x1bPq#0\x1b\\x", "\x1bPq#0\x1b\\"),
        ("\x1b(Bx", "\x1b(B"),
        ("\x1b7x", "\x1b7"),
        ("\x9fx", "\x9f"),
        ("\x7f", "\x7f"),
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
def test_a_token_is_a_control_or_an_escape_sequence(text, token):
    assert first_token(text)[0] == token


def test_text_tab_and_newline_are_no_tokens():
    assert TOKEN.search("plain text\twith é€😀 and\nlines") is None


@pytest.mark.parametrize(
    "text",
    ["\x1b", "\x1b[", "\x1b[1;3", "\x1b[ ", "\x1b(", "\x1b]", "\x1b]0;title", "\x1b]0;title\x1b", "\x1bP\x1b"],
)
def test_a_sequence_at_the_end_is_open_until_it_is_complete(text):
    assert is_open(first_token(text))


@pytest.mark.parametrize(
    "text",
    [
        "\r",
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
    assert not is_open(first_token(text))
