import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundcap_jupyter.core.clip import LEAST, ClippedText, parse_jsonl


def clipped(data: bytes, bound: int | None, step: int = 1000) -> str:
    text = ClippedText(bound)
    for begin in range(0, len(data), step):
        text.feed(data[begin : begin + step])
    return text.take()


@pytest.mark.parametrize("size", [0, 1, LEAST - 1, LEAST])
@pytest.mark.parametrize("step", [1, 7, 1000])
def test_what_fits_is_kept_as_it_is(size, step):
    data = bytes(32 + number % 90 for number in range(size))
    assert clipped(data, LEAST, step) == data.decode()


def test_without_a_bound_all_is_kept():
    data = b"line\n" * 100_000
    assert clipped(data, None) == data.decode()


def test_whole_lines_are_kept_at_both_ends_and_what_is_missing_is_said():
    lines = [json.dumps({"number": number}) for number in range(1000)]
    data = "".join(f"{line}\n" for line in lines)
    text = clipped(data.encode(), 2000)
    assert len(text.encode()) <= 2000
    kept = text.splitlines()
    (marker,) = [line for line in kept if line not in lines]
    at = kept.index(marker)
    assert kept[:at] == lines[:at]
    assert kept[at + 1 :] == lines[-(len(kept) - at - 1) :]
    missing = lines[at : len(lines) - (len(kept) - at - 1)]
    assert marker == f"[... {sum(map(len, missing)) + len(missing)} bytes, {len(missing)} newlines omitted ...]"


def test_a_line_that_is_cut_is_no_json_although_its_halves_were():
    text = clipped(b"1" * 100_000 + b"\n", 2000)
    assert parse_jsonl(text) == []
    assert text.endswith("1\n")
    assert len(text.encode()) <= 2000
    text = clipped(b'{"a": 1}\n' + b"2" * 100_000 + b'\n{"b": 2}\n', 2000)
    assert parse_jsonl(text) == [{"a": 1}, {"b": 2}]


def test_the_last_events_of_a_cut_stream_are_found():
    events = [{"event": number, "text": "é" * 50} for number in range(10_000)]
    data = "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events).encode()
    found = parse_jsonl(clipped(data, 10_000))
    assert found[0] == events[0]
    assert found[-1] == events[-1]
    assert all(event in events for event in found)


def test_lines_that_are_no_json_are_passed_over():
    assert parse_jsonl('noise\n{"a": 1}\n\n[2]\n{"half": \n3') == [{"a": 1}, [2], 3]


@pytest.mark.parametrize("bound", [0, -1, LEAST - 1])
def test_a_bound_without_room_for_a_marker_is_refused(bound):
    with pytest.raises(ValueError, match=f"bound must be at least {LEAST}"):
        ClippedText(bound)


pieces = st.sampled_from(
    [b"1", b"22\n", b"\n", "é".encode(), "😀\n".encode(), b"\xff", b'{"a": 1}\n', b"x" * 400, b"3" * 900]
)


@given(st.lists(pieces, max_size=40), st.sampled_from([LEAST, 1000]), st.sampled_from([1, 3, 1000]))
def test_a_cut_stream_keeps_its_end_its_bound_and_its_lines(parts, bound, step):
    data = b"".join(parts)
    text = clipped(data, bound, step)
    assert text == clipped(data, bound, 100_000)
    if len(data) <= bound:
        assert text == data.decode(errors="replace")
        return
    # A mark takes three bytes for one that is invalid.
    assert len(text.encode()) <= bound + 2 * text.count("\ufffd")
    whole = data.decode(errors="replace")
    head, _, tail = text.partition("[... ")
    tail = tail.partition("omitted ...]")[2].removeprefix("\n")
    assert whole.startswith(head)
    assert tail
    assert whole.endswith(tail)
    strays = [line for line in text.split("\n") if line not in whole.split("\n")]
    assert len(strays) == 1
    assert "omitted" in strays[0]
    assert parse_jsonl(strays[0]) == []
