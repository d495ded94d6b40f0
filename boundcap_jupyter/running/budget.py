"""The process-wide budget of updates: what all runs of a kernel may send together.

The Jupyter server drops messages above 1,000 a second, the last one of a run included, so many runs at once must not
add up to that. Whoever wants to publish takes a place in one line; every run has at most one place, so runs that all
have something to say take turns. A place is a time; until it comes the run goes on holding only its latest state.

The work of making updates counts too: it holds up the threads that read, so that many floods at once would be slowed
down by what is shown of them, and being slower would be shown more often.

Told the time, never reads a clock. Thread-safe: each run asks from its own thread.
"""

from __future__ import annotations

import threading

#: Messages a second: far below the server's limit, and enough for 15 runs at their full rate.
MESSAGES = 150
#: Bytes of encoded updates a second: ten runs at their full rate.
BYTES = 1024 * 1024
#: Seconds of processor time a second for making updates: a quarter of what one thread of Python has.
WORK = 0.25
#: Seconds of unused budget that may be spent at once: what came while nobody else had anything to say need not wait.
SLACK = 0.1


class Budget:
    """Gives out places in the line. Costs a lock and a few additions."""

    def __init__(self, messages: float = MESSAGES, bytes_: float = BYTES, work: float = WORK) -> None:
        self._message_cost = 1 / messages
        self._byte_cost = 1 / bytes_
        self._work_cost = 1 / work
        self._lock = threading.Lock()
        self._next = float("-inf")

    def take_place(self, now: float) -> float:
        """When the caller may publish: at once if the time is not after `now`."""
        with self._lock:
            place = max(self._next, now - SLACK)
            self._next = place + self._message_cost
            return place

    def charge(self, size: int, work: float = 0.0) -> None:
        """What was published had `size` bytes and took `work` seconds to make: as far as that is more than a place."""
        with self._lock:
            self._next += max(0.0, max(size * self._byte_cost, work * self._work_cost) - self._message_cost)


#: The budget of this process.
BUDGET = Budget()
