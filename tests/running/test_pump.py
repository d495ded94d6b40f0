from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.core.update import Append, Metadata, Replace, Update
from boundcap_jupyter.running.budget import Budget
from boundcap_jupyter.running.pump import Pump, RunError
from boundcap_jupyter.running.spill import SpillFile
from boundcap_jupyter.running.store import RunDirectory, Session
from tests.running.observe import Recorder

FOUR_LINES = OutputLimits(max_lines=4)


class BrokenSpill(SpillFile):
    """A disk that takes `room` bytes, or fails only when the file is closed."""

    def __init__(self, session: RunDirectory, room: int, *, on_close: bool = False) -> None:
        super().__init__(session)
        self.room = room
        self.on_close = on_close
        self.calls = 0

    def write(self, data: bytes) -> None:
        self.calls += 1
        super().write(data[: self.room])
        self.room -= len(data)
        if self.room < 0:
            self.abandon()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "output.log")

    def close(self) -> None:
        super().close()
        if self.on_close:
            self.state = "incomplete"
            raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.fixture
def session(tmp_path: Path) -> Iterator[RunDirectory]:
    directory = RunDirectory(Session(tmp_path / "store"))
    yield directory
    directory.release()


def recording(session: RunDirectory | None = None, limits: OutputLimits | None = None) -> tuple[Pump, Recorder]:
    recorder = Recorder()
    return Pump(OutputCapture(limits), SpillFile(session) if session else None, recorder), recorder


# --- updates


def test_nothing_is_due_before_there_is_output() -> None:
    pump, recorder = recording()
    assert pump.due is None
    pump.publish(1000.0)
    assert recorder.updates == []


def test_the_first_output_goes_at_once_the_next_no_sooner_than_a_tenth_of_a_second_later() -> None:
    pump, recorder = recording()
    pump.feed(b"one\n")
    assert pump.due is not None
    assert pump.due <= 1000.0
    pump.publish(1000.0)
    assert recorder.view.text == "one\n"
    pump.feed(b"two\n")
    assert pump.due == pytest.approx(1000.1)
    pump.publish(1000.09)
    assert len(recorder.updates) == 1
    pump.publish(1000.1)
    assert isinstance(recorder.updates[1], Append)
    assert recorder.view.text == "one\ntwo\n"
    assert pump.due is None


def test_the_last_update_is_complete_and_does_not_wait() -> None:
    pump, recorder = recording()
    pump.feed(b"one\n")
    pump.publish(1000.0)
    pump.feed(b"two\n")
    pump.end()
    pump.finish(1000.0)
    assert recorder.updates[-1] == Replace(pump.view())
    assert recorder.view.text == "one\ntwo\n"


def test_a_run_without_output_has_one_update_that_says_so() -> None:
    pump, recorder = recording()
    pump.end()
    pump.finish(1000.0)
    assert [update.kind for update in recorder.updates] == ["replace"]
    assert recorder.view == pump.view()


def test_without_a_sink_nothing_is_ever_due_and_the_view_is_kept() -> None:
    pump = Pump(OutputCapture(), None, None)
    pump.feed(b"one\n")
    assert pump.due is None
    pump.publish(1000.0)
    pump.end()
    pump.finish(1000.0)
    assert pump.view().text == "one\n"


def test_two_hundred_lines_at_twenty_milliseconds_cost_at_most_twice_their_bytes() -> None:
    pump, recorder = recording()
    lines = [f"{number:03d} of 200: training loss {1 / number:.6f}\n".encode() for number in range(1, 201)]
    now = 1000.0
    for line in lines:
        pump.feed(line)
        # The owner asks when it is woken by output and when it is due.
        pump.publish(now)
        following = now + 0.020
        while (due := pump.due) is not None and due <= following:
            now = max(now, due)
            pump.publish(now)
        now = following
    pump.end()
    pump.finish(now)
    assert recorder.view.text.encode() == b"".join(lines)
    # 4 s at ten a second, the first, and the last.
    assert 35 <= len(recorder.updates) <= 42
    assert recorder.text_bytes <= 2 * sum(map(len, lines))


def test_updates_are_no_more_than_the_rate_allows_however_much_is_fed() -> None:
    pump, recorder = recording(limits=OutputLimits(max_bytes=50 * 1024))
    now = 1000.0
    for number in range(1000):
        pump.feed(f"{number:06d}".encode() * 1000 + b"\n")
        pump.publish(now)
        now += 0.010
    # Ten seconds; each update turns over 50 kB, which take half a second.
    assert 15 <= len(recorder.updates) <= 22


# --- the spill


def test_there_is_no_spill_before_a_limit_is_passed(session: RunDirectory) -> None:
    pump, recorder = recording(session, FOUR_LINES)
    pump.feed(b"1\n2\n3\n4\n")
    pump.publish(1000.0)
    assert session.path is None
    metadata = recorder.view.metadata
    assert (metadata.spill_path, metadata.spill_state, metadata.spill_bytes) == (None, "none", 0)


def test_a_new_spill_is_published_without_waiting_for_its_turn(session: RunDirectory) -> None:
    pump, recorder = recording(session, FOUR_LINES)
    pump.feed(b"1\n2\n3\n4\n")
    pump.publish(1000.0)
    pump.feed(b"5\n")
    pump.publish(1000.0)
    assert len(recorder.updates) == 2
    metadata = recorder.view.metadata
    assert metadata.spill_state == "open"
    assert metadata.spill_path is not None
    assert Path(metadata.spill_path).read_bytes() == b"1\n2\n3\n4\n5\n"
    assert metadata.spill_bytes == 10
    # Once is enough: what follows waits again.
    pump.feed(b"6\n")
    pump.publish(1000.0)
    assert len(recorder.updates) == 2
    pump.end()


def test_the_last_update_says_that_the_spill_is_complete(session: RunDirectory) -> None:
    pump, recorder = recording(session, FOUR_LINES)
    data = b"".join(b"%d\n" % number for number in range(100))
    pump.feed(data)
    pump.end()
    pump.finish(1000.0)
    metadata = recorder.view.metadata
    assert (metadata.spill_state, metadata.spill_bytes) == ("complete", len(data))
    assert metadata.spill_path is not None
    assert Path(metadata.spill_path).read_bytes() == data


def test_bytes_that_take_more_room_shown_than_raw_are_spilled_at_the_end(session: RunDirectory) -> None:
    # 1,000 NULs are within the limit, but each is shown by a character of three bytes.
    pump, recorder = recording(session, OutputLimits(max_bytes=1024))
    pump.feed(bytes(1000))
    pump.publish(1000.0)
    assert recorder.view.metadata.spill_state == "none"
    pump.end()
    pump.finish(1000.0)
    metadata = recorder.view.metadata
    assert metadata.spill_state == "complete"
    assert metadata.spill_path is not None
    assert Path(metadata.spill_path).read_bytes() == bytes(1000)


def test_a_spill_that_fails_is_raised_once_and_the_view_goes_on(session: RunDirectory) -> None:
    spill = BrokenSpill(session, room=6)
    recorder = Recorder()
    pump = Pump(OutputCapture(FOUR_LINES), spill, recorder)
    pump.feed(b"1\n2\n3\n4\n")
    with pytest.raises(RunError, match=r"could not be kept: No space left on device \(output.log\)") as caught:
        pump.feed(b"5\n")
    assert caught.value.state is RunState.SPILL_ERROR
    assert isinstance(caught.value.__cause__, OSError)
    pump.publish(1000.0)
    assert recorder.view.text == "2\n3\n4\n5\n"
    assert recorder.view.metadata.spill_state == "incomplete"
    assert recorder.view.metadata.spill_bytes == 6
    spill.room = 1000
    pump.feed(b"6\n")
    pump.end()
    pump.finish(1001.0)
    assert recorder.view.text == "3\n4\n5\n6\n"
    metadata = recorder.view.metadata
    assert (metadata.spill_state, metadata.spill_bytes) == ("incomplete", 6)
    assert metadata.truncation.total_bytes == 12


def test_a_spill_that_can_not_be_made_has_no_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    pump, recorder = recording(RunDirectory(Session(tmp_path / "file")), FOUR_LINES)
    with pytest.raises(RunError, match="could not be kept") as caught:
        pump.feed(b"1\n2\n3\n4\n5\n")
    assert caught.value.state is RunState.SPILL_ERROR
    pump.publish(1000.0)
    metadata = recorder.view.metadata
    assert (metadata.spill_path, metadata.spill_state, metadata.spill_bytes) == (None, "incomplete", 0)


def test_a_loss_at_the_very_end_is_raised_and_said(session: RunDirectory) -> None:
    recorder = Recorder()
    pump = Pump(OutputCapture(FOUR_LINES), BrokenSpill(session, 1000, on_close=True), recorder)
    pump.feed(b"1\n2\n3\n4\n5\n")
    with pytest.raises(RunError, match=r"could not be kept: Input/output error$") as caught:
        pump.end()
    assert caught.value.state is RunState.SPILL_ERROR
    pump.finish(1000.0)
    assert recorder.view.metadata.spill_state == "incomplete"


def test_an_abandoned_pump_sends_nothing_more_and_closes_its_spill(session: RunDirectory) -> None:
    pump, recorder = recording(session, FOUR_LINES)
    pump.feed(b"1\n2\n3\n4\n5\n")
    pump.abandon()
    pump.publish(1000.0)
    pump.finish(1000.0)
    assert recorder.updates == []
    assert pump.view().metadata.spill_state == "incomplete"


# --- sinks that raise


class Failing(Recorder):
    """A sink that takes `good` updates, then raises."""

    def __init__(self, error: BaseException, good: int = 0) -> None:
        super().__init__()
        self.error = error
        self.good = good

    def __call__(self, update: Update) -> None:
        super().__call__(update)
        if len(self.updates) > self.good:
            raise self.error


@pytest.mark.parametrize(
    "error", [ValueError("bad"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()], ids=repr
)
def test_a_sink_that_raises_fails_the_run_and_gets_nothing_more(error: BaseException) -> None:
    sink = Failing(error)
    pump = Pump(OutputCapture(), None, sink)
    pump.feed(b"one\n")
    with pytest.raises(RunError, match=type(error).__name__) as caught:
        pump.publish(1000.0)
    assert caught.value.state is RunState.CALLBACK_ERROR
    assert caught.value.__cause__ is error
    pump.feed(b"two\n")
    assert pump.due is None
    pump.publish(2000.0)
    pump.end()
    pump.finish(3000.0)
    assert len(sink.updates) == 1
    assert pump.view().text == "one\ntwo\n"


def test_a_sink_that_raises_at_the_last_update_fails_the_run_too() -> None:
    sink = Failing(ValueError("late"), good=1)
    pump = Pump(OutputCapture(), None, sink)
    pump.feed(b"one\n")
    pump.publish(1000.0)
    pump.end()
    with pytest.raises(RunError, match="the receiver of updates raised ValueError: late"):
        pump.finish(1000.0)


def test_a_view_that_is_the_same_again_is_not_sent() -> None:
    pump, recorder = recording()
    pump.feed(b"one\n")
    pump.publish(1000.0)
    pump.feed(b"")
    pump.publish(1001.0)
    assert len(recorder.updates) == 1


def test_totals_alone_are_sent_as_metadata() -> None:
    pump, recorder = recording()
    pump.feed(b"one\n")
    pump.publish(1000.0)
    pump.feed(b"\x1b[0m")
    pump.publish(1001.0)
    assert isinstance(recorder.updates[-1], Metadata)
    assert recorder.view.metadata.truncation.total_bytes == 8


def test_runs_share_one_budget_and_the_last_update_is_exempt():
    budget = Budget(messages=10)
    recorders = [Recorder() for _ in range(5)]
    pumps = [Pump(OutputCapture(), None, recorder, budget) for recorder in recorders]
    for step in range(200):
        now = step / 100
        for pump in pumps:
            pump.feed(b"line\n")
            if pump.due <= now:
                pump.publish(now)
    counts = [len(recorder.updates) for recorder in recorders]
    # Two seconds of ten messages and the slack, in turns.
    assert sum(counts) <= 22
    assert max(counts) - min(counts) <= 1
    for pump in pumps:
        pump.end()
        pump.finish(2.0)
    assert [len(recorder.updates) for recorder in recorders] == [count + 1 for count in counts]
    assert all(recorder.view == pump.view() for recorder, pump in zip(recorders, pumps, strict=True))


def test_a_budget_that_is_spent_makes_the_run_wait_not_the_reader():
    budget = Budget(messages=1)
    first, second = (Pump(OutputCapture(), None, Recorder(), budget) for _ in range(2))
    first.feed(b"x")
    first.publish(100.0)
    second.feed(b"y")
    second.publish(100.0)
    # The place is known: the loop can sleep until then, and what comes meanwhile goes with it.
    assert 100.0 < second.due <= 101.0


class Heavy:
    """Passes on `weight` bytes whatever it gets."""

    def __init__(self, weight: int) -> None:
        self.last_bytes = weight
        self.times: list[float] = []
        self.now = 0.0

    def __call__(self, update: Update) -> None:
        self.times.append(self.now)


def _pumped(pump: Pump, sink: Heavy, seconds: int) -> None:
    for step in range(seconds * 100):
        sink.now = step / 100
        pump.feed(b"line\n")
        if pump.due is not None and pump.due <= sink.now:
            pump.publish(sink.now)


def test_what_a_sink_passes_on_beyond_the_update_slows_its_run_down():
    sink = Heavy(51_200)
    _pumped(Pump(OutputCapture(), None, sink, Budget()), sink, seconds=10)
    # As views that turn over completely: 100 KiB a second are two of them.
    assert 19 <= len(sink.times) <= 21
    light = Heavy(0)
    _pumped(Pump(OutputCapture(), None, light, Budget()), light, seconds=10)
    assert len(light.times) > 90


def test_what_a_sink_passes_on_beyond_the_update_counts_for_the_budget_of_all():
    budget = Budget(bytes_=10_000)
    first, second = Pump(OutputCapture(), None, Heavy(5_000), budget), Pump(OutputCapture(), None, Recorder(), budget)
    first.feed(b"x")
    first.publish(100.0)
    second.feed(b"y")
    second.publish(100.0)
    # Half a second of the budget is gone, less the slack.
    assert 100.3 < second.due <= 100.5
