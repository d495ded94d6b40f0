"""What is used of the ipykernel that runs this. None of it is documented, and all of it may be missing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def control_handlers() -> dict[str, Callable[..., Any]] | None:
    """What this kernel calls for the messages of its control channel, by their type; None where there is no such thing.

    They are called on a thread of their own with the stream, the identities and the message.
    """
    kernel = _kernel()
    handlers = getattr(kernel, "control_handlers", None)
    return handlers if getattr(kernel, "control_thread", None) and isinstance(handlers, dict) else None


def main_loop() -> Any:
    """The event loop of this kernel's main thread, of tornado; None if there is none.

    It stands still while a cell runs, unless that awaits something.
    """
    return getattr(_kernel(), "io_loop", None)


def _kernel() -> Any:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None)
