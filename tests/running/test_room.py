from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from boundcap_jupyter.running import room
from boundcap_jupyter.running.room import LOOK_BYTES, Room, shortage

MIB, GIB = 1024**2, 1024**3


def disk(size: int, free: int) -> Any:
    return SimpleNamespace(f_blocks=size // 4096, f_frsize=4096, f_bavail=free // 4096)


class Disk:
    """A disk that fills, in place of the one that is asked."""

    def __init__(self, size: int, free: int) -> None:
        self.size, self.free, self.looks = size, free, 0

    def look(self, fd: int) -> Any:
        self.looks += 1
        return disk(self.size, self.free)


def fill(some: Room, fake: Disk) -> tuple[int, str]:
    """Write until it is refused: the bytes that went in, and the reason."""
    written = 0
    while True:
        try:
            count = some.take(0, 256 * 1024)
        except OSError as error:
            return written, str(error)
        fake.free -= count
        written += count


@pytest.fixture
def patched(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(size: int, free: int) -> Disk:
        fake = Disk(size, free)
        monkeypatch.setattr(os, "fstatvfs", fake.look)
        return fake

    return install


def test_a_limit_is_filled_to_the_byte_and_not_passed(patched: Any) -> None:
    patched(1000 * GIB, 900 * GIB)
    some = Room(max_bytes=100)
    assert [some.take(0, 60), some.take(0, 60)] == [60, 40]
    with pytest.raises(OSError, match=r"the limit of 100 bytes a run was reached \(max_spill_bytes\)"):
        some.take(0, 1)


def test_what_was_not_written_counts_not(patched: Any) -> None:
    patched(1000 * GIB, 900 * GIB)
    some = Room(max_bytes=100)
    some.take(0, 60)
    some.give_back(50)
    assert some.take(0, 1000) == 90


@pytest.mark.parametrize(
    ("size", "free", "min_free", "short"),
    [
        (100 * GIB, GIB + MIB, None, False),  # of a large disk 1 GiB
        (100 * GIB, GIB, None, True),
        (10 * GIB, GIB // 2 + MIB, None, False),  # of a small one 5 %
        (10 * GIB, GIB // 2 - MIB, None, True),
        (100 * GIB, 2 * GIB, 3 * GIB, True),
        (100 * GIB, MIB, 0, False),
        (100 * GIB, 0, 0, False),  # then the disk itself says so
        (0, 0, None, False),  # a file system that does not know its size
    ],
)
def test_the_floor_is_the_smaller_of_a_gibibyte_and_a_twentieth_unless_it_is_set(
    size: int, free: int, min_free: int | None, short: bool
) -> None:
    assert bool(shortage(disk(size, free), min_free)) is short


def test_the_disk_is_looked_at_now_and_then_and_the_floor_holds(patched: Any) -> None:
    fake = patched(1000 * GIB, 5 * GIB)
    some = Room()
    written, reason = fill(some, fake)
    assert "1,073,741,824 must stay free" in reason
    assert 4 * GIB - LOOK_BYTES <= written <= 4 * GIB + room.LEAST_LOOK_BYTES
    assert fake.looks < 4 * GIB // LOOK_BYTES + 20


def test_a_nearly_full_small_disk_is_looked_at_more_often(patched: Any) -> None:
    fake = patched(MIB, MIB)
    some = Room()
    _, reason = fill(some, fake)
    assert "must stay free" in reason
    assert fake.free >= 0


def test_a_real_disk_has_room(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        assert Room(min_free=0).take(file.fileno(), 10) == 10
        with pytest.raises(OSError, match=r"only .* bytes are free"):
            Room(min_free=10**15).take(file.fileno(), 10)
