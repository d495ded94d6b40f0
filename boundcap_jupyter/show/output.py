"""The updates of a run in a stock `ipywidgets.Output`, for layouts and hosts that have nothing but that."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import Retain
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.update import Replace, Update, apply_update
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.show.static import static_text
from boundcap_jupyter.show.terminal.display import coloured
from boundcap_jupyter.show.wire import StreamName

#: A link, which Jupyter would show as the control sequence that it is; it makes links of addresses in the text itself.
_LINK = re.compile(r"\x1b\]8;[^\x1b\n]*\x1b\\")


class OutputWidget(Protocol):
    """What is used of an `ipywidgets.Output`."""

    outputs: Any


@dataclass(frozen=True, slots=True)
class _Moment:
    """An Outcome of a run that may still go on."""

    status: RunStatus
    view: OutputView
    stderr_view: OutputView | None


class OutputSink:
    """A sink that shows a run in an `ipywidgets.Output`, in place of what was in it: the text and one status line.

        out = ipywidgets.Output()
        run("make", on_update=OutputSink(out))

    retain  the end of the stream that the view keeps, for the words beside it

    The text is `text/plain` with its colours as SGR sequences, which Jupyter renders, while the command runs and after.
    `take_stderr` is for the updates of a standard error that is kept apart: `run(…, stderr="separate",
    on_update=sink, on_stderr=sink.take_stderr)`.

    Each update is one assignment of `outputs`, and sends the whole view, where a BoundedOutput sends what is new. For
    that there are fewer of them: `last_bytes`, what the last one took, counts for the pace of the run and for the
    budget of all. A sink shows one run; the next one may have the same widget.
    """

    def __init__(self, output: OutputWidget, *, retain: Retain = "tail") -> None:
        self._output = output
        self._retain = retain
        self._lock = Lock()
        self._views: dict[StreamName, OutputView] = {}
        self._started = time.monotonic()
        self._final: RunStatus | None = None
        #: Bytes of the last assignment.
        self.last_bytes = 0

    def __call__(self, update: Update, /) -> None:
        """Fold one update and show the view. Updates before the first replace are passed over."""
        self._take("output", update)

    def take_stderr(self, update: Update, /) -> None:
        """As a call, for the standard error where it is kept apart."""
        self._take("stderr", update)

    def finish(self, status: RunStatus) -> None:
        """Show what the run came to, once."""
        with self._lock:
            if self._final is None:
                self._final = status
                self._show(status)

    def _take(self, stream: StreamName, update: Update) -> None:
        with self._lock:
            view = self._views.get(stream)
            if isinstance(update, Replace):
                self._views[stream] = update.output
            elif view is not None:
                self._views[stream] = apply_update(view, update)
            else:
                return
            running = RunStatus(RunState.RUNNING, duration=time.monotonic() - self._started)
            self._show(self._final or running)

    def _show(self, status: RunStatus) -> None:
        # A run that never started has no view.
        view = self._views.get("output") or OutputCapture().view()
        text = static_text(_Moment(status, view, self._views.get("stderr")), self._retain, _jupyter_text)
        shown = {"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}}
        self.last_bytes = len(json.dumps(shown, ensure_ascii=False).encode())
        self._output.outputs = (shown,)


def _jupyter_text(view: OutputView) -> str:
    return _LINK.sub("", coloured(view))
