"""What all tests share: nothing of a test ends up in the user's own cache, and small programs to run."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

CHILDREN = Path(__file__).parent / "children"


@pytest.fixture(autouse=True)
def cache_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's cache directory of this test, empty at first. Floods are large: it goes with the test."""
    directory = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(directory))
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def child() -> Callable[..., list[str]]:
    """The argument vector of a program in tests/children."""

    def argument_vector(name: str, *arguments: object) -> list[str]:
        return [sys.executable, str(CHILDREN / name), *map(str, arguments)]

    return argument_vector
