"""The loop, with real pipes and a time that is played: a scripted poll moves the clock to what happens next."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from signal import SIGINT, SIGKILL, SIGTERM
from types import SimpleNamespace
from typing import Any

import pytest

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.core.update import Update
from boundcap_jupyter.running import loop as module
from boundcap_jupyter.running.loop import Loop, StopRequests
from boundcap_jupyter.running.process import Process
from boundcap_jupyter.running.pump import Pump, RunError
from tests.running.observe import Recorder, eventually

#: What the clock shows when a run starts.
START = 1000.0


class Play:
    """A command whose life is a list of (seconds since the start, what happens), and the poll that waits for it."""

    def __init__(self, pidfd: bool = True) -> None:
        self.now = START
        self.signals: list[tuple[float, int]] = []
        #: What the command does when it gets a signal.
        self.reactions: dict[int, Callable[[], None]] = {}
        self.members = False
        self.exited = False
        self.output, self._write_end = os.pipe()
        self._exit_read, self._exit_write = os.pipe()
        self.exit_fd = self._exit_read if pidfd else None
        self.stops = StopRequests()
        self.stops.open()
        self.recorder = Recorder()
        self.pump = Pump(OutputCapture(), None, self.recorder)
        self.longest = 0
        self._script: list[tuple[float, Callable[[], object]]] = []
        self._poll = select.poll()
        self.register, self.unregister = self._poll.register, self._poll.unregister

    # what may happen

    def at(self, seconds: float, *happen: Callable[[], object]) -> None:
        self._script += [(START + seconds, step) for step in happen]
        self._script.sort(key=lambda event: event[0])

    def write(self, data: bytes) -> Callable[[], object]:
        return lambda: os.write(self._write_end, data)

    def close(self) -> None:
        os.close(self._write_end)
        self._write_end = -1

    def exit(self) -> None:
        self.exited = True
        os.write(self._exit_write, b"x")

    def stop(self) -> None:
        self.stops.request()

    def members_go(self) -> None:
        self.members = False

    # what the loop sees of a process

    def has_exited(self) -> bool:
        return self.exited

    def has_members(self) -> bool:
        return self.members

    lost = ""

    def hear(self) -> None:
        pass

    def drain(self, fd: int) -> bool:
        return False

    def signal(self, number: signal.Signals) -> None:
        # Sleeps are of whole milliseconds, rounded up.
        self.signals.append((round(self.now - START, 2), number))
        self.reactions.get(number, lambda: None)()

    # what the loop sees of time

    def poll(self, milliseconds: int | None) -> list[tuple[int, int]]:
        if milliseconds is not None:
            assert 0 <= milliseconds < 2**31, "poll(2) takes no more"
            self.longest = max(self.longest, milliseconds)
        if ready := self._poll.poll(0):
            return ready
        wake = None if milliseconds is None else self.now + milliseconds / 1000
        if self._script and (wake is None or self._script[0][0] <= wake):
            self.now = self._script[0][0]
            while self._script and self._script[0][0] <= self.now:
                self._script.pop(0)[1]()
        else:
            assert wake is not None, "it would wait for ever"
            self.now = wake
        return self._poll.poll(0)

    def run(self, timeout: float | None = None) -> Loop:
        loop = Loop(self.process, {self.output: self.pump}, self.stops, None if timeout is None else START + timeout)
        loop.run()
        return loop

    @property
    def process(self) -> Process:
        return self  # type: ignore[return-value]  # all that a loop needs of one

    @property
    def seconds(self) -> float:
        return round(self.now - START, 6)

    @property
    def text(self) -> str:
        return self.pump.view().text

    def tear_down(self) -> None:
        self.stops.close()
        for fd in (self._write_end, self._exit_read, self._exit_write):
            if fd >= 0:
                os.close(fd)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Play]]:
    plays: list[Play] = []

    def make(**options: Any) -> Play:
        play = Play(**options)
        plays.append(play)
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: play.now))
        fake = SimpleNamespace(poll=lambda: play, POLLIN=select.POLLIN)
        monkeypatch.setattr(module, "select", fake)
        return play

    yield make
    for play in plays:
        play.tear_down()


@pytest.fixture(params=[True, False], ids=["pidfd", "no pidfd"])
def play(request: pytest.FixtureRequest, stage: Callable[..., Play]) -> Play:
    return stage(pidfd=request.param)


#: Without a pidfd the loop looks that often.
LOOK = 0.0201


# --- the end


def test_it_is_over_when_the_pipe_is_at_its_end_and_the_command_has_exited(play: Play) -> None:
    play.at(1, play.write(b"one\n"))
    play.at(2, play.write(b"two\n"), play.close, play.exit)
    loop = play.run()
    assert play.text == "one\ntwo\n"
    assert 2 <= play.seconds <= 2 + LOOK
    assert (loop.ending, loop.failure, play.signals) == (None, None, [])


def test_a_command_that_closes_its_output_but_runs_on_is_still_running(play: Play) -> None:
    play.at(1, play.write(b"one\n"), play.close)
    play.at(100, play.exit)
    play.run()
    assert play.text == "one\n"
    assert 100 <= play.seconds <= 100 + LOOK


def test_what_comes_soon_after_the_command_has_exited_is_kept(play: Play) -> None:
    play.at(1, play.exit)
    play.at(1.3, play.write(b"LAST\n"), play.close)
    play.run()
    assert play.text == "LAST\n"
    assert play.seconds == 1.3


def test_a_pipe_that_a_descendant_holds_is_let_go_half_a_second_after_the_exit(play: Play) -> None:
    play.at(1, play.write(b"done\n"), play.exit)
    play.run()
    assert 1.5 <= play.seconds <= 1.5 + 2 * LOOK
    # It lives on: what it prints is drained, not refused.
    before = threading.active_count()
    for _ in range(20):
        os.write(play._write_end, bytes(65536))
    assert play.text == "done\n"
    play.close()
    assert eventually(lambda: threading.active_count() < before)


def test_a_descendant_that_never_stops_printing_does_not_delay_the_end(stage: Callable[..., Play]) -> None:
    play = stage()
    play.at(1, play.exit)
    for step in range(100):
        play.at(1 + step / 20, play.write(b"x\n"))
    play.run()
    assert play.seconds == 1.5
    # At 1.00, 1.05, ... 1.50: eleven lines.
    assert play.text == "x\n" * 11
    play.close()


def test_all_that_is_in_the_pipe_when_it_is_let_go_is_read(
    stage: Callable[..., Play], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "READ_BYTES", 1000)
    play = stage()
    play.at(1, play.exit)
    play.at(1.5, play.write(b"x" * 60_000))
    play.run()
    assert play.pump.view().metadata.truncation.total_bytes == 60_000
    play.close()


# --- stopping


def test_stop_interrupts_then_terminates_then_kills(play: Play) -> None:
    play.reactions[SIGKILL] = lambda: (play.close(), play.exit())
    play.at(1, play.stop)
    loop = play.run()
    assert play.signals == [(1, SIGINT), (6, SIGTERM), (8, SIGKILL)]
    assert loop.ending is not None
    assert loop.ending.state is RunState.STOPPED


def test_a_command_that_saves_on_interrupt_gets_its_time(play: Play) -> None:
    play.at(1, play.stop)
    play.at(5.5, play.write(b"saved\n"), play.close, play.exit)
    play.run()
    assert play.text == "saved\n"
    assert play.signals == [(1, SIGINT)]


def test_a_second_stop_kills_at_once(play: Play) -> None:
    play.reactions[SIGKILL] = lambda: (play.close(), play.exit())
    play.at(1, play.stop)
    play.at(1.5, play.stop)
    play.run()
    assert play.signals == [(1, SIGINT), (1.5, SIGKILL)]


def test_two_stops_before_it_wakes_kill_at_once(play: Play) -> None:
    play.reactions[SIGKILL] = lambda: (play.close(), play.exit())
    play.at(1, play.stop, play.stop)
    play.run()
    assert play.signals == [(1, SIGKILL)]


def test_a_stop_before_the_start_is_obeyed(play: Play) -> None:
    play.stop()
    play.reactions[SIGINT] = lambda: (play.close(), play.exit())
    assert play.run().ending is not None
    assert play.signals == [(0, SIGINT)]


def test_a_command_that_came_to_its_end_together_with_the_stop_was_not_stopped(stage: Callable[..., Play]) -> None:
    play = stage()
    play.at(1, play.stop, play.close, play.exit)
    assert play.run().ending is None
    assert play.signals == []


def test_stop_after_the_exit_does_nothing_while_a_descendant_holds_the_pipe(play: Play) -> None:
    play.at(1, play.exit)
    play.at(1.2, play.stop, play.stop)
    assert play.run().ending is None
    assert play.signals == []
    play.close()


def test_stopping_a_timeout_that_lingers_kills_at_once(play: Play) -> None:
    play.reactions[SIGKILL] = lambda: (play.close(), play.exit())
    play.at(1.5, play.stop)
    loop = play.run(timeout=1)
    assert play.signals == [(1, SIGTERM), (1.5, SIGKILL)]
    assert loop.ending is not None
    assert loop.ending.state is RunState.TIMEOUT


# --- the time limit


def test_a_timeout_terminates_then_kills(play: Play) -> None:
    play.reactions[SIGKILL] = lambda: (play.close(), play.exit())
    loop = play.run(timeout=10)
    assert play.signals == [(10, SIGTERM), (12, SIGKILL)]
    assert loop.ending is not None
    assert loop.ending.state is RunState.TIMEOUT


def test_a_timeout_is_felt_under_a_flood(stage: Callable[..., Play]) -> None:
    play = stage()
    play.reactions[SIGTERM] = lambda: (play.close(), play.exit())
    for step in range(2000):
        play.at(step / 100, lambda: play.signals or os.write(play._write_end, b"flood\n"))
    play.run(timeout=10)
    assert play.signals == [(10, SIGTERM)]


def test_a_command_that_has_exited_has_no_timeout_any_more(play: Play) -> None:
    play.at(0.9, play.exit)
    assert play.run(timeout=1).ending is None
    assert play.signals == []
    play.close()


@pytest.mark.parametrize("timeout", [30 * 86400.0, 1e300])
def test_a_timeout_of_months_is_waited_for_in_parts(stage: Callable[..., Play], timeout: float) -> None:
    play = stage()
    play.at(86400, play.close, play.exit)
    assert play.run(timeout).ending is None
    assert play.seconds == 86400


def test_without_a_reason_to_wake_it_sleeps(stage: Callable[..., Play]) -> None:
    play = stage()
    polls = []
    real = play.poll
    play.poll = lambda milliseconds: polls.append(milliseconds) or real(milliseconds)  # type: ignore[method-assign]
    play.at(1000, play.close, play.exit)
    play.run()
    assert polls == [None]


# --- the group


def test_a_stopped_run_is_not_over_before_its_group_is_gone(play: Play) -> None:
    play.members = True
    play.reactions[SIGINT] = lambda: (play.close(), play.exit())
    play.at(1, play.stop)
    play.at(4, play.members_go)
    play.run()
    assert 4 <= play.seconds <= 4 + LOOK


def test_a_group_that_outlives_its_leader_gets_the_later_signals(play: Play) -> None:
    play.members = True
    play.reactions[SIGINT] = lambda: (play.close(), play.exit())
    play.reactions[SIGTERM] = play.members_go
    play.at(1, play.stop)
    play.run()
    assert play.signals == [(1, SIGINT), (6, SIGTERM)]


def test_a_group_that_survives_the_last_signal_is_not_waited_for_for_ever(play: Play) -> None:
    play.members = True
    play.reactions[SIGTERM] = lambda: (play.close(), play.exit())
    play.run(timeout=1)
    assert play.signals == [(1, SIGTERM), (3, SIGKILL)]
    assert 8 <= play.seconds <= 8 + 2 * LOOK


def test_a_command_that_survives_the_last_signal_is_not_waited_for_for_ever(play: Play) -> None:
    # It hangs in the kernel, or runs as another user (sudo).
    loop = play.run(timeout=1)
    assert play.signals == [(1, SIGTERM), (3, SIGKILL)]
    assert 8.5 <= play.seconds <= 8.5 + 3 * LOOK
    assert loop.ending is not None
    play.close()


def test_a_group_that_is_left_behind_on_purpose_is_not_waited_for(play: Play) -> None:
    play.members = True
    play.at(1, play.close, play.exit)
    play.run()
    assert 1 <= play.seconds <= 1 + LOOK
    assert play.signals == []


# --- what breaks


def test_a_sink_that_raises_ends_the_command_and_what_it_still_prints_is_kept(play: Play) -> None:
    def raising(update: Update) -> None:
        raise ValueError("no")

    play.pump = Pump(OutputCapture(), None, raising)
    play.reactions[SIGTERM] = lambda: (play.write(b"bye\n")(), play.close(), play.exit())
    play.at(1, play.write(b"one\n"))
    loop = play.run()
    assert play.signals == [(1, SIGTERM)]
    assert loop.failure is not None
    assert loop.failure.state is RunState.CALLBACK_ERROR
    assert play.text == "one\nbye\n"


def test_the_first_thing_that_broke_is_what_is_told(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = iter([RunError(RunState.SPILL_ERROR, "first"), RunError(RunState.CALLBACK_ERROR, "second")])

    def fail(data: bytes) -> None:
        raise next(failures)

    monkeypatch.setattr(play.pump, "feed", fail)
    play.reactions[SIGTERM] = lambda: (play.write(b"more")(), play.close(), play.exit())
    play.at(1, play.write(b"one\n"))
    loop = play.run()
    assert str(loop.failure) == "first"
    assert loop.ending is not None
    assert loop.ending.state is RunState.SPILL_ERROR
    assert play.signals == [(1, SIGTERM)]


def test_what_breaks_after_the_exit_ends_nothing(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(data: bytes) -> None:
        raise RunError(RunState.SPILL_ERROR, "full")

    monkeypatch.setattr(play.pump, "feed", fail)
    play.at(1, play.exit)
    play.at(1.2, play.write(b"late"), play.close)
    loop = play.run()
    assert str(loop.failure) == "full"
    assert (loop.ending, play.signals) == (None, [])


def test_a_defect_of_ours_leaves_no_pipe_open(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(data: bytes) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(play.pump, "feed", broken)
    play.at(1, play.write(b"one\n"))
    with pytest.raises(ZeroDivisionError):
        play.run()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(play.output)


# --- updates


def test_what_was_held_back_is_sent_when_its_time_has_come(play: Play) -> None:
    play.at(1, play.write(b"one\n"))
    play.at(1.01, play.write(b"two\n"))
    play.at(1.02, play.write(b"three\n"))
    shown: list[tuple[float, str]] = []

    def sink(update: Update) -> None:
        play.recorder(update)
        shown.append((play.seconds, play.recorder.view.text))

    play.pump = Pump(OutputCapture(), None, sink)
    play.at(60, play.close, play.exit)
    play.run()
    # Milliseconds are rounded up.
    assert shown == [(1, "one\n"), (pytest.approx(1.1, abs=0.0011), "one\ntwo\nthree\n")]


# --- requests to stop


def readable(requests: StopRequests) -> bool:
    return bool(select.select([requests.fd], [], [], 0)[0])


def test_requests_are_counted_and_wake_once() -> None:
    requests = StopRequests()
    requests.open()
    assert not readable(requests)
    requests.request()
    requests.request()
    assert readable(requests)
    assert requests.take() == 2
    assert not readable(requests)
    requests.request()
    assert readable(requests)
    assert requests.take() == 3
    requests.close()


def test_requests_before_the_start_and_after_the_end_are_harmless() -> None:
    requests = StopRequests()
    requests.request()
    requests.open()
    assert readable(requests)
    assert requests.take() == 1
    requests.close()
    requests.request()
    requests.close()


def test_requests_that_nobody_takes_never_block() -> None:
    requests = StopRequests()
    requests.open()
    for _ in range(100_000):  # more than a pipe holds
        requests.request()
    assert requests.take() == 100_000
    requests.close()


def test_a_signal_handler_may_ask_while_its_own_thread_is_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    requests = StopRequests()
    requests.open()
    real = os.write
    again = iter([requests.request])

    def interrupted(fd: int, data: bytes) -> int:
        with contextlib.suppress(StopIteration):
            next(again)()
        return real(fd, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", interrupted)
        requests.request()
    assert requests.take() == 2
    requests.close()
