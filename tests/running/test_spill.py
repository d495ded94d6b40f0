from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from boundcap_jupyter.running.spill import SpillFile
from boundcap_jupyter.running.store import RunDirectory, Session

ERRORS = [errno.ENOSPC, errno.EDQUOT, errno.EIO]


def is_file(fd: int) -> bool:
    return stat.S_ISREG(os.fstat(fd).st_mode)


@pytest.fixture
def spill(tmp_path: Path) -> Iterator[SpillFile]:
    directory = RunDirectory(Session(tmp_path / "store"))
    spill = SpillFile(directory)
    yield spill
    spill.abandon()
    directory.release()


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int, memoryview], int]], None]:
    """Put something in place of writing to files."""
    real = os.write

    def install(fake: Callable[[int, memoryview], int]) -> None:
        monkeypatch.setattr(os, "write", lambda fd, data: fake(fd, data) if is_file(fd) else real(fd, data))

    return install


def test_there_is_no_file_before_the_first_write(spill: SpillFile, tmp_path: Path) -> None:
    assert (spill.path, spill.size, spill.state) == (None, 0, "none")
    assert list(tmp_path.iterdir()) == []


def test_a_spill_without_a_write_ends_without_a_file(spill: SpillFile, tmp_path: Path) -> None:
    spill.close()
    assert spill.state == "none"
    assert list(tmp_path.iterdir()) == []


def test_the_file_holds_every_byte_in_order_and_size_counts_them(spill: SpillFile) -> None:
    parts = [b"one\n", b"\0\xff\r\n", bytes(300_000), b"end"]
    for part in parts:
        spill.write(part)
        assert spill.state == "open"
    assert spill.size == sum(map(len, parts))
    spill.close()
    assert spill.state == "complete"
    assert spill.path is not None
    assert spill.path.name == "output.log"
    assert spill.path.read_bytes() == b"".join(parts)


def test_what_is_written_can_be_read_at_once(spill: SpillFile) -> None:
    spill.write(b"so far")
    assert spill.path is not None
    assert spill.path.read_bytes() == b"so far"


def test_closing_twice_is_closing_once(spill: SpillFile) -> None:
    spill.write(b"x")
    spill.close()
    spill.close()
    assert spill.state == "complete"


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777], ids="umask {:03o}".format)
def test_the_file_is_for_its_owner_alone_whatever_the_umask(spill: SpillFile, mask: int) -> None:
    before = os.umask(mask)
    try:
        spill.write(b"secret")
    finally:
        os.umask(before)
    assert spill.path is not None
    assert stat.S_IMODE(spill.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(spill.path.parent.stat().st_mode) == 0o700


def test_no_child_inherits_the_file(
    spill: SpillFile, writes: Callable[[Callable[[int, memoryview], int]], None]
) -> None:
    opened: list[int] = []
    real = os.write
    writes(lambda fd, data: opened.append(fd) or real(fd, data))
    spill.write(b"x")
    assert [os.get_inheritable(fd) for fd in opened] == [False]


def test_a_write_that_takes_only_part_is_continued(
    spill: SpillFile, writes: Callable[[Callable[[int, memoryview], int]], None]
) -> None:
    real = os.write
    writes(lambda fd, data: real(fd, data[:3]))
    spill.write(b"0123456789")
    assert spill.size == 10
    assert spill.path is not None
    assert spill.path.read_bytes() == b"0123456789"


@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
def test_a_write_that_fails_leaves_what_is_there_and_says_incomplete(
    spill: SpillFile, writes: Callable[[Callable[[int, memoryview], int]], None], number: int
) -> None:
    real = os.write
    spill.write(b"kept")
    answers = iter([lambda fd, data: real(fd, data[:2])])

    def fail_after_two_bytes(fd: int, data: memoryview) -> int:
        step = next(answers, None)
        if step is None:
            raise OSError(number, os.strerror(number))
        return step(fd, data)

    writes(fail_after_two_bytes)
    with pytest.raises(OSError, match=os.strerror(number)):
        spill.write(b"lost")
    assert (spill.state, spill.size) == ("incomplete", 6)
    assert spill.path is not None
    assert spill.path.read_bytes() == b"keptlo"


def test_a_spill_that_failed_is_not_written_again(
    spill: SpillFile, writes: Callable[[Callable[[int, memoryview], int]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(fd: int, data: memoryview) -> int:
        raise OSError(errno.ENOSPC, "full")

    spill.write(b"kept")
    writes(full)
    with pytest.raises(OSError, match="full"):
        spill.write(b"lost")
    monkeypatch.undo()
    spill.write(b"a hole would be worse than an end")
    spill.close()
    assert (spill.state, spill.size) == ("incomplete", 4)
    assert spill.path is not None
    assert spill.path.read_bytes() == b"kept"


def fail_close(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a network file system does that reports a full disk only now; the descriptor is gone all the same."""
    real = os.close

    def close(fd: int) -> None:
        broken = is_file(fd)
        real(fd)
        if broken:
            raise OSError(errno.EDQUOT, "quota")

    monkeypatch.setattr(os, "close", close)


def test_a_loss_that_only_closing_reports_makes_it_incomplete(
    spill: SpillFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    spill.write(b"x")
    fail_close(monkeypatch)
    with pytest.raises(OSError, match="quota"):
        spill.close()
    assert spill.state == "incomplete"
    spill.close()
    assert spill.state == "incomplete"


@pytest.mark.parametrize("planted", [False, True], ids=["removed", "replaced"])
def test_a_file_that_is_not_there_at_the_end_is_no_complete_one(spill: SpillFile, planted: bool) -> None:
    spill.write(b"x")
    assert spill.path is not None
    kept = spill.path.with_name("elsewhere")
    spill.path.rename(kept)
    if planted:
        spill.path.write_bytes(b"x")
    with pytest.raises(FileNotFoundError, match="somebody removed the file while it was written"):
        spill.close()
    assert (spill.state, spill.path, spill.size) == ("incomplete", None, 0)


def test_what_broke_first_is_what_is_raised(
    spill: SpillFile,
    writes: Callable[[Callable[[int, memoryview], int]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(fd: int, data: memoryview) -> int:
        raise OSError(errno.EIO, "first")

    spill.write(b"x")
    writes(broken)
    fail_close(monkeypatch)
    with pytest.raises(OSError, match="first"):
        spill.write(b"y")


def test_a_directory_that_can_not_be_made_makes_it_incomplete_without_a_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    spill = SpillFile(RunDirectory(Session(tmp_path / "file")))
    with pytest.raises(OSError, match="must be a directory"):
        spill.write(b"x")
    assert (spill.state, spill.path, spill.size) == ("incomplete", None, 0)
    spill.write(b"y")
    spill.close()
    assert spill.state == "incomplete"


def test_a_file_that_can_not_be_made_private_is_not_used(spill: SpillFile, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(fd: int, mode: int) -> None:
        raise PermissionError(errno.EPERM, "no modes here")

    monkeypatch.setattr(os, "fchmod", refuse)
    with pytest.raises(PermissionError):
        spill.write(b"x")
    assert (spill.state, spill.path) == ("incomplete", None)


@pytest.mark.parametrize("kind", ["symlink", "file"])
def test_something_planted_in_place_of_the_file_is_not_written_to(
    spill: SpillFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    planted = tmp_path / "run"
    planted.mkdir()
    if kind == "symlink":
        (planted / "output.log").symlink_to(victim)
    else:
        victim.rename(planted / "output.log")
        victim = planted / "output.log"
    monkeypatch.setattr(RunDirectory, "make", lambda self: planted)
    with pytest.raises(FileExistsError):
        spill.write(b"x")
    assert victim.read_text() == "precious"


def test_abandoning_closes_the_file_and_says_so(spill: SpillFile) -> None:
    spill.write(b"x")
    spill.abandon()
    assert (spill.state, spill.size) == ("incomplete", 1)
    spill.write(b"y")
    assert spill.size == 1


@pytest.mark.parametrize("size", [0, 3], ids=["emptied", "cut"])
def test_a_file_that_somebody_cuts_while_it_is_written_is_no_complete_one(spill: SpillFile, size: int) -> None:
    spill.write(b"0123456789")
    assert spill.path is not None
    os.truncate(spill.path, size)
    spill.write(b"abc")
    with pytest.raises(OSError, match="somebody changed the file while it was written"):
        spill.close()
    assert (spill.state, spill.size) == ("incomplete", size + 3)
