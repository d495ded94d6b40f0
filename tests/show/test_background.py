"""A run that no cell waits for: where and when it is shown, and by whom the end is published."""

import threading
from types import SimpleNamespace

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher

from boundcap_jupyter.core.update import Append, Replace
from boundcap_jupyter.show import display as displays
from boundcap_jupyter.show import widget
from boundcap_jupyter.show.background import BackgroundDisplay
from boundcap_jupyter.show.finished import Execution
from boundcap_jupyter.show.static import static_bundle
from tests.show.examples import DONE, Ended, view_of
from tests.show.test_display import PAGE, RESULT, TOKEN, VIEW, Panel

ENDED = Ended(view_of(b"one\ntwo\n"))


class Publisher:
    """Notes what is displayed and updated, in order."""

    def __init__(self):
        self.events = []

    def publish(self, data, metadata, *, transient=None, update=False):
        self.events.append(("update" if update else "display", set(data), (transient or {}).get("display_id")))
        self.last = data


@pytest.fixture
def kernel(monkeypatch, finished):
    """A kernel whose cells a page shows."""
    shell = SimpleNamespace(kernel=object(), display_pub=Publisher(), get_parent=lambda: {"metadata": PAGE})
    monkeypatch.setattr(displays, "_shell", lambda: shell)
    monkeypatch.setattr(widget, "BoundedOutput", Panel)
    return shell


@pytest.fixture
def display():
    display = BackgroundDisplay("make", "head")
    display.opened(lambda: None)
    return display


def test_nothing_is_displayed_before_it_is_shown(kernel, display):
    display(Replace(ENDED.view))
    display.closed(ENDED)
    assert kernel.display_pub.events == []


def test_a_panel_that_comes_late_starts_with_what_is_there(kernel, display):
    started = display._started
    first = view_of(b"one\n")
    display(Replace(first))
    display.take_stderr(Replace(first))
    display(Append("two\n", ENDED.view.metadata))
    assert display.show()
    panel = display._widget
    (output, (name, errors)) = panel.calls
    assert (output.output.text, name, errors.output.text) == ("one\ntwo\n", "stderr", "one\n")
    assert panel.options == {"retain": "head", "started": started}
    more = Append("three\n", ENDED.view.metadata)
    display(more)
    assert panel.calls[2:] == [more]
    ((event, mimes, _),) = kernel.display_pub.events
    assert (event, mimes) == ("display", VIEW | {"text/plain"})


def test_the_end_takes_the_place_of_every_panel_through_the_publisher_that_showed_it(kernel, display):
    display.show()
    display.show()
    publisher = kernel.display_pub
    (_, _, first), (_, _, second) = publisher.events
    assert first != second
    # Another cell captures its output at that moment.
    kernel.display_pub = CapturingDisplayPublisher()
    thread = threading.Thread(target=display.closed, args=(ENDED,))
    thread.start()
    thread.join()
    assert publisher.events[2:] == [("update", RESULT, first), ("update", RESULT, second)]
    assert publisher.last == static_bundle(ENDED, "head", TOKEN) == display._widget.result()
    assert display._widget.calls == [DONE]
    assert kernel.display_pub.outputs == []


def test_what_is_shown_after_the_end_is_the_result(kernel, display):
    display.closed(ENDED)
    display.closed(Ended(view_of(b"other\n")))
    assert display.show()
    assert kernel.display_pub.last == static_bundle(ENDED, "head")
    assert display._widget is None


def test_a_program_that_runs_a_notebook_gets_a_word_and_then_the_result(kernel, display):
    kernel.get_parent = lambda: {"metadata": {}}
    display.show()
    assert kernel.display_pub.last == {"text/plain": "make · running when this was saved"}
    display.closed(ENDED)
    (_, _, shown), update = kernel.display_pub.events
    assert update == ("update", RESULT, shown)
    assert display._widget is None


def test_what_is_captured_or_in_a_terminal_is_left_to_the_caller(kernel, display):
    kernel.display_pub = CapturingDisplayPublisher()
    assert not display.show()
    assert kernel.display_pub.outputs == []
    del kernel.kernel
    kernel.display_pub = Publisher()
    assert not display.show()
    assert kernel.display_pub.events == []


def test_what_lies_in_the_spill_is_for_the_panel_whenever_it_comes(kernel, display):
    sources = {"output": object()}
    display.read_from(sources)
    display.show()
    assert display._widget.sources is sources


def test_the_panel_stops_the_run_and_says_so(kernel):
    display, stops = BackgroundDisplay("make"), []
    display.opened(lambda: stops.append(1))
    display.stopping()
    display.show()
    display._widget.stop()
    assert stops == [1]


def test_the_result_has_the_token_for_as_long_as_the_panel_is_open(kernel, display, finished):
    request = {"metadata": PAGE, "header": {"msg_id": "1"}}
    kernel.get_parent = lambda: request
    display.show()
    display.closed(ENDED)
    request["header"]["msg_id"] = "2"
    # The same cell shows it again: it is not closed for that.
    display.show()
    assert kernel.display_pub.last == static_bundle(ENDED, "head", TOKEN)
    finished.runs(Execution(PAGE["cellId"], "3"))
    assert display._widget.comm is None
    display.show()
    assert kernel.display_pub.last == static_bundle(ENDED, "head")


def test_a_run_that_a_page_never_showed_has_no_token(kernel, display):
    display.closed(ENDED)
    display.show()
    assert kernel.display_pub.last == static_bundle(ENDED, "head")
