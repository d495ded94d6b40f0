import contextlib
import fcntl
import io
import os
import struct
import termios
import threading
import time

import pytest

from boundcap_jupyter.core.update import Append, Replace
from boundcap_jupyter.show.terminal import live, painter
from boundcap_jupyter.show.terminal.live import LiveBlock, in_background, row_columns, terminal_size
from tests.show.examples import view_of
from tests.show.terminal.screens import Terminal

#: Of a frame.
BEGIN = "\x1b[?2026h"
#: Seconds. Only a failure waits so long.
PATIENCE = 60


class Pty:
    """A terminal of a given size: `stream` is the program's side; what it writes is on `terminal`, and in `written`."""

    def __init__(self, columns, lines):
        self._leader, follower = os.openpty()
        self.stream = os.fdopen(follower, "w")
        self.terminal = Terminal(columns or 80, lines or 24)
        self.written = ""
        self._lock = threading.Lock()
        self._tell(columns, lines)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _tell(self, columns, lines):
        fcntl.ioctl(self.stream, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, columns, lines):
        with self._lock:
            self.terminal.resize(columns, lines)
            self._tell(columns, lines)

    def _read(self):
        # At the end of a terminal there is no end of file but an error.
        with contextlib.suppress(OSError):
            while data := os.read(self._leader, 65536):
                with self._lock:
                    self.written += data.decode()
                    self.terminal.feed(data.decode())

    def wait_for(self, *rows):
        """Until these are all rows that are in sight or were."""
        deadline = time.monotonic() + PATIENCE
        while (seen := self.rows()) != list(rows):
            assert time.monotonic() < deadline, seen
            time.sleep(0.01)

    def rows(self):
        """Times and rates, which nothing here decides, are left out of the status."""
        with self._lock:
            return [row.split(" · ")[0] if row.startswith("running") else row for row in self.terminal.rows()]

    def close(self):
        self.stream.close()
        self._reader.join()
        os.close(self._leader)


@pytest.fixture
def pty():
    ptys = []

    def make(columns=80, lines=24):
        ptys.append(Pty(columns, lines))
        return ptys[-1]

    yield make
    for one in ptys:
        one.close()


@contextlib.contextmanager
def drawing(stream, retain="tail", colours=False):
    block = LiveBlock(stream, retain, colours=colours)
    block.start()
    try:
        yield block
    finally:
        block.end()


def test_the_tail_is_live_below_what_was_there_and_gone_at_the_end(pty):
    screen = pty()
    screen.stream.write("before\n")
    screen.stream.flush()
    with drawing(screen.stream) as block:
        block.take(Replace(view_of(b"one\n")))
        screen.wait_for("before", "", "one", "running")
        block.take(Append("two\n", view_of(b"one\ntwo\n").metadata))
        screen.wait_for("before", "", "one", "two", "running")
        block.take(Replace(view_of(b"".join(b"%d\n" % n for n in range(500)))))
        screen.wait_for("before", "", *(str(n) for n in range(493, 500)), "running")
    screen.wait_for("before")
    assert not any(thread.name == "boundcap-terminal" for thread in threading.enumerate())


def test_a_new_size_is_noticed_while_nothing_comes(pty):
    screen = pty()
    with drawing(screen.stream) as block:
        block.take(Replace(view_of(b"x" * 70 + b"\nend\n")))
        screen.wait_for("", "x" * 70, "end", "running")
        screen.resize(30, 24)
        screen.wait_for("", "x" * 28 + "…", "end", "running")
        screen.resize(90, 10)
        screen.wait_for("", "x" * 70, "end", "running")
    screen.wait_for()


@pytest.mark.parametrize("size", [(80, 4), (15, 24), (0, 0)])
def test_a_tiny_terminal_and_one_that_does_not_tell_have_one_row(pty, size):
    screen = pty(*size)
    with drawing(screen.stream) as block:
        block.take(Replace(view_of(b"one\n")))
        screen.wait_for("running")
    screen.wait_for()
    assert "\n" not in screen.written


def test_a_standard_error_of_its_own_is_shown(pty):
    screen = pty()
    with drawing(screen.stream) as block:
        # Belongs to a view that was never there.
        block.take_stderr(Append("lost", view_of(b"lost").metadata))
        block.take(Replace(view_of(b"one\n")))
        block.take_stderr(Replace(view_of(b"oops\n")))
        block.take_stderr(Append("again\n", view_of(b"oops\nagain\n").metadata))
        screen.wait_for("", "[stdout]", "one", "[stderr]", "oops", "again", "running")


@pytest.mark.parametrize("colours", [True, False])
def test_colours_are_drawn_where_they_are_wanted(pty, colours):
    screen = pty()
    with drawing(screen.stream, colours=colours) as block:
        block.take(Replace(view_of(b"\x1b[31mone\x1b[0m\n")))
        screen.wait_for("", "one", "running")
    assert ("\x1b[31mone\x1b[0m" in screen.written) is colours


def test_a_flood_is_drawn_at_most_ten_times_a_second(pty):
    screen = pty()
    start = time.monotonic()
    views = [Replace(view_of(b"%d\n" % n)) for n in range(2)]
    with drawing(screen.stream) as block:
        while time.monotonic() - start < 0.5 or BEGIN not in screen.written:
            block.take(views[0])
            block.take(views[1])
    elapsed = time.monotonic() - start
    screen.wait_for()
    assert screen.written.count(BEGIN) <= elapsed / live.REDRAW_INTERVAL


def test_while_nothing_comes_only_the_status_is_drawn_as_the_seconds_turn(pty, monkeypatch):
    monkeypatch.setattr(painter, "WHOLE_AFTER", float("inf"))
    screen = pty()
    start = time.monotonic()
    with drawing(screen.stream) as block:
        block.take(Replace(view_of(b"one\n")))
        while screen.written.count(BEGIN) < 3:
            assert time.monotonic() - start < PATIENCE
            time.sleep(0.01)
    elapsed = time.monotonic() - start
    screen.wait_for()
    assert screen.written.count("one") == 1
    # One before the line came, perhaps, one with it, and one for every second that turned.
    assert screen.written.count(BEGIN) <= 2 + elapsed


def test_what_is_over_at_once_is_not_drawn(pty, monkeypatch):
    monkeypatch.setattr(live, "REDRAW_INTERVAL", PATIENCE)
    screen = pty()
    with drawing(screen.stream) as block:
        block.take(Replace(view_of(b"one\n")))
    screen.stream.write("the result\n")
    screen.stream.flush()
    screen.wait_for("the result")
    assert screen.written.strip() == "the result"


def test_while_another_job_has_the_terminal_nothing_is_drawn(pty, monkeypatch):
    away = threading.Event()
    away.set()
    looked = threading.Event()

    def in_background(stream):
        looked.set()
        return away.is_set()

    monkeypatch.setattr(live, "in_background", in_background)
    screen = pty()
    with drawing(screen.stream) as block:
        block.take(Replace(view_of(b"one\n")))
        assert looked.wait(PATIENCE)
        assert screen.written == ""
        away.clear()
        screen.wait_for("", "one", "running")


def test_a_block_that_a_shell_wrote_over_is_drawn_as_a_whole(pty, monkeypatch):
    monkeypatch.setattr(painter, "WHOLE_AFTER", float("inf"))
    # As if each pause were one in which the program was stopped.
    monkeypatch.setattr(live, "STOPPED", 0.0, raising=False)
    screen = pty()
    with drawing(screen.stream) as block:
        block.take(Replace(view_of(b"one\ntwo\n")))
        screen.wait_for("", "one", "two", "running")
        screen.stream.write("^Z\x1b[J\r\n[1]+  Stopped\r\n$ fg\r\n")
        screen.stream.flush()
        # As many rows, the first of them as it was.
        block.take(Replace(view_of(b"one\n2\n")))
        screen.wait_for("^Z", "[1]+  Stopped", "$ fg", "", "one", "2", "running")


def test_a_run_that_ends_in_the_background_takes_nothing_away(pty, monkeypatch):
    away, looked = threading.Event(), threading.Semaphore(0)

    def in_background(stream):
        looked.release()
        return away.is_set()

    monkeypatch.setattr(live, "in_background", in_background)
    screen = pty()
    with drawing(screen.stream) as block:
        block.take(Replace(view_of(b"one\n")))
        screen.wait_for("", "one", "running")
        away.set()
        # The second look that begins from now on is one after what the first led to.
        while looked.acquire(blocking=False):
            pass
        for text in (b"one\ntwo\n", b"one\ntwo\nthree\n"):
            block.take(Replace(view_of(text)))
            assert looked.acquire(timeout=PATIENCE)
    screen.wait_for("", "one", "running")


def test_the_foreground_is_asked_of_the_terminal(pty, monkeypatch):
    screen = pty()
    # A terminal that is not ours to be put into the background of.
    assert not in_background(screen.stream)
    assert not in_background(io.StringIO())
    monkeypatch.setattr(os, "tcgetpgrp", lambda fd: os.getpgrp())
    assert not in_background(screen.stream)
    monkeypatch.setattr(os, "tcgetpgrp", lambda fd: os.getpgrp() + 1)
    assert in_background(screen.stream)


def test_a_drawing_that_fails_is_reported_and_disturbs_nobody(monkeypatch):
    class Broken(io.StringIO):
        def write(self, text):
            raise OSError(5, "the terminal is gone")

    reported = []
    monkeypatch.setattr(threading, "excepthook", reported.append)
    with drawing(Broken()) as block:
        deadline = time.monotonic() + PATIENCE
        while not reported:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        block.take(Replace(view_of(b"one\n")))
        block.take(Append("two\n", view_of(b"one\ntwo\n").metadata))
        block.stopping()
    assert [str(args.exc_value) for args in reported] == ["[Errno 5] the terminal is gone"]


def test_the_size_is_that_of_the_terminal(pty):
    assert terminal_size(pty(33, 12).stream) == (33, 12)
    assert terminal_size(io.StringIO()) == (80, 0)
    assert row_columns(pty(33, 12).stream) == 32
    assert row_columns(io.StringIO()) is None
