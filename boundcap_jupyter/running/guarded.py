"""Commands under the session's supervisor, as their owner sees them: every descendant is reached (Linux)."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from signal import Signals

from boundcap_jupyter.running import supervisor as program
from boundcap_jupyter.running.child import LOOK_INTERVAL, ChildLostError

#: Seconds that a supervisor may take to start; it takes some 20 ms.
START_PATIENCE = 30.0
#: What a process is short of for the moment, which says nothing about the next run.
_SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)

_GUARD_LOST = "the process that watched over the command was killed, and the command with it"
_SUPERVISOR_LOST = "the supervisor of this session's commands was killed; the command was ended"
_LOST_AT_START = "the supervisor of this session's commands was killed while the command was starting"

_log = logging.getLogger(__name__)


class SupervisorClient:
    """The one supervisor of this process: started with the first command, replaced if it died.

    Directory, environment and umask of a command are those of the moment. Everything else that a process inherits
    (limits, priority, processors, control group) is as it was when the supervisor started.
    """

    def __init__(self) -> None:
        # Also held by whoever forks this process: a child that came into being while a socket has its far end here too
        # would keep us from hearing of a death there.
        self._lock = threading.RLock()
        self._control: socket.socket | None = None
        self._impossible = False
        #: For a forked child to let go of.
        self._children: weakref.WeakSet[GuardedChild] = weakref.WeakSet()

    def start(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        directory: str | os.PathLike[str] | None,
        stdio: tuple[int, int, int],
    ) -> GuardedChild | None:
        """Start a command. None if there can be no supervisor here, which is logged once.

        Raises OSError as Popen does, and ChildLostError if the supervisor died over it.
        """
        if self._connected() is None:
            return None
        with contextlib.ExitStack() as stack:
            cwd = _opened_directory(directory)
            stack.callback(os.close, cwd)
            request = os.memfd_create("boundcap", os.MFD_CLOEXEC)
            stack.callback(os.close, request)
            _write_request(request, argv, environment)
            with contextlib.ExitStack() as on_failure:
                with self._lock:
                    channel, far_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                    on_failure.enter_context(channel)
                    with far_end:
                        if not self._ask((far_end.fileno(), request, *stdio, cwd)):
                            return None
                words, _ = program.receive(channel)
                if not words:
                    raise ChildLostError(_LOST_AT_START)
                if words[0] == program.FAILED:
                    number, step = int(words[1]), words[2]
                    name = {b"cwd": str(directory or os.curdir), b"exec": argv[0]}.get(step)
                    raise OSError(number, os.strerror(number), name)
                child = GuardedChild(channel, int(words[1]), int(words[2]))
                on_failure.pop_all()
        with self._lock:
            self._children.add(child)
        return child

    def _ask(self, fds: tuple[int, ...]) -> bool:
        """Have a guard forked; False if there can be no supervisor."""
        for _ in range(2):
            control = self._connected()
            if control is None:
                return False
            try:
                program.send(control, program.RUN, fds=fds)
            except (BrokenPipeError, ConnectionResetError):
                # It died some time ago: nobody got this, another may.
                self._drop(control)
            else:
                return True
        raise ChildLostError(_LOST_AT_START)

    def _connected(self) -> socket.socket | None:
        with self._lock:
            if self._control is None and not self._impossible:
                try:
                    self._control = _launch()
                except (OSError, subprocess.SubprocessError) as error:
                    if isinstance(error, OSError) and error.errno in _SHORTAGES:
                        raise
                    self._impossible = True
                    _log.warning(
                        "commands run without a supervisor (%s): what leaves their process group, or outlives a kernel "
                        "that is killed, is not ended",
                        error,
                    )
            return self._control

    def _drop(self, control: socket.socket) -> None:
        with self._lock:
            if self._control is control:
                self._control = None
            control.close()

    def close(self) -> None:
        """Let the supervisor go; the next command gets another. For tests: it goes with its owner."""
        if (control := self._control) is not None:
            self._drop(control)

    def before_fork(self) -> None:
        self._lock.acquire()

    def after_fork(self) -> None:
        self._lock.release()

    def forget(self) -> None:
        """In a forked child: the supervisor and its commands are the parent's."""
        self._lock = threading.RLock()
        if self._control is not None:
            self._control.close()
            self._control = None
        for child in self._children:
            child.disown()
        self._children = weakref.WeakSet()


class GuardedChild:
    """A command below a guard of its own; see `child.Child`.

    `hear` reads what the guard says; it, `has_members` and `reap` are for one thread, the rest for any.
    """

    def __init__(self, channel: socket.socket, pid: int, started: int) -> None:
        self.pid = pid
        self.lost = ""
        self.status_lost = False
        self.cpu_time: float | None = None
        self.peak_memory: int | None = None
        self._channel = channel
        self._started = started
        self._code: int | None = None
        self._gone = False
        self._guard_lost = False
        # Between sending and closing: a number that is free again may be a stranger's. A signal handler may come in
        # between itself.
        self._closing = threading.RLock()

    @property
    def exit_fd(self) -> int | None:
        return None if self._guard_lost or self._channel.fileno() < 0 else self._channel.fileno()

    def hear(self) -> None:
        while not self._guard_lost and self._channel.fileno() >= 0:
            try:
                words, _ = program.receive(self._channel, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            if not words:
                self._guard_lost = True
                if not self._gone:
                    self.lost = _GUARD_LOST
            elif words[0] == program.ORPHANED:
                self.lost = self.lost or _SUPERVISOR_LOST
            elif words[0] == program.EXITED:
                self._code = int(words[1])
                self._note(*words[2:])
            elif words[0] == program.GONE:
                self._gone = True
                self._note(*words[1:])

    def _note(self, cpu: bytes, peak: bytes) -> None:
        self.cpu_time = float(cpu)
        # None was taken of one that was so short.
        self.peak_memory = int(peak) or None

    def has_exited(self) -> bool:
        if self._code is not None:
            return True
        if self._guard_lost:
            leader = program.look(self.pid)
            return leader is None or leader.started != self._started or not leader.is_alive
        # Only peeked at: who waits for the news must not miss it.
        with self._closing, contextlib.suppress(OSError):
            flags = socket.MSG_PEEK | socket.MSG_DONTWAIT
            return self._channel.recv(program.MESSAGE_BYTES, flags).split()[:1] == [program.EXITED]
        return False

    def signal(self, number: Signals) -> None:
        with self._closing:
            if self._channel.fileno() < 0:
                return
            if not self._guard_lost:
                with contextlib.suppress(OSError):
                    program.send(self._channel, program.SIGNAL, int(number), flags=socket.MSG_DONTWAIT)
                    return
            program.signal_groups(self._session(), number)

    def _session(self) -> list[program.Entry]:
        """What is left of the command's session and below it, for when there is no guard that knows it all."""
        table = program.processes()
        leader = table.get(self.pid)
        if leader is not None and leader.started != self._started:
            # The number was free, so nothing was left.
            return []
        return program.below(table, (self.pid,), (self.pid,))

    def has_members(self) -> bool:
        self.hear()
        return bool(self._session()) if self._guard_lost and not self._gone else not self._gone

    def drain(self, fd: int) -> bool:
        with self._closing, contextlib.suppress(OSError):
            program.send(self._channel, program.DRAIN, fds=(fd,), flags=socket.MSG_DONTWAIT)
            return True
        return False

    def reap(self, patience: float = 0.0) -> int | None:
        give_up = time.monotonic() + patience
        while not self.has_exited() and time.monotonic() < give_up:
            time.sleep(LOOK_INTERVAL)
        self.hear()
        with self._closing:
            if self._channel.fileno() >= 0:
                with contextlib.suppress(OSError):
                    program.send(self._channel, program.RELEASE, flags=socket.MSG_DONTWAIT)
                self._channel.close()
        self.status_lost = self._guard_lost and self._code is None
        return self._code

    def disown(self) -> None:
        """In a forked child: this is the parent's."""
        # Not under the lock, which a thread that does not exist here may hold.
        self._channel.close()


def _opened_directory(directory: str | os.PathLike[str] | None) -> int:
    """The directory to run in, as it is at this moment, whatever becomes of its name. Raises OSError that names it."""
    return os.open(directory if directory is not None else os.curdir, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)


def _write_request(fd: int, argv: Sequence[str], environment: Mapping[str, str]) -> None:
    variables = [f"{name}={value}" for name, value in environment.items()]
    programs = [argv[0]]
    if not os.path.dirname(argv[0]):
        programs = [os.path.join(folder, argv[0]) for folder in os.get_exec_path(environment)]
    words = [f"{_umask():o}", str(len(programs)), str(len(argv)), *programs, *argv, *variables]
    with open(fd, "wb", closefd=False) as file:
        file.write(b"\0".join(map(os.fsencode, words)))


def _umask() -> int:
    """Read, not set and set back: other threads make files."""
    with open("/proc/self/status", "rb") as status:
        for line in status:
            if line.startswith(b"Umask:"):
                return int(line.split()[1], 8)
    raise OSError(errno.ENOSYS, "/proc/self/status does not tell the umask")


def _launch() -> socket.socket:
    """Start a supervisor. Raises OSError, or a SubprocessError, if that is not possible."""
    if not sys.executable:
        raise OSError("this interpreter does not know its own program")
    _umask()
    os.close(os.memfd_create("boundcap", os.MFD_CLOEXEC))
    with contextlib.ExitStack() as stack, contextlib.ExitStack() as on_failure:
        control, far_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        on_failure.enter_context(control)
        stack.enter_context(far_end)
        fds = [far_end.fileno()]
        with contextlib.suppress(OSError, AttributeError):
            # Says that we died even if somebody who was forked from us holds our end of everything.
            fds.append(os.pidfd_open(os.getpid()))
            stack.callback(os.close, fds[1])
        arguments = [*map(str, fds), "-1"][:2]
        starter = subprocess.Popen(
            [sys.executable, "-I", "-S", program.__file__, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=fds,
            cwd="/",
            # What the loader may need; the rest is nobody's business.
            env={name: value for name, value in os.environ.items() if name.startswith("LD_")},
            start_new_session=True,
        )
        try:
            # It forks the supervisor and exits.
            starter.wait(START_PATIENCE)
        except subprocess.TimeoutExpired:
            starter.kill()
            starter.wait()
            raise
        far_end.close()
        control.settimeout(START_PATIENCE)
        words, _ = program.receive(control)
        if words != [program.READY]:
            raise OSError(f"{sys.executable} could not start it")
        control.settimeout(None)
        on_failure.pop_all()
    return control


#: The supervisor of this process, None where the system has no such thing.
SUPERVISOR: SupervisorClient | None = None
if sys.platform == "linux":
    SUPERVISOR = SupervisorClient()
    os.register_at_fork(
        before=SUPERVISOR.before_fork, after_in_parent=SUPERVISOR.after_fork, after_in_child=SUPERVISOR.forget
    )
