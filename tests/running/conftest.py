"""Every test here leaves nothing behind: no process, no thread, no file descriptor."""

from __future__ import annotations

import os
import secrets
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from boundcap_jupyter.running.budget import Budget
from boundcap_jupyter.running.local import LocalEnv
from tests.running.observe import MARK, eventually, marked_processes


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """SIGINT as in a kernel, even if the tests were started in the background of a shell, which makes it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True, scope="session")
def _supervisor() -> None:
    """It stays as long as this process, so it must not appear within a test."""
    LocalEnv().exec("true")


@pytest.fixture
def unsupervised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run as where there can be no supervisor."""
    monkeypatch.setattr("boundcap_jupyter.running.process.SUPERVISOR", None)


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """Every process that this test starts, however far it runs away, has this in its environment."""
    value = secrets.token_hex(8)
    monkeypatch.setenv(MARK, value)
    return value


@pytest.fixture(autouse=True)
def _nothing_left(mark: str) -> Iterator[None]:
    descriptors, threads = _descriptors(), set(threading.enumerate())
    children = set(psutil.Process().children())
    yield

    def left() -> dict[str, object]:
        return {
            "processes": [*marked_processes(mark), *(set(psutil.Process().children()) - children)],
            "threads": set(threading.enumerate()) - threads,
            "descriptors": _descriptors() - descriptors,
        }

    try:
        assert eventually(lambda: not any(left().values())), f"left behind: {left()}"
    finally:
        for process in marked_processes(mark):
            process.kill()


def _descriptors() -> set[tuple[str, str]]:
    folder = Path("/proc/self/fd")
    if not folder.is_dir():
        return {(str(number), "") for number in range(psutil.Process().num_fds())}
    found = set()
    for name in os.listdir(folder):
        try:
            found.add((name, os.readlink(folder / name)))
        except FileNotFoundError:
            continue  # the one that listed the folder
    return found


@pytest.fixture(autouse=True)
def own_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Played time and real time do not mix in one budget."""
    monkeypatch.setattr("boundcap_jupyter.running.pump.BUDGET", Budget())
