"""Runs to show: views as a capture makes them, and what a run came to."""

from __future__ import annotations

from dataclasses import dataclass, replace

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.view import OutputMetadata, OutputView, SpillState, Truncation

DONE = RunStatus(RunState.EXITED, 0, duration=0.42)
FAILED = RunStatus(RunState.EXITED, 3, duration=0.42)


@dataclass(frozen=True)
class Ended:
    view: OutputView
    status: RunStatus = DONE
    stderr_view: OutputView | None = None


def view_of(data: bytes, **limits: object) -> OutputView:
    capture = OutputCapture(OutputLimits(**limits))
    capture.feed(data)
    capture.finish()
    return capture.view()


def spilled(view: OutputView, path: str, state: SpillState = "complete") -> OutputView:
    size = view.metadata.truncation.total_bytes
    return replace(view, metadata=replace(view.metadata, spill_path=path, spill_state=state, spill_bytes=size))


def view_with(text: str = "", head: str = "", **metadata: object) -> OutputView:
    """A view by hand. Names of Truncation and of OutputMetadata may be given, mixed."""
    size = len((head + text).encode())
    cut = {
        "truncated": False,
        "truncated_by": None,
        "total_lines": text.count("\n"),
        "total_bytes": size,
        "output_lines": text.count("\n"),
        "output_bytes": size,
        "last_line_partial": False,
        "first_line_exceeds_limit": False,
        "max_lines": 2000,
        "max_bytes": 51200,
    }
    cut.update({name: metadata.pop(name) for name in list(metadata) if name in cut})
    return OutputView(text, OutputMetadata(Truncation(**cut), **metadata), head)


NUMBERS = b"".join(b"%d\n" % n for n in range(1, 3001))
