import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.update import Append, Metadata, Replace, Rewrite, Slide
from boundcap_jupyter.show import wire
from tests.show.examples import DONE, NUMBERS, spilled, view_of, view_with

METADATA = view_of(b"one\n").metadata
UPDATES = [
    Replace(view_with("two\n", head="one\n")),
    Append("a", METADATA),
    Slide(3, "b", METADATA),
    Rewrite(3, 4, "c", METADATA),
    Metadata(METADATA),
]
GOLDEN = Path(__file__).parents[1] / "golden" / "updates.json"


@pytest.mark.parametrize("update", UPDATES, ids=lambda update: update.kind)
def test_an_update_survives_the_journey_through_json(update):
    assert wire.update_from_wire(json.loads(json.dumps(wire.update_to_wire(update)))) == update


@pytest.mark.parametrize(
    "status",
    [DONE, RunStatus(RunState.RUNNING), RunStatus(RunState.SIGNALED, 143, "SIGTERM", 2.5, "because", 1.5, 4096, 2)],
    ids=lambda status: status.state.value,
)
def test_a_status_survives_the_journey_through_json(status):
    again = wire.status_from_wire(json.loads(json.dumps(wire.status_to_wire(status))))
    assert again == status
    assert isinstance(again.state, RunState)


def test_a_view_leaves_its_rows_behind():
    view = view_of(NUMBERS, max_lines=10)
    assert view.rows is not None
    again = wire.view_from_wire(wire.view_to_wire(view))
    assert again == view
    assert again.rows is None


def test_keys_are_those_of_the_contract():
    assert {update.kind: list(wire.update_to_wire(update)) for update in UPDATES} == {
        "replace": ["kind", "output"],
        "append": ["kind", "text", "metadata"],
        "slide": ["kind", "drop", "text", "metadata"],
        "rewrite": ["kind", "drop", "cut", "text", "metadata"],
        "metadata": ["kind", "metadata"],
    }
    view = wire.view_to_wire(UPDATES[0].output)
    assert list(view) == ["text", "metadata", "head"]
    assert list(view["metadata"]) == [
        "truncation",
        "lastLineBytes",
        "omittedBytes",
        "omittedLines",
        "firstLinePartial",
        "leadSgr",
        "binary",
        "spillPath",
        "spillState",
        "spillBytes",
    ]
    assert list(view["metadata"]["truncation"]) == [
        "truncated",
        "truncatedBy",
        "totalLines",
        "totalBytes",
        "outputLines",
        "outputBytes",
        "lastLinePartial",
        "firstLineExceedsLimit",
        "maxLines",
        "maxBytes",
    ]
    assert list(wire.status_to_wire(DONE)) == [
        "state",
        "exitCode",
        "signal",
        "duration",
        "detail",
        "cpuTime",
        "peakMemory",
        "pipeHeld",
    ]


def test_messages_are_those_of_the_contract():
    update = UPDATES[1]
    for stream in ("output", "stderr"):
        assert wire.update_message(7, stream, update) == {
            "type": "update",
            "seq": 7,
            "stream": stream,
            "update": wire.update_to_wire(update),
        }
    assert wire.status_message(DONE) == {"type": "status", "status": wire.status_to_wire(DONE)}
    assert wire.STOPPING == {"type": "stopping"}


def test_the_cases_that_both_languages_fold_are_read():
    cases = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert cases
    for case in cases:
        view = wire.view_from_wire(case["view"])
        assert wire.view_to_wire(view) == case["view"]
        if "result" in case:
            update = wire.update_from_wire(case["update"])
            assert wire.update_to_wire(update) == case["update"]


def _set(path, value):
    """A replace on the wire with one value changed."""
    data = wire.update_to_wire(Replace(spilled(view_of(b"one\n"), "/x/output.log")))
    *way, last = path.split(".")
    place = data
    for key in way:
        place = place[key]
    place[last] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("kind", "rewind", "update.kind must be 'replace', 'append', 'slide', 'rewrite' or 'metadata', not 'rewind'"),
        ("kind", ["append"], "update.kind"),
        ("output", None, "update.output must be an object, not None"),
        ("output.text", 5, "update.output.text must be text, not 5"),
        ("output.extra", 5, "update.output has no field 'extra'"),
        ("output.metadata.binary", 1, "update.output.metadata.binary must be true or false, not 1"),
        ("output.metadata.spillPath", 1, "update.output.metadata.spillPath must be text, not 1"),
        ("output.metadata.spillState", "lost", "spillState must be 'none', 'open', 'complete' or 'incomplete', not"),
        ("output.metadata.spillBytes", -1, "spillBytes must be an integer of at least 0, not -1"),
        ("output.metadata.truncation.totalLines", True, "truncation.totalLines must be an integer of at least 0"),
        ("output.metadata.truncation.totalLines", 1.0, "truncation.totalLines must be an integer of at least 0"),
        ("output.metadata.truncation.truncatedBy", "time", "truncatedBy must be 'lines' or 'bytes', not 'time'"),
    ],
)
def test_what_is_wrong_is_named_with_its_value(path, value, words):
    with pytest.raises(ValueError, match=r"^update") as caught:
        wire.update_from_wire(_set(path, value))
    assert words in str(caught.value)


def test_what_is_missing_is_named():
    data = wire.status_to_wire(DONE)
    del data["duration"]
    with pytest.raises(ValueError, match=r"^status\.duration is missing$"):
        wire.status_from_wire(data)


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), 10**400, True, "1"], ids=repr)
def test_a_duration_is_a_number_of_seconds(seconds):
    with pytest.raises(ValueError, match=r"status\.duration must be a number of seconds, not "):
        wire.status_from_wire({**wire.status_to_wire(DONE), "duration": seconds})


def test_a_value_that_is_wrong_is_not_quoted_at_length():
    with pytest.raises(ValueError, match="metadata must be an object") as caught:
        wire.metadata_from_wire("x" * 100_000)
    assert len(str(caught.value)) < 200


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_anything_else_is_refused_with_a_value_error(data):
    for read in (wire.update_from_wire, wire.view_from_wire, wire.metadata_from_wire, wire.status_from_wire):
        with pytest.raises(ValueError, match=r"^(update|view|metadata|status)"):
            read(data)
    assert not wire.asks_to_stop(data)


def test_only_the_one_message_asks_to_stop():
    assert wire.asks_to_stop({"type": "stop"})
    for message in ({"type": "stop", "pid": 1}, {"type": "STOP"}, {"type": ["stop"]}, "stop", None, {}):
        assert not wire.asks_to_stop(message)
