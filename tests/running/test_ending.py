from __future__ import annotations

from signal import SIGINT, SIGKILL, SIGTERM

import pytest

from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.running.ending import Ending

#: Any moment on the owner's clock.
NOW = 1000.0
EVERYTHING_BUT_STOP = [
    RunState.TIMEOUT,
    RunState.IDLE_TIMEOUT,
    RunState.SPILL_ERROR,
    RunState.CALLBACK_ERROR,
]


def signals(ending: Ending) -> list[tuple[float, int]]:
    """(seconds after the decision, signal) for an owner that is always in time."""
    sent = []
    while (due := ending.due) is not None:
        number = ending.take(due)
        assert number is not None
        sent.append((due - NOW, number))
    return sent


def test_stop_asks_as_ctrl_c_does_then_insists_then_kills() -> None:
    assert signals(Ending(RunState.STOPPED, NOW)) == [(0, SIGINT), (5, SIGTERM), (7, SIGKILL)]


@pytest.mark.parametrize("state", EVERYTHING_BUT_STOP)
def test_an_end_that_nobody_is_asked_about_begins_with_term(state: RunState) -> None:
    assert signals(Ending(state, NOW)) == [(0, SIGTERM), (2, SIGKILL)]


def test_the_state_is_what_the_run_comes_to() -> None:
    assert Ending(RunState.TIMEOUT, NOW).state is RunState.TIMEOUT


def test_nothing_is_sent_before_its_time_or_twice() -> None:
    ending = Ending(RunState.STOPPED, NOW)
    assert ending.take(NOW) == SIGINT
    assert ending.take(NOW) is None
    assert ending.take(NOW + 4.999) is None
    assert ending.take(NOW + 5) == SIGTERM


def test_an_owner_that_comes_late_sends_the_last_signal_that_is_due_only() -> None:
    ending = Ending(RunState.STOPPED, NOW)
    assert ending.take(NOW + 6) == SIGTERM
    assert ending.due == NOW + 7
    late = Ending(RunState.STOPPED, NOW)
    assert late.take(NOW + 60) == SIGKILL
    assert late.due is None


@pytest.mark.parametrize("state", [RunState.STOPPED, RunState.TIMEOUT])
def test_asked_again_it_kills_at_once_and_sends_nothing_after(state: RunState) -> None:
    ending = Ending(state, NOW)
    ending.take(NOW)
    ending.hurry(NOW + 1)
    assert signals(ending) == [(1, SIGKILL)]


def test_asked_again_before_the_first_signal_was_sent_it_sends_none_but_kill() -> None:
    ending = Ending(RunState.STOPPED, NOW)
    ending.hurry(NOW)
    assert signals(ending) == [(0, SIGKILL)]


def test_asked_again_after_kill_it_kills_again() -> None:
    ending = Ending(RunState.TIMEOUT, NOW)
    assert ending.take(NOW + 2) == SIGKILL
    ending.hurry(NOW + 3)
    assert signals(ending) == [(3, SIGKILL)]


@pytest.mark.parametrize(("state", "last"), [(RunState.STOPPED, 7), (RunState.TIMEOUT, 2)])
def test_the_time_since_the_last_signal_counts_from_when_it_was_due(state: RunState, last: float) -> None:
    ending = Ending(state, NOW)
    assert ending.exhausted_since(NOW) == -last
    assert ending.exhausted_since(NOW + last + 3) == 3
    ending.hurry(NOW + 1)
    assert ending.exhausted_since(NOW + 3) == 2
