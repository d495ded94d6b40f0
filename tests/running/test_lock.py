from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from boundcap_jupyter.running.lock import FileLock, no_locks_here
from tests.running.observe import eventually

HOLDER = """
import sys, time
from pathlib import Path
from boundcap_jupyter.running.lock import FileLock
lock = FileLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    FileLock(tmp_path / "lock", create=True).release()
    return tmp_path / "lock"


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [(False, False, False), (False, True, False), (True, False, False), (True, True, True)],
)
def test_only_readers_share(path: Path, first: bool, second: bool, together: bool) -> None:
    with FileLock(path, shared=first):
        if together:
            FileLock(path, shared=second).release()
        else:
            with pytest.raises(BlockingIOError):
                FileLock(path, shared=second)
    FileLock(path).release()


def test_releasing_twice_is_releasing_once(path: Path) -> None:
    lock = FileLock(path)
    lock.release()
    with FileLock(path):
        lock.release()
        with pytest.raises(BlockingIOError):
            FileLock(path)


def test_the_file_is_private_and_new(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        FileLock(tmp_path / "lock", create=True).release()
    finally:
        os.umask(before)
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        FileLock(tmp_path / "lock", create=True)


def test_neither_a_link_nor_a_pipe_in_its_place_is_waited_for(path: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(OSError, match="symbolic link"):
        FileLock(tmp_path / "link")
    os.mkfifo(tmp_path / "pipe")
    FileLock(tmp_path / "pipe", shared=True).release()


def test_the_death_of_the_owner_releases_even_what_its_children_outlive(path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    with holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BlockingIOError):
            FileLock(path)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        FileLock(path).release()


def test_neither_a_command_nor_a_forked_child_holds_it_on(path: Path) -> None:
    lock = FileLock(path)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        # Until the parent has looked.
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    os.close(reading)
    command = subprocess.Popen(["sleep", "600"])
    try:
        # The child gives up its copy as soon as it runs; ours is not touched by that.
        with pytest.raises(BlockingIOError):
            FileLock(path)
        lock.release()

        def is_free() -> bool:
            try:
                FileLock(path).release()
            except BlockingIOError:
                return False
            return True

        assert eventually(is_free)
    finally:
        command.kill()
        command.wait()
        os.close(writing)
        os.waitpid(child, 0)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_told_from_a_lock_that_is_held(
    path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(fd: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        FileLock(path)
    assert no_locks_here(caught.value)
    assert not no_locks_here(BlockingIOError(errno.EWOULDBLOCK, "held"))
