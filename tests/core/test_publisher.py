"""Time is a number here: nothing waits."""

from itertools import pairwise

import pytest

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.publisher import MIN_INTERVAL, REPLACE_INTERVAL, TARGET_RATE, AdaptivePublisher
from boundcap_jupyter.core.update import Replace, apply_update, encoded_bytes


class Stream:
    """A capture, its publisher, and a consumer that folds what it gets."""

    def __init__(self, **limits) -> None:
        self.capture = OutputCapture(OutputLimits(**limits))
        self.publisher = AdaptivePublisher(self.capture.view)
        self.updates: list = []
        self.view = None

    def feed(self, data: bytes) -> None:
        self.capture.feed(data)
        self.publisher.mark()

    def take(self, update) -> bool:
        if update is None:
            return False
        self.updates.append(update)
        self.view = update.output if isinstance(update, Replace) else apply_update(self.view, update)
        return True

    def poll(self, now: float) -> bool:
        return self.take(self.publisher.poll(now))


def test_nothing_is_due_before_something_happened():
    stream = Stream()
    assert stream.publisher.due is None
    assert not stream.poll(100.0)


def test_the_first_state_goes_at_once_and_the_next_waits():
    stream = Stream()
    stream.feed(b"one\n")
    assert stream.publisher.due <= 7.0
    assert stream.poll(7.0)
    stream.feed(b"two\n")
    assert stream.publisher.due == pytest.approx(7.0 + MIN_INTERVAL)
    assert not stream.poll(7.05)
    assert stream.poll(7.0 + MIN_INTERVAL)
    assert stream.view.text == "one\ntwo\n"


def test_a_state_after_a_pause_goes_at_once():
    stream = Stream()
    stream.feed(b"one\n")
    stream.poll(0.0)
    stream.feed(b"two\n")
    stream.poll(1.0)
    stream.feed(b"three\n")
    assert stream.publisher.due <= 60.0
    assert stream.poll(60.0)


def test_what_happened_while_waiting_goes_as_one_update():
    stream = Stream()
    stream.feed(b"0\n")
    stream.poll(0.0)
    for number in range(1, 50):
        stream.feed(b"%d\n" % number)
        stream.poll(0.001 * number)
    assert len(stream.updates) == 1
    assert stream.poll(MIN_INTERVAL)
    assert len(stream.updates) == 2
    assert stream.view == stream.capture.view()


def test_a_large_update_makes_the_next_one_wait_for_its_bytes():
    stream = Stream()
    stream.feed(b"x" * 999 + b"\n" * 1)
    stream.feed((b"y" * 999 + b"\n") * 60)
    stream.poll(0.0)
    stream.feed(b"more\n")
    assert stream.publisher.due == pytest.approx(encoded_bytes(stream.updates[0]) / TARGET_RATE)
    # A view of 50 KB that turns over completely: about two updates a second.
    assert 0.4 < stream.publisher.due < 0.6


def test_news_that_can_not_wait_goes_at_once():
    stream = Stream()
    stream.feed(b"one\n")
    stream.poll(0.0)
    stream.capture.feed(b"two\n")
    stream.publisher.mark(urgent=True)
    assert stream.poll(0.001)
    stream.feed(b"three\n")
    assert not stream.poll(0.002)


def test_nothing_is_sent_when_nothing_changed():
    stream = Stream()
    stream.feed(b"one\n")
    stream.poll(0.0)
    stream.publisher.mark()
    assert not stream.poll(10.0)
    assert stream.publisher.due is None


def test_a_complete_update_comes_every_five_seconds_while_the_view_changes():
    stream = Stream()
    kinds = []
    for tenth in range(200):
        stream.feed(b"%d\n" % tenth)
        if stream.poll(tenth / 10):
            kinds.append((tenth / 10, stream.updates[-1].kind))
    complete = [now for now, kind in kinds if kind == "replace"]
    assert complete[0] == 0.0
    assert all(later - earlier <= REPLACE_INTERVAL + MIN_INTERVAL for earlier, later in pairwise(complete))
    assert {kind for _, kind in kinds} == {"replace", "append"}


def test_the_last_update_goes_at_once_and_any_consumer_can_apply_it():
    stream = Stream()
    stream.feed(b"one\n")
    stream.poll(0.0)
    stream.feed(b"two\n")
    assert stream.take(stream.publisher.finish(0.01))
    assert isinstance(stream.updates[-1], Replace)
    assert stream.view == stream.capture.view()


def test_the_baseline_is_committed_before_the_update_is_handed_out():
    stream = Stream()
    stream.feed(b"one\n")
    stream.publisher.poll(0.0)  # taken by a sink that raised: it must not see this again
    stream.feed(b"two\n")
    update = stream.publisher.poll(1.0)
    assert (update.kind, update.text) == ("append", "two\n")


def test_two_hundred_lines_cost_at_most_twice_their_bytes():
    stream = Stream()
    written = 0
    for number in range(200):
        line = b"epoch %3d: loss 0.%04d\n" % (number, 10_000 - number)
        written += len(line)
        stream.feed(line)
        stream.poll(0.02 * number)
    stream.take(stream.publisher.finish(4.0))
    sent = sum(len((u.output.text if isinstance(u, Replace) else u.text).encode()) for u in stream.updates)
    assert sent <= 2 * written


def test_a_line_each_ten_milliseconds_is_a_slide_each_hundred():
    stream = Stream(max_lines=20)
    for number in range(1000):
        stream.feed(b"line %d\n" % number)
        stream.poll(number / 100)
    assert 95 <= len(stream.updates) <= 101
    kinds = [update.kind for update in stream.updates[3:]]
    assert set(kinds) == {"slide", "replace"}
    assert kinds.count("replace") <= 2


def test_an_update_that_took_more_on_its_way_is_waited_for_longer():
    stream = Stream()
    stream.feed(b"one\n")
    assert stream.poll(0.0)
    stream.publisher.weigh(TARGET_RATE, 0.0)
    assert stream.publisher.last_bytes == TARGET_RATE
    stream.feed(b"two\n")
    assert stream.publisher.due == 1.0
    assert stream.poll(1.0)
    # Less than the update itself is not believed.
    own = stream.publisher.last_bytes
    stream.publisher.weigh(0, 1.0)
    stream.feed(b"three\n")
    assert (stream.publisher.last_bytes, stream.publisher.due) == (own, 1.0 + MIN_INTERVAL)
