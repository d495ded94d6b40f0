"""Wait for a run in asyncio: the event loop goes on while the command runs."""

from __future__ import annotations

import asyncio
import contextlib

from boundcap_jupyter.running.local import LocalRun


async def ended(run: LocalRun) -> asyncio.CancelledError | None:
    """Wait for the end of a run; a cancellation is passed on to it, and returned when it is over."""
    loop = asyncio.get_running_loop()
    over = asyncio.Event()

    def wake() -> None:
        # A loop that was closed under its task has nobody left to wake.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(over.set)

    run.add_done_callback(wake)
    cancelled: asyncio.CancelledError | None = None
    while not over.is_set():
        try:
            await over.wait()
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
            run.stop()
    return cancelled
