"""pipe -> capture -> spill -> publisher -> sink: one run's stream, driven by the thread that reads it."""

from __future__ import annotations

import time
from dataclasses import replace

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.publisher import AdaptivePublisher
from boundcap_jupyter.core.sink import Sink, WeighedSink
from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.core.update import Update
from boundcap_jupyter.core.view import OnSpillFailure, OutputView
from boundcap_jupyter.running.budget import BUDGET, Budget
from boundcap_jupyter.running.recording import Recording
from boundcap_jupyter.running.spill import SpillFile


class RunError(Exception):
    """The run can not go on: `state` says what failed, the cause is the exception behind it."""

    def __init__(self, state: RunState, message: str) -> None:
        super().__init__(message)
        self.state = state


class Pump:
    """Passes what the command prints on to whoever needs it. Told the time; raises RunError, once for each broken part.

    A sink that raised gets nothing more, a spill that failed is not written again; the capture goes on in any case, so
    that what came before and after is in the view.

    With `on_spill_failure="continue"` a spill that failed is no failure of the run: it is incomplete, and `notice` says
    why. `record` is kept up to date, if there is one; several pumps may share it.
    """

    def __init__(
        self,
        capture: OutputCapture,
        spill: SpillFile | None,
        sink: Sink | None,
        budget: Budget | None = None,
        *,
        on_spill_failure: OnSpillFailure = "fail",
        record: Recording | None = None,
    ) -> None:
        self._capture = capture
        self._spill = spill
        self._sink = sink
        self._publisher = AdaptivePublisher(self.view)
        self._budget = budget or BUDGET
        #: When the budget lets the next update through, once it has been asked.
        self._place: float | None = None
        self._on_spill_failure = on_spill_failure
        self._record = record
        #: In one line, what a person should know though the run did not fail of it; else "".
        self.notice = ""

    @property
    def due(self) -> float | None:
        """When to call `publish`, None if there is nothing to say."""
        update, record = self._update_due, self._record.due if self._record is not None else None
        return min((moment for moment in (update, record) if moment is not None), default=None)

    @property
    def _update_due(self) -> float | None:
        due = self._publisher.due
        if self._sink is None or due is None:
            return None
        return due if self._place is None else max(due, self._place)

    def view(self) -> OutputView:
        view = self._capture.view()
        spill = self._spill
        if spill is None or spill.state == "none":
            return view
        path = str(spill.path) if spill.path is not None else None
        return replace(
            view,
            metadata=replace(view.metadata, spill_path=path, spill_state=spill.state, spill_bytes=spill.size),
        )

    def feed(self, data: bytes) -> None:
        """The next bytes of the stream."""
        new_path = False
        try:
            new_path = self._write_spill(self._capture.feed(data))
        finally:
            # A new path is news that can not wait: the file may be all that is left of a kernel.
            self._publisher.mark(urgent=new_path)
            if self._record is not None:
                self._record.mark()

    def publish(self, now: float) -> None:
        """Send an update if one is due and the budget of all runs has room for it; keep the record up to date."""
        self._publish_update(now)
        if self._record is not None:
            self._record.write(now)

    def _publish_update(self, now: float) -> None:
        due = self._update_due
        if due is None or now < due:
            return
        if self._place is None:
            self._place = self._budget.take_place(now)
            if now < self._place:
                return
        self._place = None
        # Of this thread alone: to wait for others is no work.
        started = time.thread_time()
        size = 0
        try:
            if (update := self._publisher.poll(now)) is not None:
                size = self._publisher.last_bytes
                self._send(update)
                if isinstance(self._sink, WeighedSink):
                    self._publisher.weigh(self._sink.last_bytes, now)
                    size = self._publisher.last_bytes
        finally:
            self._budget.charge(size, time.thread_time() - started)

    def end(self) -> None:
        """The stream is over: the spill is complete from here on, or said to be incomplete."""
        try:
            self._write_spill(self._capture.finish())
            if self._spill is not None:
                self._spill.close()
        except OSError as error:
            self._spill_failed(error)

    def abandon(self) -> None:
        """The run broke off: nothing more is sent, and the spill is not complete."""
        self._sink = None
        if self._spill is not None:
            self._spill.abandon()

    def finish(self, now: float) -> None:
        """Send the last update, whatever the budget: it is what a person is left with."""
        if self._sink is not None:
            self._send(self._publisher.finish(now))

    def _send(self, update: Update) -> None:
        assert self._sink is not None
        try:
            self._sink(update)
        except BaseException as error:
            # Of any kind: a CancelledError or a SystemExit is the receiver's too, nobody else raises one here.
            self._sink = None
            message = f"the receiver of updates raised {type(error).__name__}: {error}"
            raise RunError(RunState.CALLBACK_ERROR, message) from error

    def _write_spill(self, data: bytes) -> bool:
        """True if there is news of the file: it is new, or it failed."""
        spill = self._spill
        if spill is None or not data:
            return False
        before = spill.state
        try:
            spill.write(data)
        except OSError as error:
            self._spill_failed(error)
        return before != spill.state

    def _spill_failed(self, error: OSError) -> None:
        failure = _spill_failure(error)
        if self._on_spill_failure == "fail":
            raise failure from error
        self.notice = self.notice or str(failure)


def _spill_failure(error: OSError) -> RunError:
    where = f" ({error.filename})" if error.filename else ""
    message = f"the complete output could not be kept: {error.strerror or error}{where}"
    return RunError(RunState.SPILL_ERROR, message)
