"""How a run is ended by us: which signal when, told the time."""

from __future__ import annotations

from collections.abc import Sequence
from signal import SIGINT, SIGKILL, SIGTERM, Signals

from boundcap_jupyter.core.status import RunState

#: Seconds after the decision, and the signal. Stop asks first as Ctrl-C would, so that a training saves its state.
STOP_LADDER: Sequence[tuple[float, Signals]] = ((0.0, SIGINT), (5.0, SIGTERM), (7.0, SIGKILL))
#: Nobody is there to be asked: a timeout or a failure says so once, then ends it.
END_LADDER: Sequence[tuple[float, Signals]] = ((0.0, SIGTERM), (2.0, SIGKILL))


class Ending:
    """The decision to end a run, and the steps of it that are still to come. `state` is what the run comes to."""

    def __init__(self, state: RunState, now: float) -> None:
        self.state = state
        ladder = STOP_LADDER if state is RunState.STOPPED else END_LADDER
        self._steps = [(now + after, number) for after, number in ladder]
        self._last = self._steps[-1][0]

    @property
    def due(self) -> float | None:
        """When the next signal is to be sent, None after the last."""
        return self._steps[0][0] if self._steps else None

    def exhausted_since(self, now: float) -> float:
        """Seconds since the last signal was due, negative before."""
        return now - self._last

    def hurry(self, now: float) -> None:
        """Asked a second time: no more waiting."""
        self._steps = [(now, SIGKILL)]
        self._last = now

    def take(self, now: float) -> Signals | None:
        """The signal to send now, if one is due. The steps that it makes pointless are gone with it."""
        number = None
        while self._steps and self._steps[0][0] <= now:
            number = self._steps.pop(0)[1]
        return number
