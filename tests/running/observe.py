"""How tests watch a run: a sink that folds, conditions that come true, processes that a test started."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import psutil

from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.update import Replace, Update, apply_update
from boundcap_jupyter.core.view import OutputMetadata, OutputView, Truncation

#: An environment variable that marks the processes of a test.
MARK = "BOUNDCAP_TEST_MARK"
#: Seconds. Nothing waits as long unless it is broken.
PATIENCE = 20.0


def eventually(condition: Callable[[], object], patience: float = PATIENCE) -> bool:
    """True as soon as the condition is."""
    give_up = time.monotonic() + patience
    while not condition():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.01)
    return True


def marked_processes(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def empty_view(limits: OutputLimits | None = None) -> OutputView:
    limits = limits or OutputLimits()
    cut = Truncation(False, None, 0, 0, 0, 0, False, False, limits.max_lines, limits.max_bytes)
    return OutputView("", OutputMetadata(cut))


class Recorder:
    """A sink that keeps every update and folds it as a consumer would."""

    def __init__(self) -> None:
        self.updates: list[Update] = []
        self.views: list[OutputView] = []
        self.times: list[float] = []
        self._news = threading.Condition()

    def __call__(self, update: Update) -> None:
        with self._news:
            before = self.views[-1] if self.views else empty_view()
            self.updates.append(update)
            self.views.append(apply_update(before, update))
            self.times.append(time.time())
            self._news.notify_all()

    @property
    def view(self) -> OutputView:
        return self.views[-1]

    @property
    def text_bytes(self) -> int:
        """UTF-8 bytes of the text of all updates."""
        texts = (
            update.output.text if isinstance(update, Replace) else getattr(update, "text", "")
            for update in self.updates
        )
        return sum(len(text.encode()) for text in texts)

    def wait_for(self, text: str) -> None:
        """Wait until the text is shown."""
        with self._news:
            shown = self._news.wait_for(lambda: any(text in view.text for view in self.views), PATIENCE)
        assert shown, f"{text!r} was never shown"
