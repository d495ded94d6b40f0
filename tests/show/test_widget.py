import gc
import json
import logging
import sys
import threading
import time
import weakref
from pathlib import Path

import comm
import pytest
from comm.base_comm import BaseComm
from ipywidgets.widgets.widget import _instances

from boundcap_jupyter.core.publisher import AdaptivePublisher
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.update import Append, Metadata, Replace, apply_update
from boundcap_jupyter.show import bundle, widget, wire
from boundcap_jupyter.show.bundle import BundleMissingError
from boundcap_jupyter.show.pager import BURST, RATE
from boundcap_jupyter.show.widget import BoundedOutput
from tests.show.examples import DONE, NUMBERS, spilled, view_of, view_with

GOLDEN = Path(__file__).parents[1] / "golden" / "streams.json"


class RecordingComm(BaseComm):
    """A comm to a page that remembers what it got."""

    def __init__(self, *args, **kwargs):
        self.published = []
        self.buffers = []
        super().__init__(*args, **kwargs)

    def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
        self.published.append((msg_type, json.loads(json.dumps(data))))
        if buffers:
            self.buffers.append([bytes(buffer) for buffer in buffers])

    def customs(self):
        return [data["content"] for _, data in self.published if data.get("method") == "custom"]

    def receives(self, content):
        self.handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})


@pytest.fixture(autouse=True)
def page(monkeypatch):
    monkeypatch.setattr(comm, "create_comm", RecordingComm)
    monkeypatch.setattr(widget, "read_bundle", lambda name: f"/* {name} */")


def _replace(data):
    return Replace(view_of(data))


def test_the_state_of_a_new_widget_names_the_run_and_carries_the_panel():
    panel = BoundedOutput("make", foreground=True, retain="head")
    (_, opening), *rest = panel.comm.published
    state = opening["state"]
    assert rest == []
    assert (state["command"], state["foreground"], state["retain"]) == ("make", True, "head")
    assert (state["_esm"], state["_css"]) == ("/* panel.js */", "/* panel.css */")
    assert state["snapshot"]["seq"] == 0
    assert state["snapshot"]["output"] is state["snapshot"]["stderr"] is None
    assert state["snapshot"]["status"]["state"] == "running"


def test_updates_travel_as_numbered_messages_and_nothing_else_is_sent():
    panel = BoundedOutput()
    update = _replace(b"one\n")
    more = Append("two\n", view_of(b"one\ntwo\n").metadata)
    panel(update)
    panel(more)
    assert panel.comm.customs() == [
        wire.update_message(1, "output", update),
        wire.update_message(2, "output", more),
    ]
    assert len(panel.comm.published) == 3


@pytest.mark.parametrize("case", json.loads(GOLDEN.read_text("utf-8")), ids=lambda case: case["name"])
def test_messages_and_snapshot_are_those_that_the_panel_is_tested_with(case):
    panel = BoundedOutput()
    takers = {"output": panel, "stderr": panel.take_stderr}
    *updates, end = case["messages"]
    for message in updates:
        takers[message["stream"]](wire.update_from_wire(message["update"]))
    panel.finish(wire.status_from_wire(end["status"]))
    assert panel.comm.customs() == case["messages"]
    assert panel.get_state("snapshot")["snapshot"] == case["snapshot"]


def test_a_standard_error_that_is_kept_apart_has_traits_of_its_own(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    panel = BoundedOutput()
    panel(_replace(b"one\n"))
    panel.take_stderr(Replace(spilled(view_of(NUMBERS), "/home/ada/stderr.log")))
    assert (panel.total_bytes, panel.total_lines, panel.spill_path) == (4, 1, None)
    figures = (panel.stderr_total_bytes, panel.stderr_total_lines, panel.stderr_spill_path)
    assert figures == (13893, 3000, "/home/ada/stderr.log")
    snapshot = panel.get_state("snapshot")["snapshot"]
    assert snapshot["stderr"]["metadata"]["spillPath"] == "~/stderr.log"


def test_each_stream_starts_with_its_own_replace():
    panel = BoundedOutput()
    panel(_replace(b"one\n"))
    panel.take_stderr(Append("lost\n", view_of(b"lost\n").metadata))
    panel.take_stderr(_replace(b"lost\nfound\n"))
    assert [(message["seq"], message["stream"]) for message in panel.comm.customs()] == [(1, "output"), (2, "stderr")]


def test_a_page_that_folds_the_messages_or_starts_from_any_snapshot_ends_with_the_same_view():
    panel = BoundedOutput()
    lines, publisher = [], None
    publisher = AdaptivePublisher(lambda: view_of(b"".join(lines), max_lines=20))
    snapshots = []
    for second in range(60):
        lines.append(b"\x1b[31mline %d \xf0\x9f\x8e\x89\x1b[0m\n" % second)
        publisher.mark()
        if update := publisher.poll(second):
            panel(update)
        snapshots.append(panel.get_state("snapshot")["snapshot"])
    panel(publisher.finish(61))
    messages = panel.comm.customs()
    for snapshot in snapshots:
        view = wire.view_from_wire(snapshot["output"])
        for message in messages[snapshot["seq"] :]:
            view = apply_update(view, wire.update_from_wire(message["update"]))
        assert view == view_of(b"".join(lines), max_lines=20)


def test_a_snapshot_holds_the_updates_up_to_its_number_also_between_threads():
    panel = BoundedOutput()
    panel(Replace(view_with("")))
    torn = []
    over = threading.Event()

    def read():
        while not over.is_set():
            snapshot = panel.get_state("snapshot")["snapshot"]
            if len(snapshot["output"]["text"]) != snapshot["seq"] - 1:
                torn.append(snapshot)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(500):
        panel(Append("x", view_with("").metadata))
    over.set()
    reader.join()
    assert torn == []
    assert [message["seq"] for message in panel.comm.customs()] == list(range(1, 502))


def test_who_joins_late_starts_with_the_next_replace():
    panel = BoundedOutput()
    panel(Append("lost\n", view_of(b"lost\n").metadata))
    assert panel.comm.customs() == []
    panel(_replace(b"lost\nfound\n"))
    assert [message["seq"] for message in panel.comm.customs()] == [1]


def test_traits_tell_of_the_run_and_are_not_sent():
    panel = BoundedOutput()
    seen = []
    panel.observe(lambda change: seen.append((change.name, change.new)), ["total_lines", "total_bytes", "state"])
    panel(Replace(spilled(view_of(NUMBERS), "/x/output.log")))
    assert (panel.total_lines, panel.total_bytes, panel.spill_path) == (3000, 13893, "/x/output.log")
    assert (panel.state, panel.exit_code) == (RunState.RUNNING, None)
    panel.finish(RunStatus(RunState.SIGNALED, 143, "SIGTERM", 2.5))
    assert (panel.state, panel.exit_code, panel.signal, panel.duration) == ("signaled", 143, "SIGTERM", 2.5)
    assert seen == [("total_lines", 3000), ("total_bytes", 13893), ("state", "signaled")]
    assert not {"state", "exit_code", "signal", "duration", "total_bytes"} & panel.get_state().keys()


def test_who_observes_the_state_finds_the_rest_in_place():
    panel = BoundedOutput()
    seen = []
    panel.observe(lambda _: seen.append((panel.exit_code, panel.duration)), "state")
    panel.finish(RunStatus(RunState.EXITED, 3, duration=1.5))
    assert seen == [(3, 1.5)]


def test_only_the_run_sets_the_traits():
    panel = BoundedOutput()
    with pytest.raises(Exception, match="read-only"):
        panel.total_bytes = 5


def test_the_end_is_told_once_and_time_stands_still():
    panel = BoundedOutput()
    panel(_replace(b"one\n"))
    panel.finish(DONE)
    panel.finish(RunStatus(RunState.STOPPED))
    assert panel.comm.customs()[1:] == [wire.status_message(DONE)]
    assert panel.state == "exited"
    first, second = (panel.get_state("snapshot")["snapshot"] for _ in range(2))
    assert first == second
    assert first["status"]["duration"] == DONE.duration


def test_the_page_gets_the_path_without_the_users_name(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    panel = BoundedOutput()
    view = spilled(view_of(NUMBERS), "/home/ada/x/output.log")
    panel(Replace(view))
    panel(Append("", view.metadata))
    first, second = panel.comm.customs()
    paths = [
        first["update"]["output"]["metadata"]["spillPath"],
        second["update"]["metadata"]["spillPath"],
        panel.get_state("snapshot")["snapshot"]["output"]["metadata"]["spillPath"],
    ]
    assert paths == ["~/x/output.log"] * 3
    assert panel.spill_path == "/home/ada/x/output.log"


def test_a_stop_is_acknowledged_before_it_is_done():
    panel = BoundedOutput()
    seen = []
    panel.on_stop(lambda: seen.append(list(panel.comm.customs())))
    panel.comm.receives({"type": "stop"})
    assert seen == [[wire.STOPPING]]


@pytest.mark.parametrize("message", [{"type": "halt"}, {"type": "stop", "pid": 1}, "stop", None, 5, [], {}], ids=repr)
def test_any_other_message_of_a_page_is_ignored_with_a_record(message, caplog):
    panel = BoundedOutput()
    panel.on_stop(lambda: pytest.fail("stopped"))
    with caplog.at_level(logging.DEBUG, logger=widget.__name__):
        panel.comm.receives(message)
    assert panel.comm.customs() == []
    assert "ignored a message" in caplog.text


def test_a_stop_that_comes_after_the_end_is_told_the_end():
    panel = BoundedOutput()
    panel.on_stop(lambda: pytest.fail("stopped"))
    panel.finish(DONE)
    panel.comm.receives({"type": "stop"})
    assert panel.comm.customs() == [wire.status_message(DONE)] * 2


class Source:
    encoding = "utf-8"
    size = len(NUMBERS)

    def read(self, offset, length):
        return NUMBERS[offset : offset + length]


def test_a_panel_reads_the_complete_output_of_its_run_and_nothing_else():
    panel = BoundedOutput()
    request = {"type": "page", "id": 5, "stream": "output", "offset": 2, "length": 4, "base64": False}
    panel.comm.receives(request)
    panel.read_from({"output": Source()})
    panel.comm.receives(request)
    panel.comm.receives({**request, "path": "/etc/passwd"})
    panel.comm.receives({"type": "older", "id": 6, "stream": "output", "before": 4})
    kinds = [(content["type"], content["id"]) for content in panel.comm.customs()]
    assert kinds == [("refused", 5), ("page", 5), ("refused", 5), ("older", 6)]
    assert panel.comm.buffers == [[b"2\n3\n"]]
    assert panel.comm.customs()[3]["text"] == "1\n2\n"


def test_a_request_without_an_id_is_ignored_with_a_record(caplog):
    panel = BoundedOutput()
    panel.on_stop(lambda: pytest.fail("stopped"))
    with caplog.at_level(logging.DEBUG, logger=widget.__name__):
        panel.comm.receives({"type": "page", "offset": 0})
    assert panel.comm.customs() == []
    assert "ignored a message" in caplog.text


def test_a_page_that_asks_gets_what_it_missed_and_a_short_answer_when_that_is_nothing():
    panel = BoundedOutput()
    panel(_replace(b"one\n"))
    panel(_replace(b"one\ntwo\n"))
    sent = len(panel.comm.customs())
    for seq, running in [(2, True), (1, True), (2, False)]:
        panel.comm.receives({"type": "check", "seq": seq, "running": running})
    current, lost_update, wrong_end = panel.comm.customs()[sent:]
    assert current == {"type": "current"}
    for answer in (lost_update, wrong_end):
        assert (answer["type"], answer["snapshot"]["seq"]) == ("snapshot", 2)
        assert answer["snapshot"]["output"]["text"] == "one\ntwo\n"
    panel.finish(DONE)
    panel.comm.receives({"type": "check", "seq": 2, "running": True})
    assert panel.comm.customs()[-1]["snapshot"]["status"] == wire.status_to_wire(DONE)
    panel.comm.receives({"type": "check", "seq": 2, "running": False})
    assert panel.comm.customs()[-1] == {"type": "current"}


def test_questions_that_come_without_end_are_answered_at_the_pace_of_requests():
    panel = BoundedOutput()
    panel(_replace(b"one\n"))
    sent = len(panel.comm.customs())
    began = time.monotonic()
    for _ in range(5000):
        panel.comm.receives({"type": "check", "seq": 0, "running": True})
    answers = len(panel.comm.customs()) - sent
    assert BURST <= answers <= BURST + RATE * (time.monotonic() - began)


@pytest.mark.parametrize("wrong", [{"seq": "2"}, {"seq": True}, {"running": 1}, {"more": 1}], ids=repr)
def test_a_question_that_is_none_is_ignored(wrong):
    panel = BoundedOutput()
    panel.comm.receives({"type": "check", "seq": 2, "running": True, **wrong})
    assert panel.comm.customs() == []


def test_a_page_may_not_set_what_ran_or_what_is_shown():
    panel = BoundedOutput("make")
    state = {"command": "rm", "foreground": True, "_esm": "evil()", "snapshot": {}, "tooltip": "mine"}
    panel.comm.handle_msg({"content": {"data": {"method": "update", "state": state}}, "buffers": []})
    assert (panel.command, panel.foreground, panel._esm, panel.tooltip) == ("make", False, "/* panel.js */", "mine")


def test_stop_is_heard_while_the_kernel_is_busy(monkeypatch):
    class RoutingComm(RecordingComm):
        """As in ipykernel 7.4."""

        def _reply_subshell_for(self, data, default):
            return "the one that is busy"

    monkeypatch.setattr(comm, "create_comm", RoutingComm)
    assert BoundedOutput().comm._reply_subshell_for is None


def test_rows_are_not_kept():
    panel = BoundedOutput()
    panel(_replace(NUMBERS))
    assert panel._views["output"].rows is None


def test_a_widget_without_its_bundle_says_how_to_build_it(monkeypatch, tmp_path):
    monkeypatch.setattr(widget, "read_bundle", bundle.read_bundle)
    monkeypatch.setattr(bundle, "files", lambda _: tmp_path)
    bundle.read_bundle.cache_clear()
    try:
        with pytest.raises(BundleMissingError, match=r"panel\.js is missing: .*`pip install \.`.*`npm ci && npm run"):
            BoundedOutput()
    finally:
        bundle.read_bundle.cache_clear()


def test_a_page_that_missed_the_end_gets_the_result_by_the_name_of_its_model():
    panel = BoundedOutput()
    panel.comm.receives({"type": "result", "id": 5})
    panel.finish(DONE, lambda: {"text/plain": "done"})
    panel.comm.receives({"type": "result", "id": 6})
    refused, _, result = panel.comm.customs()
    assert (refused["type"], refused["id"]) == ("refused", 5)
    assert result == {"type": "result", "id": 6, "model": panel.model_id, "bundle": {"text/plain": "done"}}


def test_a_snapshot_tells_how_long_there_was_no_output(monkeypatch):
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)

    def quiet() -> float:
        return panel.get_state("snapshot")["snapshot"]["quiet"]

    panel = BoundedOutput()
    now = 1003.0
    panel(_replace(b""))
    assert quiet() == 3.0
    panel(_replace(b"one\n"))
    now = 1010.0
    # The totals are what they were: a spill was made, say.
    panel(Metadata(view_of(b"one\n").metadata))
    assert quiet() == 7.0
    panel.finish(DONE)
    assert quiet() == 0.0


def test_elapsed_time_counts_from_the_start_of_the_run():
    panel = BoundedOutput(started=time.monotonic() - 100)
    assert panel.get_state("snapshot")["snapshot"]["status"]["duration"] >= 100


def test_each_run_has_a_token_that_a_page_knows_and_cannot_set():
    first, second = BoundedOutput(), BoundedOutput()
    assert first.token != second.token
    assert len(first.token) == 16
    (_, opening), *_ = first.comm.published
    assert opening["state"]["token"] == first.token
    token = first.token
    first.comm.handle_msg({"content": {"data": {"method": "update", "state": {"token": "0" * 16}}}, "buffers": []})
    assert first.token == token


def test_a_page_says_that_it_has_the_result_but_not_before_the_end():
    panel = BoundedOutput()
    panel.comm.receives({"type": "placed"})
    assert not panel.placed
    panel.finish(DONE)
    assert not panel.placed
    panel.comm.receives({"type": "placed", "more": 1})
    assert not panel.placed
    panel.comm.receives({"type": "placed"})
    assert panel.placed


def test_a_request_is_noted_as_use():
    panel = BoundedOutput()
    panel.finish(DONE)
    used = panel.used
    panel.comm.receives({"type": "check", "seq": 0, "running": False})
    assert panel.used == used
    panel.comm.receives({"type": "result", "id": 5})
    assert panel.used > used


def test_a_panel_whose_run_is_over_lets_go_of_the_run():
    class Run:
        def stop(self):
            pytest.fail("stopped")

    run = Run()
    gone = weakref.ref(run)
    panel = BoundedOutput()
    panel.on_stop(run.stop)
    panel.finish(DONE)
    del run
    gc.collect()
    assert gone() is None


def test_a_retired_panel_is_closed_with_all_that_is_its_own():
    known = len(_instances)
    panel = BoundedOutput()
    panel(_replace(b"one\n"))
    panel.finish(DONE, lambda: {"text/plain": "one"})
    assert panel.held_bytes() == 2 * (sys.getsizeof("one\n") + sys.getsizeof(""))
    comms = panel.comm, panel.layout.comm
    panel.retire()
    assert panel.comm is panel.layout.comm is None
    assert [opened.published[-1][0] for opened in comms] == ["comm_close", "comm_close"]
    assert panel.held_bytes() == 0
    assert len(_instances) == known
    # What comes too late from the run or a page does no harm.
    panel(_replace(b"two\n"))
    panel.finish(DONE)
    panel.stopping()
