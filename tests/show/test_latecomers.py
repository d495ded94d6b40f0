import gc
import logging
import threading
import time
from types import SimpleNamespace

import comm
import IPython
import pytest
import traitlets
from ipywidgets import Button, Layout, Tab, VBox

from boundcap_jupyter.core.update import Replace
from boundcap_jupyter.show import latecomers, widget
from boundcap_jupyter.show.latecomers import Latecomers, Reopening
from boundcap_jupyter.show.widget import BoundedOutput
from tests.show.examples import DONE, NUMBERS, view_of
from tests.show.test_widget import RecordingComm


@pytest.fixture
def told(monkeypatch):
    """What pages were told, in order: the open widget that tells of the panels, each time."""
    told = []

    class Recorded(Reopening):
        def open(self):
            super().open()
            # As it is before it is closed.
            seen = {"published": self.comm.published, "panels": self.panels, "others": self.others}
            told.append(SimpleNamespace(widget=self, **seen))

    monkeypatch.setattr(comm, "create_comm", RecordingComm)
    monkeypatch.setattr(latecomers, "Reopening", Recorded)
    monkeypatch.setattr(latecomers, "WAITS", (0.0,))
    monkeypatch.setattr(widget, "read_bundle", lambda name: f"/* {name} */")
    monkeypatch.setattr(widget, "LATECOMERS", Latecomers())
    return told


@pytest.fixture
def kernel(monkeypatch):
    """As of ipykernel: a control thread, and a table of what it calls for a message."""
    heard = []
    handlers = {
        name: lambda *message, name=name: heard.append((name, *message)) or f"{name} heard"
        for name in ("kernel_info_request", "debug_request", "interrupt_request")
    }
    kernel = SimpleNamespace(control_handlers=handlers, control_thread=object(), heard=heard)
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=kernel))
    return kernel


def says(kernel, kind="kernel_info_request", content=None):
    """A client says something on the control channel, and is answered as ever."""
    answer = kernel.control_handlers[kind]("stream", ["identity"], {"content": content or {}})
    assert answer == f"{kind} heard"
    assert kernel.heard[-1] == (kind, "stream", ["identity"], {"content": content or {}})


def wait_for(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def nobody_tells():
    return all(thread.name != "boundcap-latecomers" for thread in threading.enumerate())


@pytest.fixture(autouse=True)
def no_thread_is_left(monkeypatch):
    monkeypatch.setattr(latecomers, "STAYS", 0.0)
    yield
    wait_for(nobody_tells)


def test_a_page_that_comes_is_told_of_the_panels_that_run(kernel, told):
    panel = BoundedOutput("make")
    panel(Replace(view_of(b"one\n")))
    says(kernel)
    wait_for(nobody_tells)
    (_, opening), *_ = told[0].published
    state = opening["state"]
    assert (state["_esm"], state["_css"]) == ("/* panel.js */", "/* panel.css */")
    assert list(state["panels"]) == [panel.model_id]
    shown = state["panels"][panel.model_id]
    assert (shown["command"], shown["snapshot"]["output"]["text"]) == ("make", "one\n")
    # It is all that a page needs to make the model of it, but for the code, which is there once.
    assert shown.keys() == panel.get_state().keys() - {"_esm", "_css"}
    assert list(state["others"]) == [panel.layout.model_id]
    assert state["others"][panel.layout.model_id] == panel.layout.get_state()


def test_what_was_told_is_closed_again(kernel, told):
    panel = BoundedOutput()
    says(kernel)
    wait_for(nobody_tells)
    assert told[0].widget.comm is told[0].widget.layout.comm is None
    assert panel.comm is not None


@pytest.mark.parametrize(
    ("kind", "content", "tells"),
    [
        ("kernel_info_request", {}, True),
        ("debug_request", {"command": "debugInfo"}, True),
        # A debugger in use sends many.
        ("debug_request", {"command": "variables"}, False),
        ("debug_request", ["command"], False),
        ("interrupt_request", {}, False),
    ],
)
def test_a_client_that_comes_is_known_by_its_first_words(kernel, told, kind, content, tells):
    panel = BoundedOutput()
    says(kernel, kind, content)
    wait_for(nobody_tells)
    assert [list(telling.panels) for telling in told] == ([[panel.model_id]] if tells else [])


def test_clients_that_come_together_are_told_together(kernel, told, monkeypatch):
    waits, go = threading.Event(), threading.Event()
    monkeypatch.setattr(latecomers.time, "sleep", lambda _: waits.set() or go.wait(30))
    _panel = BoundedOutput()
    says(kernel)
    assert waits.wait(30)
    for _ in range(20):
        says(kernel)
    go.set()
    wait_for(nobody_tells)
    # Those that came while the first one waited may not have been ready to hear.
    assert len(told) == 2


def test_one_that_comes_shortly_before_the_last_telling_is_told_after_all_waits(kernel, told, monkeypatch):
    slept = []

    def sleep(seconds):
        if threading.current_thread().name != "boundcap-latecomers":
            return
        slept.append(seconds)
        if len(slept) == 2:
            says(kernel)

    monkeypatch.setattr(latecomers, "WAITS", (0.5, 3.0))
    monkeypatch.setattr(latecomers.time, "sleep", sleep)
    _panel = BoundedOutput()
    says(kernel)
    wait_for(nobody_tells)
    assert slept == [0.5, 3.0, 0.5, 3.0, latecomers.STAYS]
    assert len(told) == 4


def test_nobody_is_told_of_what_a_page_has_or_nobody_shows(kernel, told):
    kernel.io_loop = SimpleNamespace(add_callback=lambda callback: callback())
    placed, closed, runs = BoundedOutput("placed"), BoundedOutput("closed"), BoundedOutput("runs")
    placed.finish(DONE)
    message = {"content": {"address": placed.control_address, "message": {"type": "placed"}}}
    kernel.control_handlers["boundcap_request"](None, [], message)
    closed.close()
    says(kernel)
    wait_for(nobody_tells)
    assert list(told[0].panels) == [runs.model_id]
    runs.close()
    says(kernel)
    wait_for(nobody_tells)
    assert len(told) == 1


def test_a_page_that_a_busy_kernel_lets_wait_is_told_of_what_it_has_the_result_of(kernel, told):
    kernel.io_loop = SimpleNamespace(add_callback=lambda callback: None)
    placed = BoundedOutput("placed")
    placed.finish(DONE)
    placed.placed = True
    says(kernel)
    wait_for(nobody_tells)
    assert list(told[0].panels) == [placed.model_id]


def test_of_runs_that_are_over_the_newest_are_told_as_far_as_they_fit(kernel, told, monkeypatch):
    view = Replace(view_of(NUMBERS))
    panels = [BoundedOutput(str(number)) for number in range(6)]
    for panel in panels:
        panel(view)
    for panel in (panels[0], *panels[2:]):
        panel.finish(DONE)
    room_for_one = len(repr(panels[1].get_state()))
    monkeypatch.setattr(latecomers, "MOST_BYTES", 3.5 * room_for_one)
    says(kernel)
    wait_for(nobody_tells)
    assert [panel["command"] for panel in told[0].panels.values()] == ["1", "5", "4"]


def test_those_that_run_are_told_however_large_they_are(kernel, told, monkeypatch):
    monkeypatch.setattr(latecomers, "MOST_BYTES", 1)
    panels = [BoundedOutput() for _ in range(3)]
    says(kernel)
    wait_for(nobody_tells)
    assert set(told[0].panels) == {panel.model_id for panel in panels}


def test_the_boxes_around_a_panel_are_told_and_what_else_is_in_them(kernel, told):
    panel = BoundedOutput()
    panel.layout = Layout(width="50%")
    button = Button()
    box = VBox([button, panel])
    tab = Tab([box])
    elsewhere = VBox([Button()])
    says(kernel)
    wait_for(nobody_tells)
    others = told[0].others
    expected = [button, button.style, button.layout, box, box.layout, tab, tab.layout, panel.layout]
    assert set(others) == {widget.model_id for widget in expected}
    assert elsewhere.model_id not in others
    assert others[panel.layout.model_id]["width"] == "50%"


def test_a_widget_that_fails_is_left_out_and_said(kernel, told, caplog):
    class Failing(VBox):
        fails = traitlets.Any().tag(sync=True, to_json=lambda *_: 1 // 0)

        def open(self):
            self.comm = RecordingComm(target_name="jupyter.widget", data={})

    panel = BoundedOutput()
    _box = Failing([panel])
    with caplog.at_level(logging.WARNING):
        says(kernel)
        wait_for(nobody_tells)
    assert list(told[0].panels) == [panel.model_id]
    assert "may have to wait for Failing" in caplog.text


def test_a_widget_that_does_not_say_what_is_in_it_changes_nothing(kernel, told):
    class Silent(Button):
        @property
        def children(self):
            raise RuntimeError("not now")

    panel, _silent = BoundedOutput(), Silent()
    box = VBox([panel])
    says(kernel)
    wait_for(nobody_tells)
    assert list(told[0].panels) == [panel.model_id]
    assert box.model_id in told[0].others


@pytest.mark.parametrize("lack", ["kernel", "control_thread", "control_handlers"])
def test_without_a_control_channel_there_is_nothing_to_overhear(kernel, told, monkeypatch, lack):
    if lack == "kernel":
        monkeypatch.setattr(IPython, "get_ipython", lambda: None)
    before = dict(kernel.control_handlers)
    if lack != "kernel":
        setattr(kernel, lack, None)
    panel = BoundedOutput()
    panel.close()
    assert kernel.control_handlers in (None, before)


def test_a_handler_is_listened_to_once(kernel, told):
    BoundedOutput()
    first = dict(kernel.control_handlers)
    BoundedOutput()
    assert kernel.control_handlers == first


def test_a_panel_may_be_collected_as_garbage_at_any_moment(kernel, told):
    class Collecting(dict):
        def get(self, *arguments):
            gc.collect()
            return super().get(*arguments)

    kernel.control_handlers = Collecting(kernel.control_handlers)
    panel = BoundedOutput()
    panel.close()
    # In a cycle, as any widget that hears messages.
    del panel
    thread = threading.Thread(target=BoundedOutput, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
