from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.running.environment import ExecOptions
from boundcap_jupyter.running.record import read_record
from boundcap_jupyter.running.recording import INTERVAL, Recording
from boundcap_jupyter.running.store import RunDirectory, Session
from tests.running.stored import view_of

DONE = RunStatus(RunState.EXITED, 0, duration=9.0)
T = 1000.0


class Run:
    """A run that started at T, and its record."""

    def __init__(self, session: Session) -> None:
        self.view: OutputView = view_of(b"first\n")
        self.directory = RunDirectory(session)
        self.recording = Recording(self.directory, "make", "/src", ExecOptions(), T)
        self.recording.views = [lambda: self.view]

    @property
    def text(self) -> str:
        return read_record(self.directory.make()).view.text

    def print(self, data: bytes) -> None:
        self.view = view_of(data)
        self.recording.mark()


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path / "store")


@pytest.fixture
def run(session: Session) -> Iterator[Run]:
    run = Run(session)
    yield run
    run.recording.release()


def test_a_short_small_run_leaves_nothing(run: Run, tmp_path: Path) -> None:
    run.recording.write(T)
    run.print(b"x")
    run.recording.write(T + 1.99)
    run.recording.finish(DONE, T + 1.99)
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_recorded_when_it_is_two_seconds_old_printing_or_not(run: Run) -> None:
    assert run.recording.due == T + 2
    run.recording.write(T + 2)
    found = read_record(run.directory.make())
    assert found.status == RunStatus(RunState.RUNNING, duration=2.0)
    assert (found.command, found.cwd, found.view.text) == ("make", "/src", "first\n")
    assert found.id == "/".join(run.directory.make().parts[-2:])
    # Nothing new, nothing to write.
    assert run.recording.due is None


def test_a_run_with_a_file_is_recorded_at_once(run: Run) -> None:
    run.directory.make()
    assert run.recording.due == float("-inf")
    run.recording.write(T + 0.1)
    assert run.text == "first\n"


def test_output_is_recorded_at_most_every_two_seconds_and_no_later(run: Run) -> None:
    run.recording.write(T + 2)
    run.print(b"second\n")
    assert run.recording.due == T + 2 + INTERVAL
    run.recording.write(T + 3.9)
    assert run.text == "first\n"
    run.recording.write(T + 4)
    assert run.text == "second\n"


def test_the_end_is_recorded_at_once(run: Run) -> None:
    run.recording.write(T + 2)
    run.print(b"last\n")
    run.recording.finish(DONE, T + 2.1)
    assert run.text == "last\n"
    assert read_record(run.directory.make()).status == DONE


def test_a_run_that_was_never_asked_for_its_record_has_one_at_its_end(run: Run) -> None:
    run.recording.finish(DONE, T + 2)
    assert read_record(run.directory.make()).status == DONE


def test_both_outputs_are_recorded_together(session: Session) -> None:
    run = Run(session)
    run.recording.views = [lambda: view_of(b"out\n"), lambda: view_of(b"err\n")]
    run.recording.finish(DONE, T + 5)
    run.recording.release()
    found = read_record(run.directory.make())
    assert found.stderr_view is not None
    assert (found.view.text, found.stderr_view.text) == ("out\n", "err\n")


def test_views_of_many_megabytes_are_written_less_often(run: Run) -> None:
    run.view = view_of(b"x" * 40_000_000, max_bytes=40_000_000)
    run.recording.write(T + 2)
    run.recording.mark()
    assert run.recording.due is not None
    assert 9 < run.recording.due - (T + 2) < 11


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EACCES], ids=errno.errorcode.get)
def test_a_disk_that_fails_costs_the_record_and_one_warning(
    session: Session, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    def fail(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    for at in (0, 100):
        run = Run(session)
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", fail)
            run.recording.write(T + 2)
            # Not at every turn of the loop.
            assert run.recording.due == T + 2 + INTERVAL
            run.recording.write(T + 4 + at)
            session.tell()
        # The disk is well again.
        run.recording.finish(DONE, T + 9)
        run.recording.release()
        assert run.text == "first\n"
    (warning,) = caplog.messages
    assert os.strerror(number) in warning
    assert "record" in warning


def test_a_store_that_can_not_be_made_costs_the_run_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    session = Session(tmp_path / "file")
    run = Run(session)
    run.recording.write(T + 2)
    run.recording.finish(DONE, T + 3)
    run.recording.release()
    session.tell()
    session.tell()
    assert len(caplog.messages) == 1
    assert "must be a directory" in caplog.text


def test_a_record_is_there_before_any_other_file_and_the_next_follows_at_once(run: Run) -> None:
    directory = run.directory.make()
    found = read_record(directory)
    assert (found.status, found.view.text) == (RunStatus(RunState.RUNNING), "first\n")
    assert run.recording.due == float("-inf")
    run.recording.write(T + 0.5)
    assert read_record(directory).status.duration == 0.5
    assert run.recording.due is None
