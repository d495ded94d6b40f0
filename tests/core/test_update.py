import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.update import (
    Append,
    Metadata,
    Replace,
    Rewrite,
    Slide,
    apply_update,
    diff,
    encoded_bytes,
    utf16_length,
)
from boundcap_jupyter.core.view import OutputMetadata, OutputView, Truncation


def metadata(total_bytes: int = 0) -> OutputMetadata:
    return OutputMetadata(Truncation(False, None, 0, total_bytes, 0, 0, False, False, 2000, 51200))


def steps(*chunks: bytes, **limits) -> list:
    """The update of each chunk after the first."""
    capture = OutputCapture(OutputLimits(**limits))
    updates, view = [], None
    for chunk in chunks:
        capture.feed(chunk)
        new = capture.view()
        if view is not None:
            update = diff(view, new)
            assert update is not None
            assert apply_update(view, update) == new
            updates.append(update)
        view = new
    return updates


def shape(update) -> tuple:
    return (update.kind, *(getattr(update, name) for name in ("drop", "cut", "text") if hasattr(update, name)))


@pytest.mark.parametrize(
    ("chunks", "limits", "expected"),
    [
        ([b"one\n", b"two\n"], {}, ("append", "two\n")),
        ([b"", b"one\n"], {}, ("append", "one\n")),
        ([b"o", b"ne"], {}, ("append", "ne")),
        # A tail that is full slides: as many code units go as the lines that leave have.
        ([b"a\nb\n", b"c\n"], {"max_lines": 2}, ("slide", 2, "c\n")),
        (["😀\nb\n".encode(), b"c\n"], {"max_lines": 2}, ("slide", 3, "c\n")),
        ([b"x" * 64, b"yy"], {"max_bytes": 64}, ("slide", 2, "yy")),
        # The last line is overwritten, the rest stays.
        ([b"a\n10%", b"\r20%"], {}, ("rewrite", 0, 3, "20%")),
        (["a\n😀".encode(), b"\rxy"], {}, ("rewrite", 0, 2, "xy")),
        ([b"a\nb\nc", b"\x1b[AX"], {}, ("rewrite", 0, 3, "bX\nc")),
        ([b"a\nb\n1", b"\r2\nc\n"], {"max_lines": 3}, ("rewrite", 2, 1, "2\nc\n")),
        # Erased from the end.
        ([b"a\nbcd", b"\r\x1b[K"], {}, ("rewrite", 0, 3, "")),
        # Something is said of the stream, and nothing is shown of it.
        ([b"a", b"\x1b[31"], {}, ("metadata",)),
        ([b"a\n1\n", b"\x1b]0;title\x07"], {}, ("metadata",)),
        # Nothing of the old text is left.
        ([b"a\nb\n", b"c\nd\n"], {"max_lines": 2}, ("replace",)),
    ],
)
def test_the_narrowest_update_that_is_right_is_found(chunks, limits, expected):
    (update,) = steps(*chunks, **limits)
    assert shape(update) == expected


def test_equal_views_need_no_update():
    capture = OutputCapture()
    capture.feed(b"x\n")
    assert diff(capture.view(), capture.view()) is None


def test_a_colour_that_leads_the_text_does_not_break_the_slide():
    lines = [b"\x1b[31mline %d\n" % number for number in range(4)]
    updates = steps(lines[0] + lines[1], lines[2], lines[3], max_lines=2)
    assert [update.kind for update in updates] == ["slide", "slide"]


def test_views_without_rows_are_compared_by_their_text():
    old, new = OutputView("ab", metadata(2)), OutputView("abc", metadata(3))
    assert diff(old, new) == Append("c", metadata(3))
    assert diff(new, old) == Replace(old)
    assert diff(old, OutputView("ab", metadata(9))) == Metadata(metadata(9))


def test_another_head_is_another_view():
    old, new = OutputView("a", metadata(), head="h"), OutputView("a", metadata(), head="i")
    assert diff(old, new) == Replace(new)


@pytest.mark.parametrize("make", [lambda n: Slide(n, "", metadata()), lambda n: Rewrite(0, n, "", metadata())])
@pytest.mark.parametrize("wrong", [-1, 1.0, None, True, "1"])
def test_what_is_no_count_of_code_units_is_refused(make, wrong):
    with pytest.raises(ValueError, match=r"(drop|cut) must be a count"):
        make(wrong)


@given(st.lists(st.sampled_from([b"a", "😀".encode(), b"\n", b"\r", b"xyz\n", b"\x1b[A", b"\x1b[31m"]), max_size=30))
def test_a_consumer_of_all_updates_holds_the_view(chunks):
    capture = OutputCapture(OutputLimits(max_bytes=64, max_lines=3))
    held = capture.view()
    before = held
    for chunk in chunks:
        capture.feed(chunk)
        view = capture.view()
        update = diff(before, view)
        if update is not None:
            held = apply_update(held, update)
        assert held == view
        before = view


def test_lengths_are_counted_as_javascript_counts_them():
    assert utf16_length("abc") == 3
    assert utf16_length("é€") == 2
    assert utf16_length("😀") == 2


def test_the_size_of_an_update_is_that_of_its_text_as_json():
    # A newline and a quote take two bytes, an escape six, a character of three bytes three.
    small = encoded_bytes(Append("", metadata()))
    assert encoded_bytes(Append('\n"\x1b€', metadata())) - small == 2 + 2 + 6 + 3
    assert encoded_bytes(Replace(OutputView("x" * 1000, metadata()))) - small == 1000
    assert encoded_bytes(Metadata(metadata())) <= small
