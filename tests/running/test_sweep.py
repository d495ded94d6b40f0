from __future__ import annotations

import logging
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.running import sweep as module
from boundcap_jupyter.running.lock import FileLock
from boundcap_jupyter.running.record import RECORD, encoded, read_record, write_record
from boundcap_jupyter.running.store import LOCK, Session
from boundcap_jupyter.running.sweep import Swept, sweep, sweep_in_background
from tests.running.stored import DAY, HOUR, NOW, SESSION, put_run, record, record_file

OTHER = "20261101-000000-1-000000"


def swept(root: Path, *, keep: float = 7 * DAY, most: int = 0, dry_run: bool = False) -> Swept:
    return sweep(root, keep_seconds=keep, store_bytes=most, now=NOW, dry_run=dry_run)


def left(root: Path) -> list[str]:
    return sorted(str(run.relative_to(root)) for session in root.iterdir() for run in session.iterdir())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


def test_a_run_that_is_over_goes_when_its_days_are_over(root: Path) -> None:
    put_run(root, 1, age=7 * DAY + 1, spill=b"x" * 1000)
    put_run(root, 2, age=7 * DAY - 1)
    done = swept(root)
    assert done.removed == [f"{SESSION}/0001"]
    assert done.removed_bytes > 1000
    assert (done.kept, left(root)) == (1, [f"{SESSION}/0002"])


def test_a_session_without_runs_goes_too(root: Path) -> None:
    put_run(root, 1, session=OTHER, age=8 * DAY)
    put_run(root, 2, age=0)
    swept(root)
    assert [path.name for path in root.iterdir()] == [SESSION]


def test_above_its_size_the_store_loses_the_oldest_first_and_no_more_than_it_must(root: Path) -> None:
    for number, age in ((1, 3 * HOUR), (2, 5 * HOUR), (3, HOUR), (4, 4 * HOUR)):
        put_run(root, number, age=age, spill=b"x\n" * 500_000)
    done = swept(root, most=2_500_000)
    assert done.removed == [f"{SESSION}/0002", f"{SESSION}/0004"]
    assert left(root) == [f"{SESSION}/0001", f"{SESSION}/0003"]
    assert done.kept_bytes < 2_500_000
    assert swept(root, most=2_500_000).removed == []


@pytest.mark.parametrize("state", [RunState.RUNNING, RunState.INTERRUPTED, None], ids=str)
def test_what_a_dead_kernel_left_stays_a_day_whatever_the_limits_say(root: Path, state: RunState | None) -> None:
    put_run(root, 1, state, age=DAY - 1, spill=b"x" * 100_000)
    put_run(root, 2, state, age=DAY + 1, spill=b"x" * 100_000)
    assert swept(root, keep=0, most=1).removed == [f"{SESSION}/0002"]
    assert left(root) == [f"{SESSION}/0001"]


def test_a_record_that_can_not_be_read_is_no_proof_that_the_run_ended(root: Path) -> None:
    directory = put_run(root, 1, age=0)
    record_file(directory).write_text("{")
    os.utime(record_file(directory), (NOW - DAY + 1, NOW - DAY + 1))
    assert swept(root, keep=0).removed == []
    os.utime(record_file(directory), (NOW - DAY - 1, NOW - DAY - 1))
    os.utime(directory / LOCK, (NOW - DAY - 1, NOW - DAY - 1))
    assert swept(root, keep=0).removed == [f"{SESSION}/0001"]


@pytest.mark.parametrize("shared", [False, True], ids=["it runs", "it is read"])
def test_what_is_held_is_never_removed_however_old_and_large(root: Path, shared: bool) -> None:
    directory = put_run(root, 1, RunState.RUNNING, age=300 * DAY, spill=b"x" * 100_000)
    with FileLock(directory / LOCK, shared=shared):
        assert swept(root, most=1).removed == []
    assert swept(root, most=1).removed == [f"{SESSION}/0001"]


def test_a_run_that_ends_between_the_look_and_the_lock_is_as_young_as_its_end(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = put_run(root, 1, age=8 * DAY)
    real = module.FileLock

    def lock(path: str) -> FileLock:
        os.utime(directory / RECORD, (NOW, NOW))
        return real(path)

    monkeypatch.setattr(module, "FileLock", lock)
    assert swept(root).removed == []


def test_a_dry_run_says_the_same_and_does_nothing(root: Path) -> None:
    for number in range(1, 5):
        put_run(root, number, age=(5.5 + number) * DAY, spill=b"x")
    (root / OTHER).mkdir()
    before = left(root)
    said = swept(root, dry_run=True)
    assert left(root) == before
    assert (root / OTHER).is_dir()
    assert swept(root) == said
    assert len(said.removed) == 3


def test_only_what_is_ours_is_touched(root: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    put_run(victim, 1, age=900 * DAY)
    root.mkdir()
    (root / "20261101-000000-2-000000").symlink_to(victim / SESSION)
    for name in "notes", "20261101", f"{SESSION}x":
        put_run(root, 1, session=name, age=900 * DAY)
    put_run(root, 1, age=900 * DAY).rename(root / SESSION / "mine")
    nested = put_run(root, 2, age=900 * DAY)
    (nested / "folder").mkdir()
    linked = put_run(root, 3, age=900 * DAY)
    (linked / "output.log").symlink_to(victim / SESSION / "0001" / RECORD)
    (root / SESSION / "0004").symlink_to(victim / SESSION / "0001")
    assert swept(root).removed == [f"{SESSION}/0003"]
    assert (victim / SESSION / "0001" / RECORD).is_file()
    assert sorted(path.name for path in (root / SESSION).iterdir()) == ["0002", "0004", "mine"]


def test_a_run_that_was_never_born_goes_after_its_days(root: Path) -> None:
    put_run(root, 1, None, age=8 * DAY).rename(root / SESSION / ".new-0001")
    assert swept(root).removed == [f"{SESSION}/.new-0001"]


def test_runs_of_a_release_without_locks_go_after_their_days(root: Path) -> None:
    put_run(root, 1, None, age=8 * DAY, spill=b"x", lock=False)
    put_run(root, 2, None, age=6 * DAY, spill=b"x", lock=False)
    assert swept(root).removed == [f"{SESSION}/0001"]


def test_a_store_that_is_not_there_is_swept_at_once(root: Path) -> None:
    assert swept(root) == Swept()


def test_what_can_not_be_removed_stays_and_the_rest_goes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stubborn = put_run(root, 1, age=9 * DAY)
    put_run(root, 2, age=8 * DAY)
    real = os.unlink

    def unlink(path: str) -> None:
        if stubborn in Path(path).parents:
            raise PermissionError(13, "Permission denied", str(path))
        real(path)

    monkeypatch.setattr(os, "unlink", unlink)
    assert swept(root).removed == [f"{SESSION}/0002"]
    assert left(root) == [f"{SESSION}/0001"]


def test_two_that_sweep_at_once_remove_each_run_once(root: Path) -> None:
    for number in range(1, 201):
        put_run(root, number, age=8 * DAY, spill=b"x")
    barrier = threading.Barrier(4)

    def work(_: int) -> Swept:
        barrier.wait()
        return swept(root)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(4)))
    removed = [name for result in results for name in result.removed]
    assert len(removed) == len(set(removed)) == 200
    assert list(root.iterdir()) == []


def test_runs_begin_while_others_sweep(root: Path) -> None:
    stop = threading.Event()
    removed: list[str] = []

    def sweeping() -> int:
        rounds = 0
        while not stop.is_set():
            removed.extend(sweep(root, keep_seconds=0, store_bytes=1, now=module.time.time()).removed)
            rounds += 1
        return rounds

    with ThreadPoolExecutor(2) as pool:
        rounds = [pool.submit(sweeping) for _ in range(2)]
        session = Session(root)
        try:
            for _ in range(200):
                directory, lock = session.make_run_directory()
                # Held from the moment in which it can be seen.
                assert (directory / LOCK).is_file()
                write_record(directory, encoded(record()))
                assert read_record(directory) == record()
                assert lock is not None
                lock.release()
        finally:
            stop.set()
        assert all(future.result() > 0 for future in rounds)
    swept_last = sweep(root, keep_seconds=0, store_bytes=1, now=module.time.time()).removed
    assert len({*removed, *swept_last}) == len(removed) + len(swept_last) == 200


def test_the_settings_decide_in_the_background(
    cache_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert sweep_in_background() is None
    monkeypatch.setenv("BOUNDCAP_DIR", str(tmp_path))
    root = tmp_path / "boundcap"
    old, young = put_run(root, 1), put_run(root, 2)
    now = module.time.time()
    for path, age in ((old, 3 * DAY), (young, DAY)):
        for file in path.iterdir():
            os.utime(file, (now - age, now - age))
    monkeypatch.setenv("BOUNDCAP_KEEP_DAYS", "2")
    thread = sweep_in_background()
    assert thread is not None
    assert thread.daemon
    thread.join()
    assert left(root) == [f"{SESSION}/0002"]


def test_a_wrong_setting_keeps_everything_and_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("BOUNDCAP_DIR", str(tmp_path))
    monkeypatch.setenv("BOUNDCAP_KEEP_DAYS", "soon")
    put_run(tmp_path / "boundcap", 1)
    assert sweep_in_background() is None
    (message,) = caplog.messages
    assert message.startswith("nothing old is removed: BOUNDCAP_KEEP_DAYS must be a number of days")
    assert message.endswith("not 'soon'")
    assert len(left(tmp_path / "boundcap")) == 1


def test_a_defect_in_the_background_is_logged_and_raises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(**_: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setenv("BOUNDCAP_DIR", str(tmp_path))
    put_run(tmp_path / "boundcap", 1)
    monkeypatch.setattr(module, "sweep_as_set", broken)
    with caplog.at_level(logging.ERROR):
        thread = sweep_in_background()
        assert thread is not None
        thread.join()
    assert "a defect" in caplog.text
