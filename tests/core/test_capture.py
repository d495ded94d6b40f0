"""What a capture holds, against the table of the contract and against the slow terminal in reference.py."""

import codecs
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundcap_jupyter.core import capture as capture_module
from boundcap_jupyter.core import hold, screen, skip
from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.sgr import PLAIN, apply_sgr, transition
from boundcap_jupyter.core.text import plain, safe_link
from boundcap_jupyter.core.update import apply_update, diff
from boundcap_jupyter.testing.chunking import every_chunking
from tests.core import reference


def captured(chunks, **limits):
    """(final view, spilled bytes)"""
    capture = OutputCapture(OutputLimits(**limits))
    spilled = b"".join([*map(capture.feed, chunks), capture.finish()])
    return capture.view(), spilled


def lines(first, last):
    return b"".join(b"%d\n" % number for number in range(first, last + 1))


def test_a_short_stream_is_shown_whole_and_not_spilled():
    view, spilled = captured([b"one\n", b"two\n"])
    assert (view.text, spilled) == ("one\ntwo\n", b"")
    truncation = view.metadata.truncation
    assert not truncation.truncated
    assert truncation.truncated_by is None
    assert (truncation.total_bytes, truncation.total_lines) == (8, 2)
    assert (truncation.output_bytes, truncation.output_lines) == (8, 2)
    assert (view.metadata.omitted_bytes, view.metadata.omitted_lines) == (0, 0)


@pytest.mark.parametrize(
    ("data", "total_bytes", "total_lines"),
    [(b"", 0, 0), (b"no newline", 10, 1), (b"\n\n\n", 3, 3)],
)
def test_the_smallest_streams_are_counted_right(data, total_bytes, total_lines):
    view, spilled = captured([data])
    truncation = view.metadata.truncation
    assert (truncation.total_bytes, truncation.total_lines) == (total_bytes, total_lines)
    assert (truncation.output_bytes, truncation.output_lines) == (total_bytes, total_lines)
    assert (view.text.encode(), spilled) == (data, b"")


def test_the_tail_is_cut_by_lines_when_they_are_what_is_too_many():
    data = lines(1, 3000)
    view, spilled = captured([data])
    assert view.text.encode() == lines(1001, 3000)
    assert spilled == data
    assert view.metadata.truncation.truncated_by == "lines"
    # 9 numbers of one digit, 90 of two, 900 of three and one of four, each with its newline.
    assert view.metadata.omitted_bytes == 9 * 2 + 90 * 3 + 900 * 4 + 5
    assert view.metadata.omitted_lines == 1000


def test_the_tail_is_cut_by_bytes_at_a_whole_line():
    view, _ = captured([b"%04d\n" % number * 1 for number in range(100)], max_bytes=64)
    assert view.text.encode() == b"".join(b"%04d\n" % number for number in range(88, 100))
    assert view.metadata.truncation.truncated_by == "bytes"
    assert view.metadata.truncation.output_bytes == 60


def test_a_long_last_line_is_shown_by_its_end():
    view, _ = captured([b"*" * 100_000 + b"\n"])
    assert view.text == "*" * 51_199 + "\n"
    assert view.metadata.truncation.last_line_partial
    assert view.metadata.omitted_bytes == 100_001 - 51_200
    assert view.metadata.last_line_bytes == 100_000
    assert view.metadata.truncation.total_lines == 1


def test_a_long_older_line_fills_what_short_ones_leave():
    view, _ = captured([b"needle " + b"x" * 120_000 + b"\nafter\n"])
    assert view.text == "x" * (51_200 - 7) + "\nafter\n"
    assert view.metadata.first_line_partial
    assert not view.metadata.truncation.last_line_partial
    assert view.metadata.omitted_bytes == 7 + 120_000 + 7 - 51_200


def test_an_older_line_is_left_out_when_half_of_the_view_is_full():
    view, _ = captured([b"x" * 200 + b"\n" + b"y" * 31 + b"\n"], max_bytes=64)
    assert view.text == "y" * 31 + "\n"
    assert not view.metadata.first_line_partial
    view, _ = captured([b"x" * 200 + b"\n" + b"y" * 30 + b"\n"], max_bytes=64)
    assert view.text == "x" * 32 + "\n" + "y" * 30 + "\n"
    assert view.metadata.first_line_partial


def test_a_line_that_no_longer_fits_the_limit_of_lines_is_not_shown_in_part():
    view, _ = captured([b"x" * 200 + b"\nlast\n"], max_bytes=64, max_lines=1)
    assert view.text == "last\n"


def test_the_head_keeps_the_first_whole_lines():
    data = lines(1, 3000)
    view, spilled = captured([data], retain="head")
    assert view.text.encode() == lines(1, 2000)
    assert spilled == data
    assert view.metadata.omitted_bytes == 1000 * 5
    assert view.metadata.omitted_lines == 1000
    assert view.metadata.truncation.truncated_by == "lines"


def test_the_head_shows_the_beginning_of_a_first_line_that_is_too_long():
    view, _ = captured([b"*" * 100_000 + b"\nmore\n"], retain="head")
    assert view.text == "*" * 51_200
    assert view.metadata.truncation.first_line_exceeds_limit
    assert view.metadata.omitted_bytes == 100_000 + 6 - 51_200
    assert view.metadata.omitted_lines == 2


def test_the_head_does_not_change_any_more_when_it_is_complete():
    capture = OutputCapture(OutputLimits(max_lines=3, retain="head"))
    capture.feed(lines(1, 1000))
    before = capture.view()
    capture.feed(b"\x1b[99A\x1b[2Kgone\n" + lines(1, 50_000))
    after = capture.view()
    assert before.text == after.text == "1\n2\n3\n"
    assert after.metadata.omitted_lines == 997 + 1 + 50_000


def test_a_view_is_cut_where_colours_are_not():
    data = b"\x1b[31m" + lines(1, 3000) + b"\x1b[0m"
    view, _ = captured([data])
    assert view.text.startswith("1001\n")
    assert view.metadata.lead_sgr == "\x1b[31m"


def test_a_progress_bar_is_one_line_of_the_view_and_all_of_it_in_the_spill():
    data = b"".join(b"\rstep %d" % number for number in range(1, 20_001)) + b"\n"
    view, spilled = captured([data])
    assert view.text == "step 20000\n"
    assert spilled == data
    assert view.metadata.truncation.total_bytes == 208_895
    # Nothing is cut: what is not shown was overwritten.
    assert not view.metadata.truncation.truncated
    assert view.metadata.omitted_bytes == 0


def test_what_takes_more_room_than_it_has_bytes_is_spilled_at_the_end():
    data = b"abcd\0" * 9_000
    capture = OutputCapture()
    assert capture.feed(data) == b""
    assert capture.finish() == data
    # Seven bytes each; of the two that are left none begins a character.
    assert capture.view().text == "abcd\u2400" * (51_200 // 7)


def test_half_a_character_is_not_shown_before_its_other_half():
    capture = OutputCapture()
    capture.feed(b"\xe2")
    assert capture.view().text == ""
    capture.feed(b"\x82\xac after\n")
    assert capture.view().text == "€ after\n"


@pytest.mark.parametrize("wrong", ["text", None, bytearray(b"x"), memoryview(b"x"), 7])
def test_what_is_not_bytes_is_refused_and_loses_nothing(wrong):
    capture = OutputCapture()
    capture.feed(b"before\n")
    with pytest.raises(ValueError, match="data must be bytes"):
        capture.feed(wrong)
    capture.feed(b"after\n")
    capture.finish()
    assert capture.view().text == "before\nafter\n"


def test_nothing_comes_after_the_end():
    capture = OutputCapture()
    capture.finish()
    assert capture.finish() == b""
    with pytest.raises(ValueError, match="after the end"):
        capture.feed(b"x")


def test_a_flood_is_held_in_bounded_memory():
    capture = OutputCapture()
    chunk = lines(100_000, 130_000)
    for _ in range(50):
        capture.feed(chunk)
        assert len(capture._end._buffer) < hold.BUFFER + len(chunk)
    capture.view()
    assert len(capture._end._screen.rows) < 3 * 2000
    assert capture.totals.byte_count == 50 * len(chunk)


# --- any chunking, one result

SGR = (apply_sgr, transition, PLAIN)
PIECES = [
    b"\x1b", b"[", b"1", b"2;3", b"A", b"B", b"C", b"D", b"E", b"F", b"G", b"J", b"K", b"M",
    b"m", b"\r", b"\n", b"\b", b"\t", b"\0", b"x",
    b"some text", "é".encode(), "€".encode(), "😀".encode(), b"\xff", b"\xe2\x82", b"\xc2", b"\x85", b"\x1b[31m",
    b"\x1b[0m", b"\x1b[m", b"\x1b[1;4m", b"\x1b[38;5;9m", b"\x1b[A", b"\x1b[2A", b"\x1b[3B", b"\x1b[7C", b"\x1b[K",
    b"\x1b[1K", b"\x1b[2K", b"\x1b[J", b"\x1b[2F", b"\x1b[E", b"\x1bM",
    b"\x1b]8;;https://a.b/c\x1b\\", b"\x1b]8;;\x07", b"\x1b]0;title", b"\x07", b"\x1b\\",
    b"\x18", b"\x1bP", b"\x1b(B", b"\x1b[?25l", b"\x7f", b"y" * 30, b"line of text\n", b"\r\n", b"more\n" * 10,
]  # fmt: skip
LINES = [b"line of text\n", b"x\n", b"\x1b[31mred\x1b[0m\n", b"bold\x1b[1m\n", b"a\r\n", "é\n".encode(), b"\n", b"open"]
FRAMES = [
    b"\rstep 1", b"\rstep 22", b"\rlonger step 333", b"\rx", b"\r", b"\n", b"\x1b[A", b"\x1b[2A", b"\x1b[B", b"\x1b[2K",
    b"\x1b[K", b"\x1b[32m", b"\x1b[0m", b"ab", b"\n\rinner 1", b"\n\rinn\x1b[A", b"\r\x1b[K", b"\r\x1b[2K",
    b"\x1b[1mbold\x1b[0m", "\ré€".encode(), b"\x1b[K\r", b"|\b/\b",
]  # fmt: skip
streams = st.one_of(
    st.lists(st.sampled_from(FRAMES), max_size=80),
    st.lists(st.sampled_from(FRAMES * 3 + PIECES), max_size=80),
    st.lists(st.sampled_from(PIECES), max_size=60),
    st.lists(st.sampled_from(LINES), max_size=200),
    st.lists(st.sampled_from(LINES * 6 + PIECES), max_size=200),
).map(b"".join)
small_limits = st.builds(OutputLimits, st.sampled_from([64, 65, 80, 100, 1000]), st.sampled_from([1, 2, 3, 5, 50]))


@pytest.fixture
def small_sizes(monkeypatch):
    """Sizes so small that the shortcuts for long streams are taken in short ones."""
    monkeypatch.setattr(hold, "BUFFER", 300)
    monkeypatch.setattr(hold, "SEARCH", 40)
    monkeypatch.setattr(hold, "STEP", 77)
    monkeypatch.setattr(hold, "PATIENCE", 0)
    monkeypatch.setattr(capture_module, "MAX_WIDTH", 70)
    for module in (screen, reference, skip):
        monkeypatch.setattr(module, "REACH", 3)
    for module in (screen, reference):
        monkeypatch.setattr(module, "WIDE", 20)


def facts(view):
    """What the reference says of a stream, read off a view."""
    metadata = view.metadata
    partial = "last" if metadata.truncation.last_line_partial else "first" if metadata.first_line_partial else ""
    return {
        "text": view.text,
        "bytes": metadata.omitted_bytes,
        "lines": metadata.omitted_lines,
        "by": metadata.truncation.truncated_by,
        "partial": partial,
    }


def expected(data, limits):
    return terminal(data, limits).tail(limits.max_bytes, limits.max_lines)


def terminal(data, limits, **options):
    width = max(capture_module.MAX_WIDTH, limits.max_bytes + 1)

    def short_link(address):
        return safe_link(address) if len(address) <= limits.max_bytes // 8 else ""

    return reference.Terminal(data, SGR, short_link, max_width=width, **options)


@pytest.mark.usefixtures("small_sizes")
@settings(max_examples=400, deadline=None)
@given(streams, small_limits, st.data())
def test_any_chunking_gives_what_a_terminal_would_show(data, limits, draw):
    right = expected(data, limits)
    cuts = sorted(draw.draw(st.sets(st.integers(0, len(data)), max_size=20)))
    edges = [0, *cuts, len(data)]
    for chunks in ([data], [data[i : i + 1] for i in range(len(data))], [data[a:b] for a, b in pairwise(edges)]):
        capture = OutputCapture(limits)
        shown = capture.view()
        spilled = b""
        for chunk in chunks:
            spilled += capture.feed(chunk)
            if len(chunks) < 25 and draw.draw(st.booleans()):
                # A look in between changes nothing, and a consumer of updates sees the same.
                update = diff(shown, capture.view())
                folded = apply_update(shown, update) if update else shown
                shown = capture.view()
                assert folded == shown
        spilled += capture.finish()
        view = capture.view()
        assert facts(view) == right
        update = diff(shown, view)
        assert (apply_update(shown, update) if update else shown) == view
        assert view.metadata.truncation.output_bytes == len(view.text.encode()) <= limits.max_bytes
        passed = len(data) > limits.max_bytes or view.metadata.truncation.total_lines > limits.max_lines
        assert spilled == (data if passed or view.metadata.truncation.truncated else b"")


@pytest.mark.usefixtures("small_sizes")
@settings(max_examples=200, deadline=None)
@given(streams, st.sampled_from([64, 80, 1000]), st.sampled_from([1, 3, 50]))
def test_any_chunking_gives_the_same_head(data, max_bytes, max_lines):
    limits = OutputLimits(max_bytes, max_lines, "head")
    whole, spilled = captured([data], max_bytes=max_bytes, max_lines=max_lines, retain="head")
    right = terminal(data, limits, keep_start=True).head(limits.max_bytes, limits.max_lines)
    assert facts(whole) | {"partial": ""} == right | {"partial": ""}
    assert whole.metadata.truncation.first_line_exceeds_limit == (right["partial"] == "beginning")
    for step in (1, 7):
        chunks = [data[i : i + step] for i in range(0, len(data), step)]
        assert captured(chunks, max_bytes=max_bytes, max_lines=max_lines, retain="head") == (whole, spilled)


@pytest.mark.usefixtures("small_sizes")
@settings(max_examples=200, deadline=None)
@given(streams, st.sampled_from([64, 80, 400]), st.sampled_from([1, 4, 50]))
def test_any_chunking_gives_the_same_two_ends(data, max_bytes, max_lines):
    limits = {"max_bytes": max_bytes, "max_lines": max_lines, "retain": "both"}
    whole, spilled = captured([data], **limits)
    # The two ends are of one text only where no row is so wide that its ends are kept apart: others are too rare here.
    if max(map(len, data.split(b"\n"))) <= 70:
        right = terminal(data, OutputLimits(**limits)).both(max_bytes, max_lines)
        assert facts(whole) | {"head": whole.head} == right
    truncation = whole.metadata.truncation
    assert truncation.output_bytes == len((whole.head + whole.text).encode()) <= max_bytes
    assert truncation.output_lines <= max_lines
    assert (whole.metadata.omitted_bytes > 0) == truncation.truncated
    for step in (1, 7):
        chunks = [data[i : i + step] for i in range(0, len(data), step)]
        assert captured(chunks, **limits) == (whole, spilled)


@pytest.mark.parametrize(
    "data",
    [
        "é€😀\n".encode(),
        b"\xff\xe2\x82\n\x80",
        b"\x1b[31mr\x1b[m",
        b"a\r\nb\rc\n",
        b"l1\nl2\x1b[A!",
        b"\x1b]0;t\x07x\x1b]",
        b"\x1b\x1b[1m\x00\x7f",
        b"\xc2\x85\xc2\x9b\x1b[",
    ],
)
def test_a_short_stream_can_be_cut_anywhere(data):
    assert len(data) <= 12
    limits = OutputLimits()
    right = expected(data, limits)
    for chunks in every_chunking(data):
        assert facts(captured(chunks)[0]) == right


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=12))
def test_any_twelve_bytes_can_be_cut_anywhere(data):
    right = expected(data, OutputLimits())
    for chunks in every_chunking(data):
        assert facts(captured(chunks)[0]) == right


def test_the_reference_decodes_as_the_standard_says():
    # What both rely on: a maximal part of a character that is broken off becomes one U+FFFD (Unicode 16, §3.9.6).
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    assert decoder.decode(b"\xe2\x82") + decoder.decode(b"\n") == b"\xe2\x82\n".decode(errors="replace") == "\ufffd\n"


# --- both ends


def test_a_short_stream_has_no_two_ends():
    view, _ = captured([lines(1, 4)], max_lines=4, retain="both")
    assert (view.head, view.text) == ("", "1\n2\n3\n4\n")
    assert not view.metadata.truncation.truncated


def test_both_ends_are_kept_a_quarter_for_the_head():
    view, spilled = captured([lines(1, 100)], max_lines=8, retain="both")
    assert view.head == "1\n2\n"
    assert view.text == "95\n96\n97\n98\n99\n100\n"
    assert view.metadata.omitted_lines == 92
    # 3 to 9, and 10 to 94.
    assert view.metadata.omitted_bytes == 7 * 2 + 85 * 3
    assert view.metadata.truncation.output_lines == 8
    assert spilled == lines(1, 100)


def test_both_ends_of_one_long_line_and_what_follows():
    view, _ = captured([b"a" * 3_000_000 + b"END\n"], retain="both")
    assert view.head == "a" * 12_800
    assert view.text == "a" * (38_400 - 4) + "END\n"
    assert view.metadata.omitted_bytes == 3_000_004 - 51_200
    assert view.metadata.omitted_lines == 0
    assert view.metadata.truncation.first_line_exceeds_limit
    assert view.metadata.truncation.last_line_partial


# --- charsets


def test_text_in_another_charset_is_named():
    data = "привет, мир\n".encode("koi8-r") * 100
    for chunks in ([data], [data[i : i + 1] for i in range(len(data))]):
        capture = OutputCapture(encoding="koi8-r")
        for chunk in chunks:
            capture.feed(chunk)
        capture.finish()
        assert capture.view().text == "привет, мир\n" * 100
        assert not capture.view().metadata.binary


@pytest.mark.parametrize("name", ["gbk", "shift_jis", "euc-kr", "gb18030", "cp1252", "latin-1"])
def test_a_flood_in_another_charset_is_the_same_in_any_chunks(name):
    line = "é" if name in ("cp1252", "latin-1") else "界" if name != "euc-kr" else "가"
    data = (f"{line}\x1b[31m{line} text\x1b[0m\n" * 30_000).encode(name)
    capture = OutputCapture(encoding=name)
    for begin in range(0, len(data), 1001):
        capture.feed(data[begin : begin + 1001])
    capture.finish()
    assert (
        capture.view().text == f"{line}\x1b[31m{line} text\x1b[0m\n" * capture.view().metadata.truncation.output_lines
    )
    assert capture.view().metadata.truncation.truncated


@pytest.mark.parametrize(
    "wrong", ["no-such-charset", "utf-16", "utf-32-le", "utf-7", "iso2022_jp", "hz", "hex", None, 7]
)
def test_what_is_no_charset_of_a_terminal_is_refused(wrong):
    with pytest.raises(ValueError, match="encoding") as caught:
        OutputCapture(encoding=wrong)
    assert repr(wrong) in str(caught.value)


# --- found by attack


@pytest.mark.parametrize("retain", ["head", "tail", "both"])
@pytest.mark.parametrize("data", [b"\x1b[999Cx", b"aaa\nbbb\n\x1b[999Cx\n", b"\x1b[999Cx\nmore\n"])
def test_blanks_that_a_move_made_are_not_counted_as_printed(retain, data):
    view, _ = captured([data], max_bytes=64, retain=retain)
    assert view.metadata.truncation.truncated
    assert 0 < view.metadata.omitted_bytes < len(data)
    assert view.metadata.omitted_lines >= 0


def test_a_wide_row_that_grows_by_single_characters_is_not_copied_for_each():
    # 60,000 columns beyond the width that is kept: a copy for each would take minutes.
    capture = OutputCapture()
    capture.feed(b"\x1b[31mx\x1b[32my" * 65_000)
    capture.feed(b"abcd\0" * 20_000)
    capture.finish()
    assert plain(capture.view().text).endswith("abcd\u2400")


@pytest.mark.parametrize("name", ["latin-1", "gbk", "koi8-r"])
def test_what_is_omitted_of_a_line_is_counted_in_the_bytes_of_its_charset(name):
    letter = "é" if name == "latin-1" else "界" if name == "gbk" else "ж"
    size = len(letter.encode(name))
    capture = OutputCapture(OutputLimits(max_bytes=600), encoding=name)
    capture.feed((letter * 1000).encode(name))
    capture.finish()
    view = capture.view()
    assert view.metadata.omitted_bytes == size * (1000 - len(view.text))


@pytest.mark.parametrize("name", ["unicode_escape", "raw_unicode_escape", "idna", "punycode"])
def test_a_codec_that_is_for_python_is_no_charset(name):
    with pytest.raises(ValueError, match="encoding"):
        OutputCapture(encoding=name)


def test_links_and_colours_are_charged_to_the_rows_that_hold_them():
    capture = OutputCapture()
    link = b"\x1b]8;;https://example.org/" + b"x" * 1900 + b"\x1b\\y\x1b]8;;\x1b\\"
    for _ in range(50):
        capture.feed((link * 20 + b"\n") * 20)
        capture.view()
    held = sum(row.least_bytes for row in capture._end._screen.rows)
    # The rows that the cursor reaches are held in any case.
    assert held < 2 * 51_200 + 70 * 20 * 2000


def test_two_ends_that_show_all_between_them_are_not_called_cut():
    data = b"\x9b31m\n\x1b[1;3;4;7;9;38;2;255;255;255;48;2;255;255;255m;1;\xf0\x9f\x98\x80"
    view, _ = captured([data], max_bytes=64, max_lines=3, retain="both")
    assert (view.metadata.omitted_bytes > 0) == view.metadata.truncation.truncated
