import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

from boundcap_jupyter.core.update import Replace
from boundcap_jupyter.show import display as displays
from boundcap_jupyter.show import widget
from boundcap_jupyter.show.display import PanelDisplay, StaticDisplay, choose_display
from boundcap_jupyter.show.static import static_bundle
from boundcap_jupyter.show.terminal.display import TerminalDisplay
from tests.show.examples import DONE, FAILED, Ended, view_of

ENDED = Ended(view_of(b"one\n"))
TOKEN = "0123456789abcdef"
STATIC = static_bundle(ENDED, token=TOKEN)


class Publisher(CapturingDisplayPublisher):
    """Notes what is displayed, updated and cleared, in order."""

    def __init__(self):
        super().__init__()
        self.events = []

    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **_):
        self.events.append(("update" if update else "display", set(data), (transient or {}).get("display_id")))
        self.last = data

    def clear_output(self, wait=False):
        self.events.append(("clear", wait))


class Panel:
    """Stands for the widget."""

    model_id = "m"
    token = TOKEN
    comm = object()
    placed = False
    used = 0.0

    def __init__(self, command, **options):
        self.command, self.options = command, options
        self.calls = []

    def __call__(self, update):
        self.calls.append(update)

    def take_stderr(self, update):
        self.calls.append(("stderr", update))

    def on_stop(self, callback):
        self.stop = callback

    def read_from(self, sources):
        self.sources = sources

    def finish(self, status, result):
        self.calls.append(status)
        self.result = result

    def held_bytes(self):
        return 4

    def retire(self):
        self.comm = None


@pytest.fixture
def shell(monkeypatch, finished):
    shell = InteractiveShell.instance()
    monkeypatch.setattr(shell, "display_pub", Publisher())
    monkeypatch.setattr(widget, "BoundedOutput", Panel)
    yield shell
    InteractiveShell.clear_instance()


VIEW = {"application/vnd.jupyter.widget-view+json"}
RESULT = {"text/plain", "text/html"}


def test_a_panel_is_displayed_as_a_view_and_a_word_for_who_has_no_kernel(shell):
    display = PanelDisplay("make", clears_cell=True)
    display.opened(lambda: None)
    ((event, mimes, _),) = shell.display_pub.events
    # The text is for whoever reads a notebook that was saved meanwhile.
    assert (event, mimes) == ("display", VIEW | {"text/plain"})
    assert shell.display_pub.last[next(iter(VIEW))]["model_id"] == "m"
    assert display._widget.options == {"foreground": True, "retain": "tail"}


def test_a_panel_gets_the_updates_and_its_stop_reaches_the_run(shell):
    display = PanelDisplay("make", clears_cell=True)
    stops = []
    display.opened(lambda: stops.append(1))
    update = Replace(ENDED.view)
    display(update)
    display.take_stderr(update)
    assert display._widget.calls == [update, ("stderr", update)]
    display._widget.stop()
    assert stops == [1]


def test_a_panel_is_told_where_the_complete_output_is(shell):
    display = PanelDisplay("make", clears_cell=True)
    display.read_from({})
    display.opened(lambda: None)
    sources = {"output": object()}
    display.read_from(sources)
    assert display._widget.sources is sources


def test_the_cell_is_cleared_for_the_result_where_that_is_allowed(shell):
    display = PanelDisplay("make", clears_cell=True)
    display.opened(lambda: None)
    display.closed(ENDED)
    assert shell.display_pub.events[1:] == [("clear", True), ("display", RESULT, None)]
    assert shell.display_pub.last == STATIC
    # For a page that misses this.
    assert display._widget.result() == STATIC
    assert display._widget.calls == [DONE]


def test_elsewhere_the_result_takes_the_place_of_the_panel(shell):
    display = PanelDisplay("make", clears_cell=False)
    display.opened(lambda: None)
    display.closed(ENDED)
    opened, closed = shell.display_pub.events
    assert opened[2] is not None
    assert closed == ("update", RESULT, opened[2])


@pytest.mark.parametrize("clears_cell", [True, False])
def test_a_run_that_never_started_shows_its_result(shell, clears_cell):
    display = PanelDisplay("make", clears_cell)
    display(Replace(ENDED.view))
    display.take_stderr(Replace(ENDED.view))
    display.closed(Ended(view_of(b""), FAILED))
    assert shell.display_pub.events == [("display", RESULT, None)]


@pytest.mark.parametrize("display", [PanelDisplay("make", True), PanelDisplay("make", False), StaticDisplay()])
def test_closing_twice_is_closing_once(shell, display):
    display.opened(lambda: None)
    display.closed(ENDED)
    events = list(shell.display_pub.events)
    display.closed(Ended(view_of(b"other\n")))
    assert shell.display_pub.events == events


def test_a_static_display_shows_only_the_result(shell):
    display = StaticDisplay()
    display.opened(lambda: None)
    display(Replace(ENDED.view))
    display.take_stderr(Replace(ENDED.view))
    assert shell.display_pub.events == []
    display.closed(ENDED)
    assert shell.display_pub.events == [("display", RESULT, None)]


def _kernel(monkeypatch, metadata, publisher=None):
    shell = SimpleNamespace(kernel=object(), display_pub=publisher, get_parent=lambda: {"metadata": metadata})
    monkeypatch.setattr(displays, "_shell", lambda: shell)


PAGE = {"cellId": "c", "trusted": True}


def test_a_page_has_a_panel(monkeypatch):
    _kernel(monkeypatch, PAGE)
    display = choose_display(["printf", "a b"], clears_cell=True, retain="head")
    assert isinstance(display, PanelDisplay)
    assert (display._command, display._clears_cell, display._retain) == ("printf 'a b'", True, "head")


def test_colab_has_a_panel(monkeypatch):
    _kernel(monkeypatch, {})
    monkeypatch.setitem(sys.modules, "google.colab", SimpleNamespace())
    assert isinstance(choose_display("make", clears_cell=True), PanelDisplay)


def test_a_program_that_runs_a_notebook_has_the_result(monkeypatch):
    _kernel(monkeypatch, {})
    assert isinstance(choose_display("make", clears_cell=True), StaticDisplay)


def test_what_captures_displays_has_the_result(monkeypatch):
    _kernel(monkeypatch, PAGE, CapturingDisplayPublisher())
    assert isinstance(choose_display("make", clears_cell=True), StaticDisplay)


def test_a_terminal_has_lines(monkeypatch):
    shell = SimpleNamespace(display_pub=None)
    monkeypatch.setattr(displays, "_shell", lambda: shell)
    assert isinstance(choose_display("make", clears_cell=True), TerminalDisplay)


def test_plain_python_has_lines_and_no_ipython():
    script = (
        "import sys; from boundcap_jupyter.show.display import choose_display;"
        "print(type(choose_display('make', clears_cell=True)).__name__, 'IPython' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert printed == "TerminalDisplay False\n"


def test_another_thread_of_a_kernel_is_told_that_it_cannot_display(monkeypatch):
    _kernel(monkeypatch, PAGE)
    errors = []

    def choose():
        try:
            choose_display("make", clears_cell=False)
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=choose)
    thread.start()
    thread.join()
    assert errors == ["a run can be displayed only on the thread that runs the cell: use display=False"]


def test_a_panel_whose_cell_runs_again_is_closed(monkeypatch, finished):
    header = {}
    request = {"metadata": PAGE, "header": header}
    shell = SimpleNamespace(kernel=object(), display_pub=Publisher(), get_parent=lambda: request)
    monkeypatch.setattr(displays, "_shell", lambda: shell)
    monkeypatch.setattr(displays, "_ipython_display", lambda: SimpleNamespace(display=lambda *_, **__: None))
    monkeypatch.setattr(widget, "BoundedOutput", Panel)
    shown = []
    for header["msg_id"] in "112":
        display = PanelDisplay("make", clears_cell=False)
        display.opened(lambda: None)
        shown.append(display._widget)
        display._handle = None
        display.closed(ENDED)
    # Two of one execution, then the next one.
    assert [panel.comm is None for panel in shown] == [True, True, False]
