"""How a run is shown that no cell waits for: a panel wherever it is asked for, as long as it runs and after.

It is shown from cells, on their thread; its updates and its end come on the run's own, while other cells run. So the
end is published by display id alone, and through the publisher of the cell that showed it: a cell that captures its
output meanwhile has put its own in that place.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any

from boundcap_jupyter.core.limits import Retain
from boundcap_jupyter.core.update import Replace, Update, apply_update
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.show.display import (
    find_place,
    live_bundle,
    not_over,
    publisher,
    result_of,
    running_cell,
)
from boundcap_jupyter.show.finished import FINISHED, Execution
from boundcap_jupyter.show.pager import PageSource
from boundcap_jupyter.show.static import Outcome, static_bundle
from boundcap_jupyter.show.wire import StreamName

if TYPE_CHECKING:
    from boundcap_jupyter.show.widget import BoundedOutput


@dataclass(frozen=True, slots=True)
class _Shown:
    """One output of one cell, which can be replaced from any thread."""

    publisher: Any
    display_id: str

    def publish(self, bundle: Mapping[str, Any], *, update: bool) -> None:
        self.publisher.publish(bundle, {}, transient={"display_id": self.display_id}, update=update)


class BackgroundDisplay:
    """A Display that stays out of sight until it is shown, and can be shown any number of times.

    Holds the latest views until there is a panel, which costs a fold of each update; nothing is sent before.
    """

    def __init__(self, command: str, retain: Retain = "tail") -> None:
        self._command = command
        self._retain = retain
        self._stop: Callable[[], None] = lambda: None
        self._started = time.monotonic()
        # What is displayed or observed may call back.
        self._lock = RLock()
        self._views: dict[StreamName, OutputView] = {}
        self._sources: Mapping[str, PageSource] = {}
        self._widget: BoundedOutput | None = None
        self._shown: list[_Shown] = []
        self._shown_in: set[Execution] = set()
        self._outcome: Outcome | None = None

    def opened(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._started = time.monotonic()

    def __call__(self, update: Update, /) -> None:
        if (widget := self._keep("output", update)) is not None:
            widget(update)

    def take_stderr(self, update: Update, /) -> None:
        if (widget := self._keep("stderr", update)) is not None:
            widget.take_stderr(update)

    def _keep(self, stream: StreamName, update: Update) -> BoundedOutput | None:
        """The panel that takes the update, if there is one, and else it is kept here."""
        with self._lock:
            if self._widget is None:
                view = update.output if isinstance(update, Replace) else apply_update(self._views[stream], update)
                self._views[stream] = view
            return self._widget

    def read_from(self, sources: Mapping[str, PageSource]) -> None:
        with self._lock:
            self._sources = sources
            if self._widget is not None:
                self._widget.read_from(sources)

    def stopping(self) -> None:
        """Whoever stops a job does it by its handle or its panel."""
        with self._lock:
            if self._widget is not None:
                self._widget.stopping()

    def closed(self, outcome: Outcome) -> None:
        """Put the result where the run was shown, from any thread."""
        with self._lock:
            if self._outcome is not None:
                return
            self._outcome = outcome
            if self._widget is not None:
                self._widget.finish(outcome.status, result_of(outcome, self._retain, self._widget.token))
            if self._shown:
                bundle = self._result(outcome)
                for shown in self._shown:
                    shown.publish(bundle, update=True)
                self._shown.clear()
            self._views.clear()
            if self._widget is not None:
                FINISHED.add(self._widget, self._shown_in)

    def show(self) -> bool:
        """Show the run in the cell that runs: its panel, or what it came to. False where there is only a line of text.

        Raises BundleMissingError where the panel has not been built, and RuntimeError on a thread that runs no cell.
        """
        place = find_place()
        with self._lock:
            if self._outcome is not None:
                if place == "terminal":
                    return False
                # First: it may be the only cell that shows the panel, and run again.
                FINISHED.runs(running_cell(), self._widget)
                publisher().publish(self._result(self._outcome), {})
                return True
            if place in ("terminal", "captured"):
                return False
            bundle = {"text/plain": not_over(self._command)}
            if place == "page":
                execution = running_cell()
                FINISHED.runs(execution)
                self._shown_in.add(execution)
                bundle = live_bundle(self._panel().model_id, self._command)
            shown = _Shown(publisher(), uuid.uuid4().hex)
            shown.publish(bundle, update=False)
            self._shown.append(shown)
            return True

    def _result(self, outcome: Outcome) -> dict[str, str]:
        has_panel = self._widget is not None and self._widget.comm is not None
        return static_bundle(outcome, self._retain, self._widget.token if self._widget and has_panel else "")

    def _panel(self) -> BoundedOutput:
        if self._widget is None:
            from boundcap_jupyter.show.widget import BoundedOutput

            widget = BoundedOutput(self._command, retain=self._retain, started=self._started)
            widget.on_stop(self._stop)
            widget.read_from(self._sources)
            for stream, view in self._views.items():
                take = widget if stream == "output" else widget.take_stderr
                take(Replace(view))
            self._views.clear()
            self._widget = widget
        return self._widget
