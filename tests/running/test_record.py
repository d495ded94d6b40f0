from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.running import record as module
from boundcap_jupyter.running.record import (
    MAX_COMMAND,
    RECORD,
    RecordError,
    encoded,
    read_record,
    recorded_command,
    with_spill,
    write_record,
)
from tests.running.stored import record, view_of

GOOD: dict[str, Any] = json.loads(encoded(record()))


def put(directory: Path, content: object) -> Path:
    (directory / RECORD).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return directory


@pytest.mark.parametrize(
    "known",
    [
        record(),
        record(RunState.RUNNING, command=("make", "-j8", "")),
        record(
            command="x" * 10, command_cut=True, retain="both", view=view_of(b"a\n" * 50, max_lines=4, retain="both")
        ),
        record(stderr_view=view_of(b"\x1b[31mno\x1b[0m\n"), encoding="koi8-r"),
        record(status=RunStatus(RunState.SIGNALED, 137, "SIGKILL", 0.25, "why")),
        record(command=("cat", os.fsdecode(b"\xff.txt")), cwd=os.fsdecode(b"/\xff")),
        record(view=view_of("ü𝄞\t\x1b]8;;https://x.y/\x1b\\link\x1b]8;;\x1b\\\n".encode())),
    ],
    ids=range(7),
)
def test_a_record_is_read_as_it_was_written(tmp_path: Path, known: module.Record) -> None:
    write_record(tmp_path, encoded(known))
    assert read_record(tmp_path) == known
    assert [path.name for path in tmp_path.iterdir()] == [RECORD]
    assert (tmp_path / RECORD).stat().st_mode & 0o777 == 0o600


def test_a_record_says_in_json_what_became_of_the_run() -> None:
    assert GOOD["version"] == 1
    assert GOOD["started"] == "2026-11-30T10:11:12.345678+00:00"
    assert GOOD["status"] == {
        "state": "exited",
        "exitCode": 0,
        "signal": None,
        "duration": 1.5,
        "detail": "",
        "cpuTime": None,
        "peakMemory": None,
        "pipeHeld": 0,
    }
    assert GOOD["view"]["text"] == "one\ntwo\n"
    assert GOOD["view"]["metadata"]["truncation"]["totalBytes"] == 8


def test_a_record_replaces_the_one_before_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_record(tmp_path, encoded(record()))
    real = os.write

    def full(fd: int, data: memoryview) -> int:
        if len(data) < 200:
            raise OSError(28, "No space left on device")
        return real(fd, data[:100])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        write_record(tmp_path, encoded(record(cwd="/elsewhere")))
    assert read_record(tmp_path).cwd == "/src"
    assert [path.name for path in tmp_path.iterdir()] == [RECORD]


def test_a_link_in_place_of_the_record_is_replaced_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / RECORD).symlink_to(victim)
    with pytest.raises(RecordError, match="cannot be read"):
        read_record(tmp_path)
    write_record(tmp_path, encoded(record()))
    assert victim.read_text() == "precious"
    assert read_record(tmp_path) == record()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"9" * 10_000, "not JSON|must be an object"),
        ([], "must be an object"),
        ({}, "version"),
        ({**GOOD, "version": 2}, "another release"),
        ({**GOOD, "version": True}, "another release"),
        ({**GOOD, "command": []}, "record.command"),
        ({**GOOD, "command": ["x", 1]}, "record.command"),
        ({**GOOD, "cwd": None}, "record.cwd"),
        ({**GOOD, "started": "yesterday"}, "record.started"),
        ({**GOOD, "started": "2026-11-30T10:11:12"}, "with its zone"),
        ({**GOOD, "started": "0001-01-01T00:00:00+14:00"}, "record.started"),
        ({**GOOD, "retain": "middle"}, "record.retain"),
        ({**GOOD, "encoding": "utf-16"}, "utf-16"),
        ({**GOOD, "status": {**GOOD["status"], "state": "done"}}, "record.status.state"),
        ({**GOOD, "status": {**GOOD["status"], "duration": -1}}, "record.status.duration"),
        ({**GOOD, "view": {**GOOD["view"], "text": "\x1b]0;title\x07"}}, "control characters"),
        ({**GOOD, "view": {**GOOD["view"], "text": "\x9b31m"}}, "control characters"),
        ({**GOOD, "view": {**GOOD["view"], "text": "\ud800"}}, "surrogates"),
        ({**GOOD, "view": {**GOOD["view"], "extra": 1}}, "no field 'extra'"),
        ({**GOOD, "stderrView": 1}, "record.stderrView"),
    ],
    ids=range(24),
)
def test_what_is_no_record_is_refused_with_the_reason(tmp_path: Path, content: object, reason: str) -> None:
    with pytest.raises(RecordError, match=reason):
        read_record(put(tmp_path, content))


def test_a_record_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 1000)
    with pytest.raises(RecordError, match="too large: 1,001 bytes"):
        read_record(put(tmp_path, b" " * 1001))


def test_neither_a_pipe_nor_a_directory_is_a_record(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / RECORD)
    with pytest.raises(RecordError, match="is not a file"):
        read_record(tmp_path)
    (tmp_path / RECORD).unlink()
    (tmp_path / RECORD).mkdir()
    with pytest.raises(RecordError, match="is not a file"):
        read_record(tmp_path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(sorted(GOOD)), json_values)
def test_whatever_stands_in_a_field_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, value: object
) -> None:
    directory = put(tmp_path_factory.mktemp("run"), {**GOOD, name: value})
    try:
        found = read_record(directory)
    except RecordError:
        return
    assert json.loads(encoded(found))["version"] == 1


def test_a_long_command_is_recorded_by_its_beginning() -> None:
    assert recorded_command("x" * MAX_COMMAND) == ("x" * MAX_COMMAND, False)
    assert recorded_command("x" * 3_000_000) == ("x" * MAX_COMMAND, True)
    words, cut = recorded_command(["ab"] * 100_000)
    assert cut
    assert set(words[:-1]) == {"ab"}
    assert len("".join(words)) <= MAX_COMMAND
    assert recorded_command(["x", Path("/y"), ""]) == (("x", "/y", ""), False)


def test_a_view_that_no_record_could_hold_is_left_out_and_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 4096)
    write_record(tmp_path, encoded(record(view=view_of(b"x" * 50 + b"\n" * 3 + b"y" * 10_000))))
    view = read_record(tmp_path).view
    assert view.text == ""
    assert view.metadata.omitted_bytes == view.metadata.truncation.total_bytes == 10_053
    assert view.metadata.truncation.truncated


def test_the_spill_of_a_record_is_in_its_own_directory_or_nowhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not yours")
    run = tmp_path / "run"
    run.mkdir()
    metadata = view_of(b"x\n", secret).metadata
    gone = with_spill(metadata, run)
    assert (gone.spill_path, gone.spill_state, gone.spill_bytes) == (None, "none", 0)
    (run / "secret").symlink_to(secret)
    assert with_spill(metadata, run) == gone
    assert with_spill(replace(metadata, spill_path="a\0b"), run) == gone
    (run / "output.log").write_text("x\n")
    moved = with_spill(replace(metadata, spill_path="/old/place/output.log"), run)
    assert (moved.spill_path, moved.spill_bytes) == (str(run / "output.log"), 2)
