"""Bounded cells in terminal IPython, as a person sees them: a real one on a terminal of its own."""

import contextlib
import fcntl
import os
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

import pytest

from tests.running.stored import NOW, SESSION, put_run
from tests.show.terminal.screens import Terminal

#: Seconds. Only a failure waits so long.
PATIENCE = 120

COLUMNS, LINES = 80, 24


class Session:
    """IPython, and what stands on its terminal."""

    def __init__(self, directory: Path) -> None:
        self._leader, follower = os.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._terminal = Terminal(COLUMNS, LINES)
        self._lock = threading.Lock()
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        environment |= {
            "IPYTHONDIR": str(directory / "ipython"),
            "BOUNDCAP_DIR": str(directory),
            "TERM": "xterm-256color",
            # Else prompt_toolkit asks the terminal for the place of the cursor, and complains of getting no answer.
            "PROMPT_TOOLKIT_NO_CPR": "1",
        }
        command = [sys.executable, "-m", "IPython", "--no-banner", "--no-confirm-exit", "--colors=NoColor"]
        self._process = subprocess.Popen(
            [*command, "--ext=boundcap_jupyter"],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env=environment,
            # The terminal is that of its session, so that Ctrl-C reaches it.
            preexec_fn=_take_terminal,
        )
        os.close(follower)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.wait_for("In [1]:")

    def _read(self):
        # At the end of a terminal there is no end of file but an error.
        with contextlib.suppress(OSError):
            while data := os.read(self._leader, 65536):
                with self._lock:
                    self._terminal.feed(data.decode(errors="replace"))

    def type(self, keys):
        os.write(self._leader, keys.encode())

    def resize(self, columns, lines):
        with self._lock:
            self._terminal = Terminal(columns, lines)
        fcntl.ioctl(self._leader, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def rows(self):
        with self._lock:
            return self._terminal.rows()

    def cursor_is_shown(self):
        with self._lock:
            return not self._terminal.screen.cursor.hidden

    def wait_for(self, *beginnings):
        """Until the last rows begin so; returns all rows."""
        deadline = time.monotonic() + PATIENCE
        while True:
            rows = self.rows()
            last = rows[-len(beginnings) :]
            if len(last) == len(beginnings) and all(
                row.startswith(beginning) for row, beginning in zip(last, beginnings, strict=True)
            ):
                return rows
            assert time.monotonic() < deadline, "\n".join(rows)
            time.sleep(0.02)

    def close(self):
        self._process.kill()
        self._process.wait()
        self._reader.join()
        os.close(self._leader)


def _take_terminal():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def session(tmp_path):
    session = Session(tmp_path)
    yield session
    session.close()


def test_the_tail_is_live_and_the_result_takes_its_place(session, tmp_path):
    go_on = tmp_path / "go-on"
    session.type(f"%bounded seq 1 20; until [ -e {go_on} ]; do sleep 0.1; done; seq 21 30\n")
    before = session.wait_for("", *(str(n) for n in range(14, 21)), "running · ")
    assert session.cursor_is_shown()
    go_on.touch()
    after = session.wait_for(*(str(n) for n in range(1, 31)), "exit 0 · 30 lines · 81 B · ", "", "In [2]:")
    # What stood above the block stands there still, and nothing of the block.
    above = before[:-9]
    assert after[: len(above)] == above
    assert after[len(above) :][0] == "1"
    assert not any(row.startswith("running") for row in after)


def test_the_list_of_runs_has_a_line_for_each_in_a_terminal_of_any_width(session, tmp_path):
    for number in range(1, 4):
        put_run(tmp_path / "boundcap", number, age=NOW - time.time(), command="./train --data /srv/data/" + "x" * 99)
    ids = [f"{SESSION}/000{number}" for number in (3, 2, 1)]
    session.type("%bounded_show\n")
    rows = session.wait_for("id", *ids, "", "In [2]:")
    assert rows[-6].split() == ["id", "state", "duration", "command"]
    assert all(row.endswith("…") and "./train" in row for row in rows[-5:-2])
    session.resize(120, LINES)
    session.type("%bounded_show\n")
    rows = session.wait_for("id", *ids, "", "In [3]:")
    assert rows[-6].split() == ["id", "started", "state", "duration", "lines", "bytes", "command"]
    assert all(row.endswith("…") and len(row) == 119 for row in rows[-5:-2])


def test_ctrl_c_stops_it_and_leaves_the_terminal_as_it_was(session):
    session.type("%bounded echo one; sleep 300\n")
    session.wait_for("", "one", "running · ")
    session.type("\x03")
    rows = session.wait_for("one", "stopped · 1 line · 4 B · ", "KeyboardInterrupt: stopped after ", "", "In [2]:")
    assert not any(row.startswith(("running", "stopping")) for row in rows)
    assert session.cursor_is_shown()
    session.type("'x' * 200\n")
    # It wraps as ever.
    session.wait_for("Out[2]: '" + "x" * 71, "x" * 80, "x" * 49 + "'", "", "In [3]:")
