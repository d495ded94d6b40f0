from itertools import combinations

import pytest

from boundcap_jupyter.core.totals import Totals

CASES = {
    # stream: bytes, newlines, lines, bytes of the last line
    b"": (0, 0, 0, 0),
    b"no newline": (10, 0, 1, 10),
    b"\n\n\n": (3, 3, 3, 0),
    b"one\ntwo\n": (8, 2, 2, 3),
    b"one\ntwo": (7, 1, 2, 3),
    b"one\n\n": (5, 2, 2, 0),
    b"a\nbb\nccc": (8, 2, 3, 3),
    b"\xe2\x82\xac\n": (4, 1, 1, 3),
    b"bar 1\rbar 2\r": (12, 0, 1, 12),
}


@pytest.mark.parametrize("stream", CASES)
def test_totals_are_exact_for_every_pair_of_cuts(stream):
    for first, second in combinations(range(len(stream) + 1), 2) if stream else [(0, 0)]:
        totals = Totals()
        for chunk in (stream[:first], stream[first:second], stream[second:]):
            totals.add(chunk)
        assert (totals.byte_count, totals.newlines, totals.lines, totals.last_line_bytes) == CASES[stream]
