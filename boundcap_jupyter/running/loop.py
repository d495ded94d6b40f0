"""The reading thread's loop: one command, its pipe, the clock, and whoever asks it to stop.

It is over when

- the pipe is at its end and the command has exited, the usual case; or
- the command has exited and a descendant still holds the pipe half a second later: then what is in the pipe at that
  moment is read, and what comes later is drained and thrown away, since a closed pipe would kill the descendant.

When we end the command, it is not over before its process group is gone, or has outlived the last signal for so long
that waiting does not help.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import math
import os
import select
import termios
import threading
import time
from collections.abc import Callable
from functools import partial

from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.running.ending import Ending
from boundcap_jupyter.running.process import LOOK_INTERVAL, Process
from boundcap_jupyter.running.pump import Pump, RunError

#: Bytes read at a time.
READ_BYTES = 256 * 1024
#: Seconds that output may still come after the command has exited while a descendant holds the pipe (Go's WaitDelay).
HELD_GRACE = 0.5
#: Seconds after the last signal. What survives SIGKILL for so long hangs in the kernel, or is another user's (sudo).
UNKILLABLE = 5.0
#: Seconds. The longest sleep without a look at the clock; poll(2) could not take more than 24 days.
MAX_PATIENCE = 3600.0


class StopRequests:
    """Counts requests to stop and wakes the loop between `open` and `close`.

    `request` may be called from any thread and any signal handler, at any time. `fd` is readable when there is news.
    """

    def __init__(self) -> None:
        self.fd = -1
        self._write_end: int | None = None
        self._lock = threading.RLock()
        self._count = 0

    def open(self) -> None:
        """Raises OSError if the process has no file descriptors left."""
        with self._lock:
            self.fd, self._write_end = os.pipe()
            os.set_blocking(self._write_end, False)
            if self._count:
                self._wake()

    def request(self) -> None:
        with self._lock:
            self._count += 1
            self._wake()

    def _wake(self) -> None:
        if self._write_end is not None:
            # A pipe that is full wakes the loop as well as one more byte would.
            with contextlib.suppress(BlockingIOError):
                os.write(self._write_end, b"s")

    def take(self) -> int:
        """Requests so far; the loop is not woken for them again."""
        with self._lock:
            os.read(self.fd, 4096)
            return self._count

    def close(self) -> None:
        with self._lock:
            if self._write_end is not None:
                os.close(self._write_end)
                os.close(self.fd)
                self._write_end = None


class Loop:
    """Runs once, in one thread, and disposes of the pipe whatever happens. The caller reaps the command.

    `ending` is our decision to end the command, `failure` the first thing that broke.
    """

    def __init__(self, process: Process, pump: Pump, stops: StopRequests, deadline: float | None) -> None:
        self._process = process
        self._pump = pump
        self._stops = stops
        self._deadline = deadline
        self._poll = select.poll()
        self._at_end = False
        #: When the command had exited, and its group was gone if it had to go.
        self._over_since: float | None = None
        self._exited = False
        self._next_look = float("-inf")
        self._stopped = 0
        self.ending: Ending | None = None
        self.failure: RunError | None = None

    def run(self) -> None:
        handed_over = False
        try:
            now = self._turn()
            if not self._at_end:
                handed_over = self._let_go(now)
        finally:
            if not handed_over:
                os.close(self._process.output)

    def _turn(self) -> float:
        """Turn until it is over; returns the time."""
        process = self._process
        self._poll.register(process.output, select.POLLIN)
        self._poll.register(self._stops.fd, select.POLLIN)
        if process.exit_fd is not None:
            self._poll.register(process.exit_fd, select.POLLIN)
        now = time.monotonic()
        while not self._is_over(now):
            ready = {fd for fd, _ in self._poll.poll(self._patience(now))}
            now = time.monotonic()
            # Before anything that would end it: a command that came to its own end was not ended by us.
            self._look(ready, now)
            if self._stops.fd in ready:
                self._obey(now)
            if process.output in ready:
                self._read(READ_BYTES, now)
            self._keep_time(now)
            self._try(partial(self._pump.publish, now), now)
        return now

    # --- what happened

    def _read(self, limit: int, now: float) -> int:
        data = os.read(self._process.output, limit)
        if data:
            self._try(partial(self._pump.feed, data), now)
        else:
            self._at_end = True
            self._poll.unregister(self._process.output)
        return len(data)

    def _obey(self, now: float) -> None:
        requests = self._stops.take()
        if self._exited and self.ending is None:
            return
        for _ in range(requests - self._stopped):
            if self.ending is None:
                self.ending = Ending(RunState.STOPPED, now)
            else:
                self.ending.hurry(now)
        self._stopped = requests

    def _look(self, ready: set[int], now: float) -> None:
        process = self._process
        if not self._exited:
            if process.exit_fd is None:
                self._exited = process.has_exited()
            elif process.exit_fd in ready:
                self._exited = True
                self._poll.unregister(process.exit_fd)
        if self._over_since is None and self._has_ended(now):
            self._over_since = now

    def _has_ended(self, now: float) -> bool:
        """True when the command has exited and, if we end it, its group is gone; or when there is no hope of that."""
        if self.ending is None:
            return self._exited
        if self.ending.exhausted_since(now) > UNKILLABLE:
            return True
        if not self._exited or now < self._next_look:
            return False
        # Not at every turn: a flood makes thousands of them, and each look goes through all processes.
        self._next_look = now + LOOK_INTERVAL
        return not self._process.has_members()

    def _keep_time(self, now: float) -> None:
        if self.ending is None and not self._exited and self._deadline is not None and now >= self._deadline:
            self.ending = Ending(RunState.TIMEOUT, now)
        if self.ending is not None and (number := self.ending.take(now)) is not None:
            self._process.signal(number)

    def _try(self, step: Callable[[], None], now: float) -> None:
        """Do a step of the run; if it fails, the command is ended."""
        try:
            step()
        except RunError as failure:
            self.failure = self.failure or failure
            if self.ending is None and not self._exited:
                self.ending = Ending(failure.state, now)

    # --- what is next

    def _is_over(self, now: float) -> bool:
        if self._over_since is None:
            return False
        return self._at_end or now >= self._over_since + HELD_GRACE

    def _patience(self, now: float) -> int | None:
        """Milliseconds until there is something to do that no file descriptor tells; None for ever."""
        times = [self._pump.due]
        if self._over_since is not None:
            times.append(self._over_since + HELD_GRACE)
        elif self._exited or self._process.exit_fd is None:
            times.append(now + LOOK_INTERVAL)
        if not self._exited:
            times.append(self._deadline if self.ending is None else None)
        if self.ending is not None:
            times.append(self.ending.due or now + LOOK_INTERVAL)
        next_time = min((moment for moment in times if moment is not None), default=None)
        if next_time is None:
            return None
        # Rounded up, so that the moment has come when we wake.
        return math.ceil(min(next_time - now, MAX_PATIENCE) * 1000) if next_time > now else 0

    # --- the pipe that others hold

    def _let_go(self, now: float) -> bool:
        """Read what is in the pipe at this moment, and leave what comes later to a thread that throws it away.

        True if the pipe is that thread's now.
        """
        output = self._process.output
        rest = _waiting(output)
        while rest > 0 and not self._at_end:
            rest -= self._read(min(rest, READ_BYTES), now)
        if self._at_end:
            return False
        threading.Thread(target=_drain, args=(output,), name="boundcap-drain", daemon=True).start()
        return True


def _waiting(fd: int) -> int:
    """Bytes that can be read without waiting."""
    number = array.array("i", [0])
    fcntl.ioctl(fd, termios.FIONREAD, number)
    return number[0]


def _drain(fd: int) -> None:
    try:
        while os.read(fd, READ_BYTES):
            pass
    finally:
        os.close(fd)
