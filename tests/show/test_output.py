"""A run in a stock Output: what is assigned, how often, and what it weighs."""

import json

import ipywidgets
import pytest

from boundcap_jupyter import ExecutionError, OutputSink, run
from boundcap_jupyter.core.sink import WeighedSink
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.update import Append, Replace
from tests.show.examples import DONE, view_of


class Output:
    """Stands for an ipywidgets.Output: keeps all that was assigned."""

    def __init__(self):
        self.assigned = []

    def __setattr__(self, name, value):
        if name == "outputs":
            self.assigned.append(value)
        super().__setattr__(name, value)

    @property
    def texts(self):
        return [output["data"]["text/plain"] for (output,) in self.assigned]


@pytest.fixture
def output():
    return Output()


@pytest.fixture
def sink(output):
    return OutputSink(output)


def test_each_update_is_one_assignment_of_the_text_and_a_status_line(sink, output):
    sink(Replace(view_of(b"one\n")))
    sink(Append("two\n", view_of(b"one\ntwo\n").metadata))
    sink.finish(DONE)
    sink.finish(RunStatus(RunState.STOPPED))
    first, second, last = output.texts
    assert first.startswith("one\nrunning · 1 line · 4 B · 0.")
    assert second.startswith("one\ntwo\nrunning · 2 lines · 8 B · 0.")
    assert last == "one\ntwo\nexit 0 · 2 lines · 8 B · 0.4 s"


def test_colours_stay_and_end_with_the_text_and_links_are_their_text(sink, output):
    sink(Replace(view_of(b"\x1b[31mred \x1b]8;;https://example.org/\x1b\\there\x1b]8;;\x1b\\ still")))
    (text,) = output.texts
    body, status = text.split("\n")
    assert body == "\x1b[31mred there still\x1b[0m"
    assert status.startswith("running · ")


def test_who_joins_late_starts_with_the_next_replace(sink, output):
    sink(Append("lost\n", view_of(b"lost\n").metadata))
    assert output.assigned == []
    assert sink.last_bytes == 0


def test_a_standard_error_that_is_kept_apart_stands_below(sink, output):
    sink(Replace(view_of(b"out\n")))
    sink.take_stderr(Replace(view_of(b"err\n")))
    sink.finish(DONE)
    assert (
        output.texts[-1] == "[stdout]\nout\n[stderr]\nerr\nexit 0 · stdout: 1 line, 4 B · stderr: 1 line, 4 B · 0.4 s"
    )


def test_what_an_update_weighs_is_all_that_is_sent(sink, output):
    assert isinstance(sink, WeighedSink)
    whole = view_of("ä\n".encode() * 500)
    sink(Replace(whole))
    assert sink.last_bytes >= len(json.dumps(whole.text, ensure_ascii=False).encode())
    before = sink.last_bytes
    sink(Append("x\n", whole.metadata))
    # A newline is two in JSON.
    assert sink.last_bytes == before + 3


def test_a_run_is_shown_to_its_end_in_a_real_output():
    output = ipywidgets.Output()
    result = run("seq 3000; echo why >&2; exit 3", on_update=OutputSink(output))
    (shown,) = output.outputs
    text = shown["data"]["text/plain"]
    assert text.startswith(result.text)
    assert text.removeprefix(result.text).startswith("failed · exit 3 · 3,001 lines · 13,897 B · ")
    assert shown["output_type"] == "display_data"


def test_a_run_that_could_not_start_says_so():
    output = ipywidgets.Output()
    with pytest.raises(ExecutionError):
        run(["/nonexistent/program"], on_update=OutputSink(output))
    assert output.outputs[0]["data"]["text/plain"].startswith("failed: cannot start '/nonexistent/program': ")
