import gc
import os
import weakref

import pytest

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.running.environment import ExecOptions
from boundcap_jupyter.running.local import LocalEnv
from boundcap_jupyter.running.pages import SpillPages
from boundcap_jupyter.running.spill import SpillFile
from boundcap_jupyter.running.store import RunDirectory, Session

SPILL = "output.log"


@pytest.fixture
def spill(tmp_path):
    directory = RunDirectory(Session(tmp_path / "store"))
    spill = SpillFile(directory)
    yield spill
    spill.abandon()
    directory.release()


def test_it_reads_what_is_written_while_the_file_grows(spill):
    pages = SpillPages(spill)
    assert (pages.size, pages.read(0, 10)) == (0, b"")
    spill.write(b"0123456789")
    assert (pages.size, pages.read(2, 3), pages.read(8, 100)) == (10, b"234", b"89")
    spill.write(b"abc")
    spill.close()
    assert (pages.size, pages.read(8, 100), pages.read(13, 1)) == (13, b"89abc", b"")


def test_it_does_not_give_out_what_the_writer_does_not_vouch_for(spill):
    spill.write(b"0123")
    with open(spill.path, "ab") as other:
        other.write(b"not of the run")
    assert SpillPages(spill).read(0, 100) == b"0123"


@pytest.mark.parametrize("numbers", [(-1, 5), (0, -5)])
def test_a_negative_number_is_refused(spill, numbers):
    with pytest.raises(ValueError, match="must be at least 0"):
        SpillPages(spill).read(*numbers)


def _another_file(path, secret):
    path.unlink()
    path.write_bytes(secret.read_bytes())


def _hard_link(path, secret):
    path.unlink()
    os.link(secret, path)


def _link(path, secret):
    path.unlink()
    path.symlink_to(secret)


def _linked_directory(path, secret):
    path.parent.rename(path.parent.with_name("gone"))
    path.parent.symlink_to(secret.parent)


def _fifo(path, _):
    path.unlink()
    os.mkfifo(path)


def _directory(path, _):
    path.unlink()
    path.mkdir()


def _nothing(path, _):
    path.unlink()


@pytest.mark.parametrize(
    "replace",
    [_another_file, _hard_link, _link, _linked_directory, _fifo, _directory, _nothing],
    ids=lambda f: f.__name__,
)
def test_whatever_takes_the_place_of_the_file_is_not_read(spill, tmp_path, replace):
    secret = tmp_path / "private" / SPILL
    secret.parent.mkdir()
    secret.write_bytes(b"of nobody's business")
    spill.write(b"mine, all of it")
    # So that its inode is not free for the next file.
    with open(spill.path, "rb"):
        replace(spill.path, secret)
        with pytest.raises(OSError, match=r".") as caught:
            SpillPages(spill).read(0, 5)
    assert caught.value.strerror


def test_a_file_that_somebody_made_shorter_is_said_to_be(spill):
    spill.write(b"0123456789")
    os.truncate(spill.path, 4)
    assert SpillPages(spill).read(0, 4) == b"0123"
    with pytest.raises(OSError, match="ends at byte 4"):
        SpillPages(spill).read(2, 5)


def test_a_run_has_the_pages_of_each_of_its_streams(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    run = LocalEnv().start("seq 20000; seq 30000 >&2", ExecOptions(stderr="separate", encoding="latin-1"))
    result = run.wait()
    assert {name: pages.size for name, pages in run.pages.items()} == {
        "output": result.view.metadata.spill_bytes,
        "stderr": result.stderr_view.metadata.spill_bytes,
    }
    assert run.pages["output"].read(0, 4) == b"1\n2\n"
    assert run.pages["stderr"].read(168894 - 6, 10) == b"30000\n"
    assert run.pages["stderr"].encoding == "latin-1"


def test_pages_of_a_run_that_is_over_hold_nothing_else_of_it():
    # Those of other tests may still be somewhere.
    others = [thing for thing in gc.get_objects() if isinstance(thing, OutputCapture)]
    run = LocalEnv().start("seq 20000", ExecOptions())
    run.wait()
    pages, gone = run.pages, weakref.ref(run)
    captures = [
        weakref.ref(thing)
        for thing in gc.get_objects()
        if isinstance(thing, OutputCapture) and not any(thing is other for other in others)
    ]
    assert len(captures) == 1
    del run
    gc.collect()
    assert gone() is captures[0]() is None
    assert pages["output"].read(0, 4) == b"1\n2\n"
