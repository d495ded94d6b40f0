"""When to publish, and what: the latest state only, at a rate that a person can read.

The publisher is told the time and never reads a clock; it holds no queue, no timer and no thread. Its owner

1. calls `mark()` when the output changed (`urgent=True` when it must not wait),
2. asks again at `due`, a time on the owner's clock, None when there is nothing to send,
3. passes what `poll(now)` returns to the sink, tells with `weigh` if that cost more than the update's own bytes,
   and at the end passes on what `finish(now)` returns.

The baseline is committed before the update is handed out: a sink that takes an update and then raises never sees it
twice.
"""

from __future__ import annotations

from collections.abc import Callable

from boundcap_jupyter.core.update import Replace, Update, diff, encoded_bytes
from boundcap_jupyter.core.view import OutputView

#: Seconds. Ten updates a second read as continuous; more only cost.
MIN_INTERVAL = 0.100
#: Bytes a second of encoded updates: two complete default views.
TARGET_RATE = 100 * 1024
#: Seconds. A consumer that missed an update waits no longer than this for one that it can apply.
REPLACE_INTERVAL = 5.0


class AdaptivePublisher:
    """Turns a changing view into updates. `view` gives the current one; it is called only when one is to be sent.

    `baseline` is the view that a consumer of all updates holds, None before the first; `last_bytes` is the size of the
    last update, encoded, or what it took on its way.
    """

    def __init__(self, view: Callable[[], OutputView]) -> None:
        self._view = view
        self.baseline: OutputView | None = None
        self.last_bytes = 0
        self._dirty = False
        self._urgent = False
        self._next_allowed = 0.0
        self._last_replace = 0.0

    @property
    def due(self) -> float | None:
        """When to poll, on the owner's clock; a time that has passed means now. None while nothing has changed."""
        if not self._dirty:
            return None
        return float("-inf") if self._urgent or self.baseline is None else self._next_allowed

    def mark(self, *, urgent: bool = False) -> None:
        """The output changed. `urgent` lets the next poll through at once."""
        self._dirty = True
        self._urgent = self._urgent or urgent

    def poll(self, now: float) -> Update | None:
        """The update to send now, if there is one and its time has come."""
        due = self.due
        if due is None or now < due:
            return None
        view = self._view()
        update: Update | None
        if self.baseline is None or now - self._last_replace >= REPLACE_INTERVAL:
            update = Replace(view) if view != self.baseline else None
        else:
            update = diff(self.baseline, view)
        return self._commit(update, view, now)

    def weigh(self, size: int, now: float) -> None:
        """The update that was handed out took `size` bytes on its way: the next one waits as for one of that size."""
        self.last_bytes = max(self.last_bytes, size)
        self._next_allowed = max(self._next_allowed, now + self.last_bytes / TARGET_RATE)

    def finish(self, now: float) -> Update:
        """The last update, at once and complete, so that a consumer that missed one is whole again."""
        update = Replace(self._view())
        self._commit(update, update.output, now)
        return update

    def _commit(self, update: Update | None, view: OutputView, now: float) -> Update | None:
        self._dirty = self._urgent = False
        if update is None:
            return None
        self.baseline = view
        if isinstance(update, Replace):
            self._last_replace = now
        self.last_bytes = encoded_bytes(update)
        self._next_allowed = now + max(MIN_INTERVAL, self.last_bytes / TARGET_RATE)
        return update
