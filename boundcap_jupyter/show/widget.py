"""The live panel of a run as a widget: takes updates in the kernel, shows them in the page.

Updates travel as numbered custom messages. The `snapshot` trait carries the folded view with the number of the last
update in it, and is read only when someone asks for the state: a page that is reloaded, or a panel that comes late,
starts from there, and updates up to that number are ignored (js/src/core/replica.ts). So nothing is sent twice while
a command runs, and nothing is missing after a reload.
"""

from __future__ import annotations

import logging
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any

import traitlets
from anywidget import AnyWidget

from boundcap_jupyter.core.limits import Retain
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.update import Replace, Update, apply_update
from boundcap_jupyter.core.view import OutputMetadata, OutputView
from boundcap_jupyter.show.bundle import read_bundle
from boundcap_jupyter.show.control import control_address
from boundcap_jupyter.show.latecomers import LATECOMERS
from boundcap_jupyter.show.pager import Pager, PageSource, RateLimit
from boundcap_jupyter.show.summary import display_path
from boundcap_jupyter.show.wire import (
    CURRENT,
    STOPPING,
    StreamName,
    asks_to_stop,
    checked,
    says_placed,
    snapshot_message,
    snapshot_to_wire,
    status_message,
    update_message,
)

_log = logging.getLogger(__name__)


class BoundedOutput(AnyWidget):
    """A sink that shows a run where a widget goes: in a cell, a VBox, a Tab.

    command     what is run, for the label of the panel
    foreground  the kernel's main thread waits for this run, so Stop may interrupt the kernel if nothing else helps
    retain      the end of the stream that the view keeps, for the words beside it
    started     when the run began, by `time.monotonic()`; now

    Calling it is for the updates of the output, `take_stderr` for those of a standard error that is kept apart; a
    second text appears with the first byte of it. One thread may call both, or two.

    `state`, `exit_code`, `signal`, `duration` (seconds), `total_bytes`, `total_lines` and `spill_path`, and the three
    for the standard error, tell of the run and can be observed. While it runs they change on the thread that reads its
    output: an observer that raises ends the run, as any sink does.

    Raises BundleMissingError where the panel has not been built. Creating one opens a comm and sends the panel's code,
    some tens of kilobytes; an update costs one fold of the view and one message.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)
    command = traitlets.Unicode().tag(sync=True)
    foreground = traitlets.Bool(False).tag(sync=True)
    retain = traitlets.Enum(["tail", "head", "both"], "tail").tag(sync=True)
    control_address = traitlets.Unicode().tag(sync=True)
    #: Marks the static result of this run, for a page to know it by (js/src/dom/results.ts). Random: what a stranger
    #: wrote into a notebook is the result of no run.
    token = traitlets.Unicode(read_only=True).tag(sync=True)
    snapshot = traitlets.Any(read_only=True).tag(sync=True, to_json=lambda _, widget: widget._snapshot())

    state = traitlets.Unicode(RunState.RUNNING, read_only=True)
    exit_code = traitlets.Int(None, allow_none=True, read_only=True)
    signal = traitlets.Unicode(None, allow_none=True, read_only=True)
    duration = traitlets.Float(0.0, read_only=True)
    total_bytes = traitlets.Int(0, read_only=True)
    total_lines = traitlets.Int(0, read_only=True)
    spill_path = traitlets.Unicode(None, allow_none=True, read_only=True)
    stderr_total_bytes = traitlets.Int(0, read_only=True)
    stderr_total_lines = traitlets.Int(0, read_only=True)
    stderr_spill_path = traitlets.Unicode(None, allow_none=True, read_only=True)

    def __init__(
        self,
        command: str = "",
        *,
        foreground: bool = False,
        retain: Retain = "tail",
        started: float | None = None,
    ) -> None:
        # Before the widget opens: its state, the snapshot in it, is read then.
        self._lock = Lock()
        self._views: dict[StreamName, OutputView] = {}
        self._seq = 0
        self._final: RunStatus | None = None
        self._started = time.monotonic() if started is None else started
        self._last_output = self._started
        self._stop_callbacks: list[Callable[[], None]] = []
        self._pager = Pager()
        #: Of its own: while a download takes all that there is of the pager's, checks are answered.
        self._checks = RateLimit()
        #: A page has the static result in its notebook, and needs nothing more to be right.
        self.placed = False
        #: When a page last asked for something, by `time.monotonic()`.
        self.used = self._started
        address = control_address(self._take_message)
        super().__init__(command=command, foreground=foreground, retain=retain, control_address=address)
        self.on_msg(self._receive)
        _hear_while_busy(self.comm)
        LATECOMERS.expect(self)

    @traitlets.default("token")
    def _make_token(self) -> str:
        return secrets.token_hex(8)

    @traitlets.default("_esm")
    def _read_module(self) -> str:
        return read_bundle("panel.js")

    @traitlets.default("_css")
    def _read_style(self) -> str:
        return read_bundle("panel.css")

    def __call__(self, update: Update, /) -> None:
        """Fold one update and send it to every panel.

        Updates before the first replace are passed over: a sink that joins late has nothing to fold them into. Raises
        ValueError for an update that belongs to another view.
        """
        self._take("output", update)

    def take_stderr(self, update: Update, /) -> None:
        """As a call, for the standard error where it is kept apart."""
        self._take("stderr", update)

    def _take(self, stream: StreamName, update: Update) -> None:
        with self._lock:
            before = self._views.get(stream)
            if before is None and not isinstance(update, Replace):
                return
            view = self._views[stream] = _fold(before, update)
            if view.metadata.truncation.total_bytes != (before.metadata.truncation.total_bytes if before else 0):
                self._last_output = time.monotonic()
            self._seq += 1
            # Sent under the lock: the numbers must leave in their order.
            self.send(update_message(self._seq, stream, _for_page(update)))
        truncation = view.metadata.truncation
        prefix = "stderr_" if stream == "stderr" else ""
        self.set_trait("duration", time.monotonic() - self._started)
        self.set_trait(f"{prefix}total_lines", truncation.total_lines)
        self.set_trait(f"{prefix}total_bytes", truncation.total_bytes)
        self.set_trait(f"{prefix}spill_path", view.metadata.spill_path)

    def finish(self, status: RunStatus, result: Callable[[], Mapping[str, str]] | None = None) -> None:
        """The run is over: tell the panels and the observers, once. Elapsed time stands still from here on.

        `result` makes the static result by mime type, where that takes the panel's place: a page that missed it, since
        it was reloaded or closed, asks for it. It is kept as long as the widget.
        """
        with self._lock:
            if self._final is not None:
                return
            self._final = status
            # They hold the whole run.
            self._stop_callbacks.clear()
            self.used = time.monotonic()
            if result is not None:
                self._pager.result = lambda: (self.model_id, result())
            self.send(status_message(status))
        self.set_trait("exit_code", status.exit_code)
        self.set_trait("signal", status.signal)
        self.set_trait("duration", status.duration)
        # Last: who observes the state finds the rest in place.
        self.set_trait("state", status.state)

    def stopping(self) -> None:
        """Tell the panels that the run was asked to end by somebody else, such as an interrupt of the kernel."""
        self.send(STOPPING)

    def on_stop(self, callback: Callable[[], None]) -> None:
        """Call `callback` when a panel asks to stop the run, on the thread that hears it: main, control, subshell."""
        self._stop_callbacks.append(callback)

    def read_from(self, sources: Mapping[str, PageSource]) -> None:
        """Let the panels download and page the complete output, by the names of its streams: "output", "stderr"."""
        self._pager.sources = sources

    def held_bytes(self) -> int:
        """Bytes of the texts that are held, each twice: here, and for the static result."""
        with self._lock:
            return 2 * sum(sys.getsizeof(view.text) + sys.getsizeof(view.head) for view in self._views.values())

    @property
    def running(self) -> bool:
        """No end is known of the run."""
        return self._final is None

    def close(self) -> None:
        LATECOMERS.forget(self)
        super().close()

    def retire(self) -> None:
        """Close the widget and let go of the output. Pages show the static result from now on, if they have it."""
        self.close()
        # A widget of its own, which a program may have put in place of ours; then it is no longer in the way.
        self.layout.close()
        with self._lock:
            self._views.clear()
            self._pager = Pager()

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take from a page what belongs to pages, such as the layout; nothing that says what ran or what is shown."""
        refused = sync_data.keys() & self._OURS
        if refused:
            _log.debug("a page may not set %s", ", ".join(sorted(refused)))
        super().set_state({name: value for name, value in sync_data.items() if name not in refused})

    _OURS = frozenset(
        {"_esm", "_css", "_anywidget_id", "command", "foreground", "retain", "control_address", "token", "snapshot"}
    )

    def _snapshot(self) -> dict[str, Any]:
        with self._lock:
            state = dict(self._views), self._seq, self._final
        return self._snapshot_of(*state)

    def _snapshot_of(self, views: dict[StreamName, OutputView], seq: int, status: RunStatus | None) -> dict[str, Any]:
        quiet = 0.0
        if status is None:
            now = time.monotonic()
            status = RunStatus(RunState.RUNNING, duration=now - self._started)
            quiet = now - self._last_output
        shared = {name: replace(view, metadata=_shareable(view.metadata)) for name, view in views.items()}
        return snapshot_to_wire(seq, shared.get("output"), shared.get("stderr"), status, quiet)

    def _answer_check(self, seen: int, running: bool) -> None:
        """Send a page what it may have missed: a message that is lost leaves no trace when none comes after it."""
        with self._lock:
            if (seen, running) == (self._seq, self._final is None):
                self.send(CURRENT)
            else:
                # Under the lock as updates are: one that crossed the answer would be behind a gap.
                self.send(snapshot_message(self._snapshot_of(self._views, self._seq, self._final)))

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        self._take_message(content)

    def _take_message(self, content: object) -> None:
        """Take what a page says, which may be anything; on the main thread, a subshell's or the control thread."""
        if (answer := self._pager.answer(content)) is not None:
            self.used = time.monotonic()
            self.send(*answer)
            return
        if (known := checked(content)) is not None:
            # A page checks once in a while, and again if there is no answer; one that is small brings a whole view.
            if self._checks.take():
                self._answer_check(*known)
            return
        if says_placed(content):
            self.placed = self._final is not None
            return
        if not asks_to_stop(content):
            _log.debug("ignored a message of the panel: %.200r", content)
            return
        self._stop_asked()

    def _stop_asked(self) -> None:
        with self._lock:
            final = self._final
        if final is not None:
            # The page missed the end.
            self.send(status_message(final))
            return
        # First of all: a panel that hears nothing for 0.8 s interrupts the kernel.
        self.send(STOPPING)
        for callback in tuple(self._stop_callbacks):
            callback()


def _fold(view: OutputView | None, update: Update) -> OutputView:
    if isinstance(update, Replace):
        view = update.output
    else:
        assert view is not None
        view = apply_update(view, update)
    # Rows hold the text a second time, for `diff`, which nobody asks for here.
    return replace(view, rows=None) if view.rows is not None else view


def _for_page(update: Update) -> Update:
    if isinstance(update, Replace):
        return Replace(replace(update.output, metadata=_shareable(update.output.metadata)))
    return replace(update, metadata=_shareable(update.metadata))


def _shareable(metadata: OutputMetadata) -> OutputMetadata:
    return metadata if metadata.spill_path is None else replace(metadata, spill_path=display_path(metadata.spill_path))


def _hear_while_busy(comm: object) -> None:
    """Let messages of the page reach the kernel while a cell runs, where that is a matter of comms.

    Front ends send them on a subshell, but ipykernel 7.4 routes them back to the shell that last published, which is
    the one that is busy with the run. None turns that off; other versions have no such attribute: 7.3 needs nothing, 6
    has the control channel (show/control.py). A private attribute: if it goes, Stop arrives late and the panel
    interrupts the kernel.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = None
