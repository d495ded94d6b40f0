from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from boundcap_jupyter.running.store import LOCK, Session


def make_directory(session: Session) -> Path:
    """A run's directory as it is left when the run is over."""
    directory, lock = session.make_run_directory()
    assert lock is not None
    lock.release()
    return directory


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777], ids="umask {:03o}".format)
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


def test_nothing_is_made_before_a_run_needs_it(root: Path) -> None:
    Session(root)
    assert not root.exists()


def test_the_store_is_in_the_users_cache_directory_of_the_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session()
    for name in "one", "two":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
        assert make_directory(session).is_relative_to(tmp_path / name / "boundcap")


def test_a_relative_cache_directory_gives_paths_that_survive_chdir(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # The specification has it ignored, which not every version of platformdirs does.
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", str(tmp_path))
    directory = make_directory(Session())
    monkeypatch.chdir("/")
    assert directory.is_dir()
    assert directory.is_relative_to(tmp_path)


def test_runs_of_a_session_stand_side_by_side_sessions_apart(root: Path) -> None:
    session = Session(root)
    first, second = make_directory(session), make_directory(session)
    assert first != second
    assert first.parent == second.parent
    assert first.parent.parent == root
    assert make_directory(Session(root)).parent != first.parent


@pytest.mark.usefixtures("_umask")
def test_every_directory_is_for_its_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    directory = make_directory(Session(tmp_path / "not" / "there" / "store"))
    made = [directory, *directory.parents]
    for path in made[: made.index(tmp_path)]:
        assert mode(path) == 0o700, path


def test_directories_that_were_there_above_the_store_stay_as_they_are(tmp_path: Path) -> None:
    above = tmp_path / "above"
    above.mkdir()
    above.chmod(0o755)
    make_directory(Session(above / "store"))
    assert mode(above) == 0o755


def test_a_store_that_others_could_enter_is_closed(root: Path) -> None:
    root.mkdir()
    root.chmod(0o777)
    make_directory(Session(root))
    assert mode(root) == 0o700


@pytest.mark.parametrize("there", [True, False], ids=["to a directory", "to nothing"])
def test_a_symlink_in_place_of_the_store_is_not_followed(root: Path, tmp_path: Path, there: bool) -> None:
    target = tmp_path / "target"
    if there:
        target.mkdir(mode=0o755)
    root.symlink_to(target)
    with pytest.raises(NotADirectoryError, match="store must be a directory"):
        make_directory(Session(root))
    assert list(target.iterdir()) == [] if there else not target.exists()


def test_a_symlink_in_place_of_the_session_is_not_followed(root: Path, tmp_path: Path) -> None:
    session = Session(root)
    place = make_directory(session).parent
    target = tmp_path / "target"
    place.rename(target)
    place.symlink_to(target)
    before = list(target.iterdir())
    with pytest.raises(NotADirectoryError):
        make_directory(session)
    assert list(target.iterdir()) == before


def test_a_file_in_place_of_the_store_is_an_os_error(root: Path) -> None:
    root.write_text("mine")
    with pytest.raises(NotADirectoryError):
        make_directory(Session(root))
    assert root.read_text() == "mine"


def test_a_file_above_the_store_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OSError, match="file"):
        make_directory(Session(tmp_path / "file" / "store"))


def test_a_store_of_another_user_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: root.stat().st_uid + 1)
    with pytest.raises(PermissionError, match="belongs to another user"):
        make_directory(Session(root))
    assert list(root.iterdir()) == []


def test_a_session_that_was_cleared_away_is_made_again(root: Path) -> None:
    session = Session(root)
    first = make_directory(session)
    (first / LOCK).unlink()
    first.rmdir()
    first.parent.rmdir()
    root.rmdir()
    assert make_directory(session).parent == first.parent


def test_a_forked_child_is_a_session_of_its_own(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(root)
    parents = make_directory(session)
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: 4_000_000)
        childs = make_directory(session)
    assert childs.parent != parents.parent
    assert "-4000000-" in childs.parent.name


def test_runs_that_start_at_the_same_time_do_not_meet(root: Path) -> None:
    session = Session(root)
    barrier = threading.Barrier(8)

    def make(_: int) -> Path:
        barrier.wait()
        return make_directory(session)

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(make, range(8)))
    assert len(set(made)) == 8
    assert {path.parent for path in made} == {made[0].parent}
