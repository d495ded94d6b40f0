"""Whoever takes updates."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from boundcap_jupyter.core.update import Update


class Sink(Protocol):
    """Takes the updates of one run in order, each once, from the thread that reads the run's output.

    A sink that raises ends its command, and the run fails with `callback_error`. One that blocks holds the run up: the
    command waits when the pipe is full, and the run is not over before the sink returns.
    """

    def __call__(self, update: Update, /) -> None: ...


@runtime_checkable
class WeighedSink(Sink, Protocol):
    """A sink that passes more on than it is given: pace and budget go by what it says of its last update."""

    @property
    def last_bytes(self) -> int:
        """Bytes that the last update took on its way, the update itself included."""
        ...
