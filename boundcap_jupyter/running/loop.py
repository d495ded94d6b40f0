"""The reading thread's loop: one command, its pipes, the clock, and whoever asks it to stop.

It is over when

- the pipe is at its end and the command has exited, the usual case; or
- the command has exited and a descendant still holds the pipe half a second later: then what is in the pipe at that
  moment is read, and what comes later is drained and thrown away, since a closed pipe would kill the descendant. Or, if
  that is wanted, what the command left running is ended first, as a timeout would.

When we end the command, it is not over before its tree is gone, or has outlived the last signal for so long that
waiting does not help.
"""

from __future__ import annotations

import array
import contextlib
import errno
import fcntl
import math
import os
import select
import termios
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.running.child import LOOK_INTERVAL
from boundcap_jupyter.running.ending import Ending
from boundcap_jupyter.running.environment import OnHeld
from boundcap_jupyter.running.holders import count_holders
from boundcap_jupyter.running.process import Process
from boundcap_jupyter.running.pump import RunError
from boundcap_jupyter.running.terminal import HELD_BYTES

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
        #: The command was killed for a second request, before the loop came to hear of it.
        self.insisted = False

    def open(self) -> None:
        """Raises OSError if the process has no file descriptors left."""
        with self._lock:
            self.fd, self._write_end = os.pipe()
            os.set_blocking(self._write_end, False)
            if self._count:
                self._wake()

    def request(self) -> int:
        """One more; returns how many there were."""
        with self._lock:
            self._count += 1
            self._wake()
            return self._count

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


class Stream(Protocol):
    """Whoever takes what comes from a pipe; a Pump is one. `feed` and `publish` raise RunError for what broke."""

    @property
    def due(self) -> float | None: ...

    def feed(self, data: bytes) -> None: ...

    def publish(self, now: float) -> None: ...


class Loop:
    """Runs once, in one thread, and disposes of the pipes whatever happens. The caller reaps the command.

    `streams` says who gets what comes from which pipe. `deadline` is a time, `idle_timeout` the seconds for which the
    command may print nothing. `ending` is our decision to end the command, `failure` the first thing that broke,
    `pipe_held` the number of processes that still held a pipe at the end.
    """

    def __init__(
        self,
        process: Process,
        streams: Mapping[int, Stream],
        stops: StopRequests,
        deadline: float | None,
        idle_timeout: float | None = None,
        on_held: OnHeld = "leave",
    ) -> None:
        self._process = process
        self._streams = streams
        self._stops = stops
        self._deadline = deadline
        self._idle_timeout = idle_timeout
        self._on_held = on_held
        self._poll = select.poll()
        #: What tells of the process, as long as it is watched.
        self._exit_fd: int | None = None
        #: Pipes that are not at their end.
        self._open = set(streams)
        #: Pipes that a draining thread has to close.
        self._handed_over: set[int] = set()
        self._quiet_since = time.monotonic()
        #: When the command had exited, and its tree was gone if it had to go.
        self._over_since: float | None = None
        self._exited = False
        self._next_look = float("-inf")
        self._stopped = 0
        self.ending: Ending | None = None
        #: The end of what a command that came to its own end left behind.
        self._clearing: Ending | None = None
        self.failure: RunError | None = None
        self.pipe_held = 0

    def run(self) -> None:
        try:
            now = self._turn()
            if self._open:
                self.pipe_held = count_holders(self._open)
            for fd in sorted(self._open):
                self._let_go(fd, now)
        finally:
            for fd in self._streams.keys() - self._handed_over:
                os.close(fd)

    def _turn(self) -> float:
        """Turn until it is over; returns the time."""
        process = self._process
        for fd in self._streams:
            self._poll.register(fd, select.POLLIN)
        self._poll.register(self._stops.fd, select.POLLIN)
        self._exit_fd = process.exit_fd
        if self._exit_fd is not None:
            self._poll.register(self._exit_fd, select.POLLIN)
        now = time.monotonic()
        while not self._is_over(now):
            ready = {fd for fd, _ in self._poll.poll(self._patience(now))}
            now = time.monotonic()
            # Before anything that would end it: a command that came to its own end was not ended by us.
            self._look(ready, now)
            if self._stops.fd in ready:
                self._obey(now)
            for fd in self._open & ready:
                self._read(fd, READ_BYTES, now)
            self._keep_time(now)
            for stream in self._streams.values():
                self._try(partial(stream.publish, now), now)
        return now

    # --- what happened

    def _read(self, fd: int, limit: int, now: float) -> int:
        data = _read_or_end(fd, limit)
        if data:
            self._quiet_since = now
            self._try(partial(self._streams[fd].feed, data), now)
        else:
            self._open.discard(fd)
            self._poll.unregister(fd)
        return len(data)

    def _obey(self, now: float) -> None:
        requests = self._stops.take()
        if self._clearing is not None:
            self._clearing.hurry(now)
        if self._exited and self.ending is None and not self._stops.insisted:
            return
        for _ in range(requests - self._stopped):
            if self.ending is None:
                self.ending = Ending(RunState.STOPPED, now)
            else:
                self.ending.hurry(now)
        self._stopped = requests

    def _look(self, ready: set[int], now: float) -> None:
        process = self._process
        if not self._exited and (self._exit_fd is None or self._exit_fd in ready):
            self._try(self._hear, now)
            self._exited = process.has_exited()
            if self._exit_fd is not None and (self._exited or process.exit_fd is None):
                self._poll.unregister(self._exit_fd)
                self._exit_fd = None
        if self._over_since is None and self._has_ended(now):
            self._over_since = now

    def _hear(self) -> None:
        self._process.hear()
        if self._process.lost and self.failure is None:
            raise RunError(RunState.WORKER_LOST, self._process.lost)

    @property
    def _ladder(self) -> Ending | None:
        """The signals that are being sent."""
        return self.ending or self._clearing

    def _has_ended(self, now: float) -> bool:
        """True when the command has exited and, if we end it, its tree is gone; or when there is no hope of that."""
        if self._ladder is None:
            return self._exited
        if self._ladder.exhausted_since(now) > UNKILLABLE:
            return True
        if not self._exited or now < self._next_look:
            return False
        # Not at every turn: a flood makes thousands of them, and each look goes through all processes.
        self._next_look = now + LOOK_INTERVAL
        return not self._process.has_members()

    def _keep_time(self, now: float) -> None:
        if self.ending is None and not self._exited:
            for state, moment in ((RunState.TIMEOUT, self._deadline), (RunState.IDLE_TIMEOUT, self._quiet_until)):
                if moment is not None and now >= moment:
                    self.ending = Ending(state, now)
                    break
        if self._on_held == "kill" and self._is_held(now) and self._ladder is None:
            self._clearing = Ending(RunState.EXITED, now)
            # Over when they are gone.
            self._over_since = None
        if self._ladder is not None and (number := self._ladder.take(now)) is not None:
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

    @property
    def _quiet_until(self) -> float | None:
        return None if self._idle_timeout is None else self._quiet_since + self._idle_timeout

    def _is_over(self, now: float) -> bool:
        return self._over_since is not None and (not self._open or self._is_held(now))

    def _is_held(self, now: float) -> bool:
        """True if the pipe has not come to its end for so long that somebody else must hold it."""
        return self._over_since is not None and bool(self._open) and now >= self._over_since + HELD_GRACE

    def _patience(self, now: float) -> int | None:
        """Milliseconds until there is something to do that no file descriptor tells; None for ever."""
        times = [stream.due for stream in self._streams.values()]
        if self._over_since is not None:
            times.append(self._over_since + HELD_GRACE)
        elif self._exited or self._exit_fd is None:
            times.append(now + LOOK_INTERVAL)
        if not self._exited and self.ending is None:
            times += (self._deadline, self._quiet_until)
        if self._ladder is not None:
            times.append(self._ladder.due or now + LOOK_INTERVAL)
        next_time = min((moment for moment in times if moment is not None), default=None)
        if next_time is None:
            return None
        # Rounded up, so that the moment has come when we wake.
        return math.ceil(min(next_time - now, MAX_PATIENCE) * 1000) if next_time > now else 0

    # --- the pipe that others hold

    def _let_go(self, fd: int, now: float) -> None:
        """Read what is in the pipe at this moment, and leave what comes later to whoever throws it away."""
        rest = _waiting(fd)
        while rest > 0 and fd in self._open and _is_readable(fd):
            rest -= self._read(fd, min(rest, READ_BYTES), now)
        if fd in self._open and not self._process.drain(fd):
            threading.Thread(target=_drain, args=(fd,), name="boundcap-drain", daemon=True).start()
            self._handed_over.add(fd)


def _waiting(fd: int) -> int:
    """Bytes that can be read without waiting; of a terminal, which does not tell, the most that it may hold."""
    if os.isatty(fd):
        return HELD_BYTES
    number = array.array("i", [0])
    fcntl.ioctl(fd, termios.FIONREAD, number)
    return number[0]


def _is_readable(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(0))


def _read_or_end(fd: int, limit: int) -> bytes:
    """What `os.read` returns, and nothing at the end of a terminal too, where Linux raises EIO instead (pty(7))."""
    try:
        return os.read(fd, limit)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return b""


def _drain(fd: int) -> None:
    try:
        while _read_or_end(fd, READ_BYTES):
            pass
    finally:
        os.close(fd)
