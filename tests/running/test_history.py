from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.running.history import RunNotFoundError, StoredRun, find_run, latest_runs, read_run
from boundcap_jupyter.running.lock import FileLock
from boundcap_jupyter.running.record import RECORD, read_record
from boundcap_jupyter.running.store import LOCK
from tests.running.stored import DAY, SESSION, STARTED, put_run, record, record_file, view_of

OTHER = "20261201-000000-1-000000"


def read(directory: Path) -> StoredRun:
    run = read_run(directory)
    assert run is not None
    return run


def state(run: StoredRun) -> RunState:
    assert run.record is not None
    return run.record.status.state


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


def test_a_run_that_is_over_is_read_as_it_was_left(root: Path) -> None:
    run = read(put_run(root, 7, spill=b"x\n" * 3000))
    assert run.id == f"{SESSION}/0007"
    assert run.record is not None
    assert run.record.view.metadata.spill_path == str(root / SESSION / "0007" / "output.log")
    assert run.record.view.metadata.truncation.total_lines == 3000


def test_a_record_that_says_running_means_so_only_while_it_is_held(root: Path) -> None:
    directory = put_run(root, 1, RunState.RUNNING)
    with FileLock(directory / LOCK):
        assert state(read(directory)) is RunState.RUNNING
    assert state(read(directory)) is RunState.INTERRUPTED


def test_a_run_that_is_quiet_grows_older_all_the_same(root: Path) -> None:
    started = datetime.now(timezone.utc) - timedelta(hours=1)
    directory = put_run(root, 1, RunState.RUNNING, started=started)
    with FileLock(directory / LOCK):
        run = read(directory)
    assert run.record is not None
    assert 3600 <= run.record.status.duration


def test_the_totals_and_the_view_of_an_interrupted_run_are_those_of_its_spill(root: Path) -> None:
    spill = b"".join(b"%d\n" % number for number in range(5000))
    early = view_of(spill[:20_000], Path("/x/output.log"), max_lines=10)
    directory = put_run(root, 1, RunState.RUNNING, spill=spill, view=early)
    before = (directory / RECORD).stat().st_mtime_ns
    run = read(directory)
    assert run.record is not None
    metadata = run.record.view.metadata
    assert run.record.view.text.split()[-1] == "4999"
    assert (metadata.truncation.total_bytes, metadata.truncation.total_lines) == (len(spill), 5000)
    assert (metadata.spill_state, metadata.spill_bytes) == ("incomplete", len(spill))
    assert metadata.spill_path == str(directory / "output.log")
    # Found out once, and no younger for it.
    assert read_record(directory).status.state is RunState.INTERRUPTED
    assert (directory / RECORD).stat().st_mtime_ns == before
    assert read(directory) == run


def test_an_interrupted_run_without_a_spill_keeps_its_view(root: Path) -> None:
    run = read(put_run(root, 1, RunState.RUNNING))
    assert run.record is not None
    assert run.record.view.text == "one\ntwo\n"


def test_an_interrupted_run_is_understood_where_nothing_can_be_written(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = put_run(root, 1, RunState.RUNNING, spill=b"x\n" * 5000)

    def refuse(*_: object) -> None:
        raise PermissionError(30, "Read-only file system")

    monkeypatch.setattr("boundcap_jupyter.running.record.create_private", refuse)
    assert state(read(directory)) is RunState.INTERRUPTED
    assert read_record(directory).status.state is RunState.RUNNING


@pytest.mark.parametrize(
    "plant",
    [
        lambda path: path.write_text("{"),
        lambda path: path.write_bytes(b"\xff" * 1000),
        lambda path: (path.unlink(), path.symlink_to("/etc/passwd")),
        lambda path: (path.unlink(), os.mkfifo(path)),
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: path.unlink(),
    ],
    ids=["json", "bytes", "link", "pipe", "directory", "none"],
)
def test_a_hostile_record_is_shown_as_damaged_with_the_reason(root: Path, plant: object) -> None:
    directory = put_run(root, 1)
    plant(record_file(directory))  # type: ignore[operator]  # a function of one path
    put_run(root, 2)
    runs, total = latest_runs(root)
    assert total == 2
    (damaged,) = [run for run in runs if run.record is None]
    assert (damaged.id, bool(damaged.damage)) == (f"{SESSION}/0001", True)
    assert find_run(root, f"{SESSION}/0001") == damaged


def test_a_record_can_not_lead_out_of_its_directory(root: Path) -> None:
    run = read(put_run(root, 1, id="../../etc/0001", view=view_of(b"x\n" * 3000, Path("/etc/passwd"))))
    assert run.record is not None
    assert run.id == run.record.id == f"{SESSION}/0001"
    assert run.record.view.metadata.spill_path is None


def test_the_newest_come_first_and_no_more_than_asked_for(root: Path) -> None:
    for number, days in ((1, 3), (2, 1), (3, 2)):
        put_run(root, number, age=days * DAY, started=STARTED - timedelta(days=days))
    runs, total = latest_runs(root)
    assert [run.id[-1] for run in runs] == ["2", "3", "1"]
    runs, total = latest_runs(root, 2)
    assert ([run.id[-1] for run in runs], total) == (["2", "3"], 3)
    assert latest_runs(root, 0) == ([], 3)


def test_there_is_nothing_in_a_store_that_is_not_there(root: Path) -> None:
    assert latest_runs(root) == ([], 0)


def test_a_run_is_found_by_any_beginning_that_no_other_shares(root: Path) -> None:
    put_run(root, 1)
    put_run(root, 10)
    put_run(root, 1, session=OTHER)
    assert find_run(root, "20261201").id == f"{OTHER}/0001"
    assert find_run(root, f"{SESSION}/001").id == f"{SESSION}/0010"
    assert find_run(root, f"{SESSION}/0001").id == f"{SESSION}/0001"
    with pytest.raises(RunNotFoundError, match=rf"'2026' is the beginning of 3 runs: {SESSION}/0001, .*"):
        find_run(root, "2026")
    with pytest.raises(RunNotFoundError, match=r"there is no run '\.\./x'"):
        find_run(root, "../x")


def test_what_is_gone_or_has_only_just_begun_is_no_run(root: Path) -> None:
    directory = put_run(root, 1, None)
    with FileLock(directory / LOCK):
        assert read_run(directory) is None
    assert read_run(root / SESSION / "0009") is None


def test_records_of_both_outputs_keep_both(root: Path) -> None:
    directory = put_run(root, 1, RunState.RUNNING, stderr_view=view_of(b"early\n" * 3000, Path("/x/stderr.log")))
    (directory / "stderr.log").write_bytes(b"late\n" * 4000)
    run = read(directory)
    assert run.record is not None
    assert run.record.stderr_view is not None
    assert run.record.stderr_view.metadata.truncation.total_lines == 4000
    assert run.record.stderr_view.metadata.spill_path == str(directory / "stderr.log")
    assert record().stderr_view is None
