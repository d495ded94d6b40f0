"""Whoever takes updates."""

from __future__ import annotations

from typing import Protocol

from boundcap_jupyter.core.update import Update


class Sink(Protocol):
    """Takes the updates of one run in order, each once, from the thread that reads the run's output.

    A sink that raises ends its command, and the run fails with `callback_error`. One that blocks holds the run up: the
    command waits when the pipe is full, and the run is not over before the sink returns.
    """

    def __call__(self, update: Update, /) -> None: ...
