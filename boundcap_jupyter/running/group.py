"""Commands in a process group of their own: the best that can be done without a supervisor, as on macOS.

Not reached: a descendant that leaves the group (setsid), and everything when the owner is killed by SIGKILL.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence

import psutil

from boundcap_jupyter.running.child import LOOK_INTERVAL


class GroupChild:
    """A command that leads a session and a group; see `child.Child`. Raises OSError if it can not be started.

    The leader is not reaped before `reap`: its process group keeps its number as long as somebody may signal it.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        directory: str | os.PathLike[str] | None,
        stdio: tuple[int, int, int],
    ) -> None:
        # Between reaping and the end of signalling: a number that is free again may be a stranger's. A signal handler
        # may come in between itself.
        self._reaping = threading.RLock()
        stdin, stdout, stderr = stdio
        self._popen = subprocess.Popen(
            argv,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=directory,
            env=environment,
            start_new_session=True,
        )
        self.pid = self._popen.pid
        self.lost = ""
        self.status_lost = False
        self.cpu_time: float | None = None
        self.peak_memory: int | None = None
        self.exit_fd: int | None = None
        if hasattr(os, "pidfd_open"):
            # A sandbox may forbid it; asking now and then is a fair second best.
            with contextlib.suppress(OSError):
                self.exit_fd = os.pidfd_open(self.pid)

    def hear(self) -> None:
        """A pidfd says all that it has to say by being readable."""

    def has_exited(self) -> bool:
        """It stays a zombie until `reap`."""
        if self._popen.returncode is not None:
            return True
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            # Somebody else in this process waits for all children, or the system was told to forget them.
            return True

    def signal(self, number: signal.Signals) -> None:
        # None of them is left, or all belong to another user (sudo), or (macOS) only zombies are.
        with self._reaping, contextlib.suppress(ProcessLookupError, PermissionError):
            if self._popen.returncode is None:
                os.killpg(self.pid, number)

    def has_members(self) -> bool:
        """Costs a look at every process."""
        return any(pid != self.pid and _group_of(pid) == self.pid and not _is_zombie(pid) for pid in psutil.pids())

    def drain(self, fd: int) -> bool:  # noqa: ARG002 - there is nobody who would
        return False

    def reap(self, patience: float = 0.0) -> int | None:
        """If it has not exited in time, a thread waits for it, so that no zombie stays."""
        if self.exit_fd is not None:
            os.close(self.exit_fd)
            self.exit_fd = None
        give_up = time.monotonic() + patience
        while not self.has_exited():
            if time.monotonic() >= give_up:
                threading.Thread(target=self._popen.wait, name="boundcap-reap", daemon=True).start()
                return None
            time.sleep(LOOK_INTERVAL)
        with self._reaping:
            if self._popen.returncode is None:
                # Not left to Popen, which would call a status that somebody else collected a success. What it knows
                # tells it, and whoever signals, that there is nobody left.
                try:
                    _, status, usage = os.wait4(self.pid, 0)
                    self._popen.returncode = os.waitstatus_to_exitcode(status)
                    self.cpu_time = usage.ru_utime + usage.ru_stime
                except ChildProcessError:
                    self.status_lost = True
                    self._popen.returncode = 0
            return None if self.status_lost else self._popen.returncode


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except (ProcessLookupError, PermissionError):
        return None


def _is_zombie(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False
