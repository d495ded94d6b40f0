from itertools import pairwise

import pytest

from boundcap_jupyter.show.summary import quiet, rate
from boundcap_jupyter.show.terminal.pace import Pace


def test_the_rate_is_that_of_the_last_five_seconds_and_stands_still_for_one():
    pace = Pace(100.0)
    told = []
    for tenth in range(1, 201):
        now = 100 + tenth / 10
        # 1,000 B/s for ten seconds, then 3,000.
        pace.take(min(tenth, 100) * 100 + max(0, tenth - 100) * 300, now)
        told.append(pace.words(now))
    assert told[:9] == [""] * 9
    assert told[12:100] == ["1.0 kB/s"] * 88
    assert told[-1] == "3.0 kB/s"
    changes = [at for at in range(1, len(told)) if told[at] != told[at - 1]]
    assert all(later - before >= 10 for before, later in pairwise(changes))


def test_silence_is_told_after_five_seconds_and_ends_with_output():
    pace = Pace(0)
    pace.take(1, 2)
    assert pace.words(6.9) == "0 B/s"
    assert pace.words(7.0) == "quiet for 5 s"
    assert pace.words(14.5) == "quiet for 12 s"
    pace.take(1, 15)
    assert pace.words(15) == "quiet for 13 s"
    pace.take(2, 16)
    assert "quiet" not in pace.words(16)


# As in js/src/core/format.test.ts: the words of a panel and of a terminal are the same.
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0 B/s"),
        (999.4, "999 B/s"),
        (999.5, "1.0 kB/s"),
        (9_950, "10 kB/s"),
        (35e6, "35 MB/s"),
        (2.5e12, "2500 GB/s"),
    ],
)
def test_a_rate_has_three_digits_at_most(value, words):
    assert rate(value) == words


@pytest.mark.parametrize(("seconds", "words"), [(5.9, "5 s"), (12.7, "12 s"), (75, "1 min 15 s")])
def test_silence_is_in_whole_seconds(seconds, words):
    assert quiet(seconds) == f"quiet for {words}"
