"""How a run is shown: a panel in a notebook, the result alone where nothing can be live, lines in a terminal.

All of a display runs on the thread that runs the cell, but for its updates: what is displayed from another thread lands
in whichever cell ran last.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Protocol

from boundcap_jupyter.core.limits import Retain
from boundcap_jupyter.core.status import RunStatus
from boundcap_jupyter.core.update import Update
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.show.finished import FINISHED, NOWHERE, Execution
from boundcap_jupyter.show.pager import PageSource
from boundcap_jupyter.show.static import Outcome, static_bundle
from boundcap_jupyter.show.summary import command_label
from boundcap_jupyter.show.terminal.display import TerminalDisplay

if TYPE_CHECKING:
    from boundcap_jupyter.show.widget import BoundedOutput

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

Place = Literal["terminal", "captured", "collected", "page"]


class Display(Protocol):
    """Shows one run: opened, fed with its updates as a sink, closed. Whatever happens, it is closed; twice is once."""

    def opened(self, stop: Callable[[], None]) -> None:
        """The run is about to start. `stop` asks for its end, from any thread."""
        ...

    def __call__(self, update: Update, /) -> None: ...

    def take_stderr(self, update: Update, /) -> None:
        """As a call, for the standard error of a run that keeps it apart."""

    def stopping(self) -> None:
        """The run was asked to end, by an interrupt."""
        ...

    def closed(self, outcome: Outcome) -> None:
        """The run is over, or never started: show what it came to."""
        ...


class PanelDisplay:
    """A live panel, which the static result replaces when the run is over: in the notebook and its file.

    A page goes on to show the panel, in front of the result, while the widget is open (show/finished.py).

    With `clears_cell` the cell is cleared and the result displayed: what nbval follows, and right even if the page was
    reloaded, but for a cell that shows nothing else. Without it the panel's own display is updated.
    """

    def __init__(self, command: str, clears_cell: bool, retain: Retain = "tail", *, foreground: bool = True) -> None:
        self._command = command
        self._clears_cell = clears_cell
        self._foreground = foreground
        self._retain = retain
        self._widget: BoundedOutput | None = None
        self._handle: Any = None
        self._shown_in = NOWHERE
        self._closed = False

    def opened(self, stop: Callable[[], None]) -> None:
        """Display the panel. Raises BundleMissingError where it has not been built."""
        from boundcap_jupyter.show.widget import BoundedOutput

        self._shown_in = running_cell()
        FINISHED.runs(self._shown_in)
        self._widget = BoundedOutput(self._command, foreground=self._foreground, retain=self._retain)
        self._widget.on_stop(stop)
        bundle = live_bundle(self._widget.model_id, self._command)
        self._handle = _ipython_display().display(bundle, raw=True, display_id=True)

    def read_from(self, sources: Mapping[str, PageSource]) -> None:
        """The complete output can be read there from now on."""
        if self._widget is not None:
            self._widget.read_from(sources)

    def __call__(self, update: Update, /) -> None:
        if self._widget is not None:
            self._widget(update)

    def take_stderr(self, update: Update, /) -> None:
        if self._widget is not None:
            self._widget.take_stderr(update)

    def stopping(self) -> None:
        if self._widget is not None:
            self._widget.stopping()

    def closed(self, outcome: Outcome) -> None:
        if self._closed:
            return
        self._closed = True
        token = ""
        # First: whatever comes now, the panel does not say for ever that the command runs.
        if self._widget is not None:
            token = self._widget.token
            self._widget.finish(outcome.status, result_of(outcome, self._retain, token))
        bundle = static_bundle(outcome, self._retain, token)
        if self._handle is not None and not self._clears_cell:
            self._handle.update(bundle, raw=True)
        else:
            if self._handle is not None:
                _ipython_display().clear_output(wait=True)
            _ipython_display().display(bundle, raw=True)
        if self._widget is not None:
            FINISHED.add(self._widget, {self._shown_in})


class StaticDisplay:
    """Only the result, once the run is over: where outputs are collected, and nobody looks before the end."""

    def __init__(self, retain: Retain = "tail") -> None:
        self._retain = retain
        self._closed = False

    def opened(self, stop: Callable[[], None]) -> None:
        """Nothing to show yet."""

    def __call__(self, update: Update, /) -> None:
        """Nothing to show yet."""

    def take_stderr(self, update: Update, /) -> None:
        """Nothing to show yet."""

    def stopping(self) -> None:
        """Nothing to show yet."""

    def closed(self, outcome: Outcome) -> None:
        if not self._closed:
            self._closed = True
            _ipython_display().display(static_bundle(outcome, self._retain), raw=True)


def live_bundle(model_id: str, command: str) -> dict[str, Any]:
    """A panel by mime type."""
    view = {"version_major": 2, "version_minor": 0, "model_id": model_id}
    return {WIDGET_VIEW: view, "text/plain": not_over(command)}


def not_over(command: str) -> str:
    """For whoever reads the file of a notebook that was saved meanwhile, where there is no kernel."""
    return f"{command} · running when this was saved"


def show(thing: object) -> None:
    """Display an object in the cell that runs, or as text where there is none."""
    _ipython_display().display(thing)


def choose_display(
    command: str | Sequence[str | PathLike[str]], *, clears_cell: bool, retain: Retain = "tail", foreground: bool = True
) -> Display:
    """What fits the place where this is called: a panel in a page, the result in what collects outputs, or a terminal.

    `foreground` says that the main thread will wait for the run.

    A notebook that a program runs has no panel: the program would save the state of its widget, the panel's code
    included, and nbval, which reads nothing before a cell is over, loses the messages of a cell that sends more than
    1,000. Raises RuntimeError in a kernel on a thread that runs no cell.
    """
    match find_place():
        case "terminal":
            return TerminalDisplay(retain)
        case "page":
            return PanelDisplay(command_label(command), clears_cell, retain, foreground=foreground)
        case _:
            return StaticDisplay(retain)


def find_place() -> Place:
    """Where what is displayed now would appear.

    "terminal": no notebook; "captured": the code around keeps it; "collected": a program executes the notebook; "page":
    somebody sees it. Raises RuntimeError in a kernel on a thread that runs no cell.
    """
    shell = _shell()
    if shell is None:
        return "terminal"
    from IPython.core.displaypub import CapturingDisplayPublisher

    captured = isinstance(shell.display_pub, CapturingDisplayPublisher)
    if not captured and getattr(shell, "kernel", None) is None:
        return "terminal"
    if not _runs_cells(threading.current_thread()):
        raise RuntimeError("a run can be displayed only on the thread that runs the cell: use display=False")
    if captured:
        return "captured"
    return "page" if _has_page(shell) else "collected"


@dataclass(frozen=True, slots=True)
class _Ended:
    status: RunStatus
    view: OutputView
    stderr_view: OutputView | None


def result_of(outcome: Outcome, retain: Retain, token: str) -> Callable[[], dict[str, str]]:
    """What makes the static result later, and until then keeps nothing but the texts."""
    stderr_view = outcome.stderr_view and replace(outcome.stderr_view, rows=None)
    ended = _Ended(outcome.status, replace(outcome.view, rows=None), stderr_view)
    return lambda: static_bundle(ended, retain, token)


def _ipython_display() -> Any:
    # Any: IPython is typed in part, and each version in another part.
    return import_module("IPython.display")


def running_cell() -> Execution:
    """The cell that runs, as far as the request to run it tells."""
    shell = _shell()
    request = shell.get_parent() if getattr(shell, "kernel", None) is not None else {}
    cell, number = request.get("metadata", {}).get("cellId"), request.get("header", {}).get("msg_id")
    return Execution(cell, number) if isinstance(cell, str) and isinstance(number, str) else NOWHERE


def publisher() -> Any:
    """What publishes for the cell that runs: another one within %%capture."""
    return _shell().display_pub


def _shell() -> Any:
    """The running IPython shell, None in plain Python, which this does not make import IPython."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def _runs_cells(thread: threading.Thread) -> bool:
    # Cells also run on the threads of a kernel's subshells.
    return thread is threading.main_thread() or type(thread).__module__.startswith("ipykernel.")


def _has_page(shell: Any) -> bool:
    """Whether a page shows the cell that runs.

    JupyterLab, Notebook 7 and VS Code name the cell in their request; nbclient, nbval, papermill and Jupyter console
    have none to name. Colab is known by its module, whatever its requests say.
    """
    return "cellId" in shell.get_parent().get("metadata", {}) or "google.colab" in sys.modules
