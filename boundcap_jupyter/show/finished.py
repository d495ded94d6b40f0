"""Panels of runs that are over: the newest stay open, so that their buttons work in a page that shows them.

An open one costs the kernel its texts and a comm. It costs each page that opens the notebook more: JupyterLab asks for
the whole state of every widget of the kernel, the code and the text of each panel. Where one is closed, a page shows
the static result that it has under the panel, and Download and Show more are gone.

A page may have missed the end, and then shows the widget itself, in whose place it puts the result when it is opened
again (js/src/dom/lasting.ts). Until it has said that it did, a panel may be needed, and more of those are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import NamedTuple, Protocol

#: Panels whose result a page has in its notebook: more than a person goes back to. One with a full view is 110 kB that
#: a page gets when it is opened, and 0.4 MB of its memory; in the kernel it is 130 kB.
KEPT = 64
#: Bytes of text of those: `KEPT` full views of ASCII, twice over.
KEPT_BYTES = 8 * 1024 * 1024
#: Panels that no page has spoken of: one that was closed over night finds the results of as many runs.
WAITING = 256
WAITING_BYTES = 32 * 1024 * 1024


class Execution(NamedTuple):
    """One execution of one cell, as the page names it."""

    cell: str
    request: str


#: What a page does not name; no other is the same cell.
NOWHERE = Execution("", "")


class Panel(Protocol):
    """What is used of a BoundedOutput."""

    #: A page has the static result in its notebook.
    placed: bool
    #: When a page last asked something of it, by a monotonic clock.
    used: float

    def held_bytes(self) -> int:
        """Bytes of the texts that it holds."""
        ...

    def retire(self) -> None:
        """Close it and let go of all that it holds."""
        ...


class FinishedPanels:
    """Knows them, and closes those that are too many or shown nowhere any more. Any thread may tell it of a panel.

    What is shown in a cell is gone when the cell runs again. Closing one costs a message to the pages.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._shown_in: dict[Panel, set[Execution]] = {}

    def add(self, panel: Panel, shown_in: Iterable[Execution]) -> None:
        """The run of a panel is over. It stays open, and others may be closed for it."""
        with self._lock:
            self._shown_in[panel] = set(shown_in)
            panels = sorted(self._shown_in, key=lambda panel: panel.used, reverse=True)
            closing = [
                *_beyond([panel for panel in panels if panel.placed], KEPT, KEPT_BYTES),
                *_beyond([panel for panel in panels if not panel.placed], WAITING, WAITING_BYTES),
            ]
        self._retire(closing)

    def runs(self, execution: Execution, showing: Panel | None = None) -> None:
        """A cell runs, and shows `showing`, if that is one of them."""
        with self._lock:
            if showing in self._shown_in:
                self._shown_in[showing].add(execution)
            closing = []
            for panel, shown_in in self._shown_in.items():
                left = {other for other in shown_in if other.cell != execution.cell or other == execution}
                if shown_in and not left:
                    closing.append(panel)
                self._shown_in[panel] = left
        self._retire(closing)

    def _retire(self, panels: list[Panel]) -> None:
        for panel in panels:
            with self._lock:
                known = self._shown_in.pop(panel, None) is not None
            if known:
                panel.retire()


FINISHED = FinishedPanels()


def _beyond(panels: list[Panel], count: int, size: int) -> list[Panel]:
    """Those behind the first `count`, or behind the first that take `size` bytes; the first of all never."""
    total = 0
    for index, panel in enumerate(panels):
        total += panel.held_bytes()
        if index >= count or (total > size and index > 0):
            return panels[index:]
    return []
