import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundcap_jupyter.core.sgr import PLAIN, Style
from boundcap_jupyter.show import palette

GOLDEN = Path(__file__).parents[1] / "golden" / "palette.json"

channels = st.integers(0, 255)
rgbs = st.tuples(channels, channels, channels)
colours = st.none() | channels | rgbs
styles = st.builds(Style, foreground=colours, background=colours, inverse=st.booleans(), faint=st.booleans())


def _contrast_of(style):
    text, ground = palette.ink(style)
    return palette.contrast(
        palette.from_hex(text or palette.FOREGROUND), palette.from_hex(ground or palette.BACKGROUND)
    )


def test_the_palette_is_the_panels():
    assert json.loads(GOLDEN.read_text(encoding="utf-8")) == {
        "background": palette.BACKGROUND,
        "foreground": palette.FOREGROUND,
        "ansi": list(palette.ANSI),
    }


def test_each_of_the_sixteen_reads_on_the_background_as_it_is():
    for index, colour in enumerate(palette.ANSI):
        assert palette.ink(Style(foreground=index)) == (colour, None)


def test_every_pair_of_palette_colours_reads():
    low = [
        (front, back)
        for front in [None, *range(256)]
        for back in [None, *range(256)]
        if _contrast_of(Style(foreground=front, background=back)) < palette.READABLE
    ]
    assert low == []


@given(styles)
def test_every_style_reads(style):
    assert _contrast_of(style) >= palette.READABLE


@given(rgbs, rgbs)
def test_a_colour_that_reads_is_left_alone(front, back):
    if palette.contrast(front, back) >= palette.READABLE:
        assert palette.readable(front, back) == front


def test_text_without_a_style_takes_the_colours_of_the_block():
    assert palette.ink(PLAIN) == (None, None)
    assert palette.ink(Style(bold=True)) == (None, None)


def test_inverse_swaps_text_and_ground():
    assert palette.ink(Style(inverse=True)) == (palette.BACKGROUND, palette.FOREGROUND)
    # White text becomes the ground, and the red of before is darkened until it reads.
    text, ground = palette.ink(Style(foreground=15, background=1, inverse=True))
    assert ground == "#ffffff"
    assert palette.contrast(palette.from_hex(text), (255, 255, 255)) >= palette.READABLE


def test_faint_is_weaker_than_plain():
    def strength(style):
        return palette.contrast(palette.from_hex(palette.ink(style)[0]), palette.from_hex(palette.BACKGROUND))

    assert strength(Style(faint=True, foreground=15)) < strength(Style(foreground=15))


def test_concealed_text_has_the_colour_of_its_ground():
    assert palette.ink(Style(conceal=True)) == (palette.BACKGROUND, None)
    assert palette.ink(Style(conceal=True, background=(1, 2, 3))) == ("#010203", "#010203")


@pytest.mark.parametrize(
    ("index", "colour"),
    [(16, (0, 0, 0)), (21, (0, 0, 255)), (110, (135, 175, 215)), (196, (255, 0, 0)), (231, (255, 255, 255))],
)
def test_the_cube_is_xterms(index, colour):
    assert palette.rgb(index) == colour


@pytest.mark.parametrize(("index", "grey"), [(232, 8), (243, 118), (255, 238)])
def test_the_greys_are_xterms(index, grey):
    assert palette.rgb(index) == (grey, grey, grey)


def test_black_on_white_is_21_to_1():
    assert palette.contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert palette.contrast((118, 118, 118), (255, 255, 255)) == pytest.approx(4.54, abs=0.01)
