import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundcap_jupyter.core.sgr import PLAIN, Style, apply_sgr, style_after, transition

colours = st.none() | st.integers(0, 255) | st.tuples(*[st.integers(0, 255)] * 3)
styles = st.builds(Style, *[st.booleans()] * 7, colours, colours)


@pytest.mark.parametrize(
    ("parameters", "style"),
    [
        ("", PLAIN),
        ("0", PLAIN),
        ("1", Style(bold=True)),
        ("01", Style(bold=True)),
        ("1;31", Style(bold=True, foreground=1)),
        ("31;0", PLAIN),
        ("97;104", Style(foreground=15, background=12)),
        ("38;5;196", Style(foreground=196)),
        ("48;5;0", Style(background=0)),
        ("38;2;1;2;3;1", Style(bold=True, foreground=(1, 2, 3))),
        # ISO 8613-6: with colons a colour space stands between 2 and red, and may be empty; many leave it out.
        ("38:2::1:2:3", Style(foreground=(1, 2, 3))),
        ("38:2:1:2:3", Style(foreground=(1, 2, 3))),
        ("48:5:7;4", Style(underline=True, background=7)),
        ("4:3", Style(underline=True)),
        ("4:0", PLAIN),
        # The colour of an underline is not shown, and must not be taken for anything else.
        ("58;5;1;3", Style(italic=True)),
        ("58;2;9;9;9;3", Style(italic=True)),
        # What is unknown, unfinished or out of range changes nothing, and does not hide what follows.
        ("5;6;999;1", Style(bold=True)),
        ("38;5;256;1", Style(bold=True)),
        ("38;2;1;2", PLAIN),
        ("38", PLAIN),
        ("38;7;1", Style(bold=True)),
        (";;1", Style(bold=True)),
    ],
)
def test_parameters_set_the_pen_of_a_terminal(parameters, style):
    assert apply_sgr(PLAIN, parameters) == style


@pytest.mark.parametrize(
    ("parameters", "left"),
    [
        ("22", Style(italic=True, underline=True, inverse=True, conceal=True, strike=True, foreground=1, background=2)),
        ("39;49", Style(*[True] * 7)),
        ("22;23;24;27;28;29;39;49", PLAIN),
        ("0", PLAIN),
    ],
)
def test_each_attribute_has_a_code_that_takes_it_back(parameters, left):
    everything = Style(*[True] * 7, foreground=1, background=2)
    assert apply_sgr(everything, parameters) == left


@pytest.mark.parametrize(
    ("before", "after", "sequence"),
    [
        (PLAIN, PLAIN, ""),
        (PLAIN, Style(bold=True, foreground=1), "\x1b[1;31m"),
        (Style(bold=True), Style(bold=True, foreground=0), "\x1b[30m"),
        (Style(bold=True, foreground=1), PLAIN, "\x1b[0m"),
        (Style(bold=True, foreground=1), Style(foreground=1), "\x1b[0;31m"),
        (PLAIN, Style(background=12), "\x1b[104m"),
        (PLAIN, Style(foreground=200, background=(0, 1, 255)), "\x1b[38;5;200;48;2;0;1;255m"),
    ],
)
def test_a_change_of_style_is_written_in_the_shortest_way(before, after, sequence):
    assert transition(before, after) == sequence


@given(styles, styles)
def test_a_terminal_that_reads_the_change_has_the_new_style(before, after):
    sequence = transition(before, after)
    style = before
    for match in re.finditer(r"\x1b\[([0-9;]*)m", sequence):
        style = apply_sgr(style, match[1])
    assert style == after


@given(styles, st.text("0123456789;:", max_size=48))
def test_no_parameters_are_too_wild_to_read(style, parameters):
    result = apply_sgr(style, parameters)
    assert apply_sgr(PLAIN, transition(PLAIN, result)[2:-1] or "0") == result


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("no colour", Style(bold=True)),
        ("\x1b[31mred", Style(bold=True, foreground=1)),
        ("\x1b[31mred\x1b[0m then \x1b[4m", Style(underline=True)),
        ("\x1b[31mred\x1b[m", PLAIN),
        ("\x1b[0;32m", Style(foreground=2)),
        ("\x1b[31mred\x1b[K\x1b[3", Style(bold=True, foreground=1)),
    ],
)
def test_the_colours_are_found_that_text_leaves_behind(text, style):
    assert style_after(Style(bold=True), text) == style
