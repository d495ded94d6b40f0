"""A command that runs, whoever started it: what its owner can know of it and do to it."""

from __future__ import annotations

from signal import Signals
from typing import Protocol

#: Seconds between two looks at a command that must exit soon.
LOOK_INTERVAL = 0.02


class ChildLostError(Exception):
    """Whether the command ran, and how it ended, is not known: whoever watched over it died."""


class Child(Protocol):
    """The leader of the run, and what it starts: its tree, or what can be reached of it.

    `signal` and `has_exited` may be called from any thread, at any time; the rest by one.
    """

    #: The leader.
    pid: int
    #: Whoever watched over the command died: why, in one line. Else "".
    lost: str
    #: True if the exit status will never be known, after `reap`.
    status_lost: bool
    #: Seconds of the processor that the tree took, user and system, as far as it was waited for.
    cpu_time: float | None
    #: Bytes of memory of the whole tree at its peak, as far as it was sampled; None for a run that was too short.
    peak_memory: int | None

    @property
    def exit_fd(self) -> int | None:
        """Readable when there is something to `hear`; None where nothing tells: ask `has_exited` now and then."""

    def hear(self) -> None:
        """Take in the news that `exit_fd` tells of."""

    def has_exited(self) -> bool:
        """True once the leader has exited."""

    def signal(self, number: Signals) -> None:
        """Send a signal to the tree, to each process once; to nobody after `reap`."""

    def has_members(self) -> bool:
        """Asked when the leader has exited: True while anybody else of the tree is left."""

    def drain(self, fd: int) -> bool:
        """Have somebody else read a pipe to its end, and throw away what comes; False if there is nobody."""

    def reap(self, patience: float = 0.0) -> int | None:
        """Give the command up. Returns its exit code, -n if signal n ended it.

        None if it has not exited within `patience` seconds, or with `status_lost`.
        """
