"""Starts the commands of one session, and ends them when their owner is no longer there to do it. Linux.

A program of its own, run as `python -I -S supervisor.py CONTROL OWNER` by `guarded`, which also imports it for the
words of the protocol and the look at the processes. It imports nothing of this package, so that it starts in some 20
ms, has one thread, and may fork as it likes.

    owner ── control ──> supervisor ── forks ──> guard, one a run ── forks ──> command ──> its descendants
      └─────────────────── channel, one a run ─────┘

A guard is the subreaper of its command (prctl(2)): a descendant whose parent exits becomes the guard's child, whatever
session it is in, whatever it closed and forgot. So what is below the guard is what belongs to the run, exactly, and a
guard that has no children left knows that all of it is gone. No output passes through here.

| who dies | what happens |
|---|---|
| the owner | each guard ends what is below it: TERM, KILL after `OWNER_GRACE` |
| the supervisor | its guards tell the owner, which ends the commands |
| both | as the first |
| a guard | its command is killed with it (PDEATHSIG), the rest by the supervisor, a subreaper too |
| all of them at once | the command is killed with its guard; of its descendants nobody is left who knows |

A run that is over is released: what it left running is out of our hands, and lives on when the owner dies. Its guard
stays for as long, to collect what ends and to drain the pipes that are held.

The sockets carry whole messages (SOCK_SEQPACKET), words of ASCII, with file descriptors where it says so:

    control   supervisor: ready
              owner: run + FDS         the guard's end of a channel, the request, 0, 1, 2 and the directory to run in
    lifeline  supervisor: run + FDS    the same, passed on to a guard that was forked ahead
              guard: release           its run is over
    channel   guard: started PID TIME  TIME as `Entry.started`
                     failed ERRNO STEP instead: nothing was started, "fork", "cwd" or "exec" is what failed
                     orphaned          the supervisor died
                     exited CODE CPU PEAK, gone CPU PEAK
                                       the command, and all of the run: -n for signal n, seconds, bytes
              owner: signal N          to everything below the guard
                     drain + FDS       reading ends of pipes
                     release           the run is over

A request is a file: the umask in octal, the numbers of programs to try and of arguments, these programs, these
arguments, and the environment as NAME=VALUE, joined by NULs.
"""

from __future__ import annotations

import array
import contextlib
import errno
import fcntl
import os
import resource  # noqa: F401 - wait4 imports it: once here, not in every guard
import select
import signal
import socket
import sys
import termios
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Not imported: it would take as long as all the rest.
    from typing import NoReturn

#: Words of the protocol.
READY, RUN = b"ready", b"run"
STARTED, FAILED, ORPHANED, EXITED, GONE = b"started", b"failed", b"orphaned", b"exited", b"gone"
SIGNAL, DRAIN, RELEASE = b"signal", b"drain", b"release"

#: Seconds between TERM and KILL when the owner has died: within 2 seconds nothing is left.
OWNER_GRACE = 1.0
#: Seconds for which KILL is repeated for what was forked meanwhile. What survives so long hangs in the kernel, or is
#: another user's.
KILL_PATIENCE = 5.0
#: Seconds between two looks for survivors: the first, and the longest.
FIRST_PAUSE, LAST_PAUSE = 0.005, 0.25
#: Looks at our own children that follow each, to catch who is too fast for that.
CHASE = 20
#: Seconds between two samples of the memory, and until the first one.
SAMPLE_INTERVAL, FIRST_SAMPLE = 1.0, 0.5
#: A sample looks at all processes of the machine: it may take this part of a processor.
SAMPLE_SHARE = 0.01
#: Bytes drained at a time, and the seconds of rest after that many: 100 MB/s are enough for what nobody reads.
DRAIN_BYTES, DRAIN_REST = 1024 * 1024, 0.01
#: Bytes. No message is longer.
MESSAGE_BYTES = 256
#: File descriptors of a request; no message has more.
REQUEST_FDS = 6

# Of linux/prctl.h.
_PR_SET_PDEATHSIG, _PR_SET_NAME, _PR_SET_CHILD_SUBREAPER = 1, 15, 36
#: What `ps -o comm` calls a supervisor and its guards.
NAME = "boundcap"

#: What would end or halt a program that was meant for the kernel or its terminal. The owner's death is what ends us.
_DEAF_TO = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGTSTP", "SIGUSR1", "SIGUSR2")


# --- messages


def send(sock: socket.socket, *words: object, fds: tuple[int, ...] = (), flags: int = 0) -> None:
    """Raises OSError if nobody is there to hear it."""
    data = b" ".join(word if isinstance(word, bytes) else str(word).encode() for word in words)
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    sock.sendmsg([data], rights, flags | socket.MSG_NOSIGNAL)


def receive(sock: socket.socket, flags: int = 0) -> tuple[list[bytes], list[int]]:
    """The words of the next message and its file descriptors; no words at the end."""
    room = socket.CMSG_SPACE(REQUEST_FDS * array.array("i").itemsize)
    while True:
        try:
            data, ancillary, _, _ = sock.recvmsg(MESSAGE_BYTES, room, flags | socket.MSG_CMSG_CLOEXEC)
        except ConnectionResetError:
            # Said once if the other side left without reading everything. What it sent before that comes next.
            continue
        fds = array.array("i")
        for _, _, payload in ancillary:
            fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
        return data.split(), fds.tolist()


# --- processes


class Entry:
    """A process as /proc/PID/stat has it (proc(5)). `started` tells two of one number apart; `resident` is in pages."""

    __slots__ = ("group", "name", "parent", "pid", "resident", "session", "started", "state")

    def __init__(self, pid: int, stat: bytes) -> None:
        # The name, in parentheses, may contain anything.
        end = stat.rindex(b")")
        fields = stat[end + 2 :].split()
        self.pid = pid
        self.name = stat[stat.index(b"(") + 1 : end]
        self.state = fields[0]
        self.parent, self.group, self.session = int(fields[1]), int(fields[2]), int(fields[3])
        self.started = int(fields[19])
        self.resident = int(fields[21])

    @property
    def is_alive(self) -> bool:
        return self.state not in (b"Z", b"X")


def look(pid: int) -> Entry | None:
    """The process of this number, None if there is none."""
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
        try:
            return Entry(pid, os.read(fd, 4096))
        finally:
            os.close(fd)
    except (FileNotFoundError, ProcessLookupError):
        return None


def processes() -> dict[int, Entry]:
    """All processes by number. Costs some 15 µs each."""
    found = (look(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return {entry.pid: entry for entry in found if entry is not None}


def below(table: dict[int, Entry], roots: tuple[int, ...], sessions: tuple[int, ...] = ()) -> list[Entry]:
    """The living below the processes `roots`, and of the `sessions` that were made there.

    Whoever shares a session with one of them is one too, since a session is entered by birth alone: that finds those
    whose parent exited while the table was made.
    """
    children: dict[int, list[Entry]] = {}
    mates: dict[int, list[Entry]] = {}
    for entry in table.values():
        children.setdefault(entry.parent, []).append(entry)
        mates.setdefault(entry.session, []).append(entry)
    found: dict[int, Entry] = {}
    # Session 0 is every one outside of this container.
    seen = {0, os.getsid(0), *sessions}
    todo = [entry for root in roots for entry in children.get(root, ())]
    todo += [entry for session in sessions for entry in mates.get(session, ())]
    while todo:
        entry = todo.pop()
        if entry.pid in found:
            continue
        found[entry.pid] = entry
        todo += children.get(entry.pid, ())
        if entry.session not in seen:
            seen.add(entry.session)
            todo += mates.get(entry.session, ())
    return [entry for entry in found.values() if entry.is_alive]


def signal_groups(entries: list[Entry], number: int) -> None:
    """Send a signal to each process once, by groups: none can fork its way out of that."""
    # Group 0 is one outside of this container, and means our own to kill(2).
    for group in {entry.group for entry in entries} - {0}:
        # Gone by now, or all of another user (sudo).
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


class Killing:
    """KILL, repeated until nobody is left of those that `targets` finds, or there is no hope. Told the time."""

    def __init__(self, now: float) -> None:
        self.due: float | None = now
        self._pause = FIRST_PAUSE
        self._until = now + KILL_PATIENCE

    def step(self, now: float, targets: list[Entry]) -> None:
        signal_groups(targets, signal.SIGKILL)
        self.due = now + self._pause if now < self._until else None
        self._pause = min(2 * self._pause, LAST_PAUSE)


# --- what both kinds of process here do


class _System:
    """prctl(2), which Python does not have."""

    def __init__(self) -> None:
        import ctypes

        self._function = ctypes.CDLL(None, use_errno=True).prctl
        self._function.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
        self._errno = ctypes.get_errno
        self._name = ctypes.create_string_buffer(NAME.encode())
        self._name_address = ctypes.addressof(self._name)

    def _prctl(self, option: int, value: int) -> None:
        """Raises OSError."""
        if self._function(option, value, 0, 0, 0) != 0:
            raise OSError(self._errno(), f"prctl {option}: {os.strerror(self._errno())}")

    def become_subreaper(self) -> None:
        self._prctl(_PR_SET_CHILD_SUBREAPER, 1)

    def take_name(self) -> None:
        self._prctl(_PR_SET_NAME, self._name_address)

    def die_with_parent(self, parent: int) -> None:
        self._prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            # It died before we said so.
            os._exit(127)


class _Waiter:
    """poll(2) that also wakes for a child that ended. One a process: a fork makes its own."""

    def __init__(self) -> None:
        self._woken, self._wake = os.pipe()
        for fd in (self._woken, self._wake):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        self._poll = select.poll()
        self.watch(self._woken)

    def watch(self, fd: int) -> None:
        self._poll.register(fd, select.POLLIN)

    def forget(self, fd: int) -> None:
        self._poll.unregister(fd)

    def wait(self, until: float | None) -> set[int]:
        """The descriptors that have news, waited for until the given time."""
        patience = None if until is None else max(0, int((until - time.monotonic()) * 1000) + 1)
        ready = {fd for fd, _ in self._poll.poll(patience)}
        if self._woken in ready:
            with contextlib.suppress(BlockingIOError):
                while os.read(self._woken, 4096):
                    pass
        return ready

    def close(self) -> None:
        os.close(self._woken)
        os.close(self._wake)


# --- the guard


class Guard:
    """The process above one command. `lifeline` is the supervisor's, `owner` a pidfd of the owner's or None."""

    def __init__(
        self,
        system: _System,
        waiter: _Waiter,
        channel: socket.socket,
        lifeline: socket.socket,
        owner: int | None,
    ) -> None:
        self._system = system
        self._channel = channel
        self._lifeline = lifeline
        self._waiter = waiter
        self._command = 0
        self._cpu = 0.0
        self._peak = 0
        self._gone = False
        self._draining: set[int] = set()
        #: The run is over, or we are the only ones who still care for it.
        self._released = self._bereft = False
        #: When KILL follows to TERM, and the killing since.
        self._kill_at: float | None = None
        self._killing: Killing | None = None
        self._sample_at: float | None = None
        self._owner = [fd for fd in (channel.fileno(), owner) if fd is not None]
        for fd in (lifeline.fileno(), *self._owner):
            self._waiter.watch(fd)

    def start(self, request: int, stdio: list[int], directory: int, defaults: list[int]) -> bool:
        """Start the command and tell the owner; False if that was not possible. Takes the file descriptors."""
        umask, programs, argv, environment = _read_request(request)
        try:
            error, report = os.pipe()
            guard, self._command = os.getpid(), os.fork()
        except OSError as failure:
            self._tell(FAILED, failure.errno, "fork")
            return False
        if self._command == 0:
            # What Python itself refuses, such as a program without a name.
            reason = f"{errno.EINVAL} exec"
            try:
                self._system.die_with_parent(guard)
                reason = _become(programs, argv, environment, umask, stdio, directory, defaults)
            finally:
                os.write(report, reason.encode())
                os._exit(127)
        for fd in (report, request, directory, *stdio):
            os.close(fd)
        # Closed by exec, or by the end of a child that could not.
        failed = os.read(error, MESSAGE_BYTES)
        os.close(error)
        if failed:
            os.waitpid(self._command, 0)
            self._tell(FAILED, failed)
            return False
        # Not yet collected, so this is the command even if it has exited.
        entry = look(self._command)
        assert entry is not None
        self._tell(STARTED, self._command, entry.started)
        self._sample_at = time.monotonic() + FIRST_SAMPLE
        return True

    def run(self) -> None:
        """Watch over the command until the run is over, and over what it left until that is gone."""
        self._collect()
        while not self._is_done():
            ready = self._waiter.wait(self._due())
            self._collect()
            if not (self._released or self._bereft):
                if self._channel.fileno() in ready:
                    self._obey()
                elif ready.intersection(self._owner):
                    self._lose_owner()
            if self._lifeline.fileno() in ready:
                self._lose_supervisor()
            for fd in self._draining & ready:
                self._drain(fd)
            self._keep_time(time.monotonic())

    def _is_done(self) -> bool:
        if self._bereft:
            return self._gone or (self._killing is not None and self._killing.due is None)
        return self._released and self._gone and not self._draining

    def _due(self) -> float | None:
        times = [self._kill_at, self._sample_at, self._killing.due if self._killing is not None else None]
        return min((moment for moment in times if moment is not None), default=None)

    def _collect(self) -> None:
        """Collect the children that ended, the adopted ones included."""
        while not self._gone:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                # There is nobody below us any more: every descendant has an ancestor among our children.
                self._gone = True
                self._sample_at = self._kill_at = self._killing = None
                self._tell(GONE, self._cpu, self._peak)
                return
            if pid == 0:
                return
            self._cpu += usage.ru_utime + usage.ru_stime
            if pid == self._command:
                self._tell(EXITED, os.waitstatus_to_exitcode(status), self._cpu, self._peak)

    def _tell(self, *words: object) -> None:
        # An owner that does not hear it is dead, and then that is what we hear of next; or it is not interested.
        with contextlib.suppress(OSError):
            send(self._channel, *words, flags=socket.MSG_DONTWAIT)

    def _obey(self) -> None:
        words, fds = receive(self._channel)
        if not words:
            self._lose_owner()
        elif words[0] == SIGNAL:
            number = int(words[1])
            if number == signal.SIGKILL:
                self._killing = Killing(time.monotonic())
            else:
                self._signal(number)
        elif words[0] == DRAIN:
            for fd in fds:
                self._draining.add(fd)
                self._waiter.watch(fd)
        elif words[0] == RELEASE:
            self._released = True
            self._sample_at = None
            self._part_with_owner()
            self._part_with_supervisor()

    def _signal(self, number: int) -> None:
        family = self._family()
        if number == signal.SIGINT:
            # A command may run commands of its own with this package, and an interrupt makes it stop them. Two would
            # be one too many for what saves its work on the first.
            nested = tuple(entry.pid for entry in family if entry.name == NAME.encode())
            theirs = {entry.pid for entry in below(processes(), nested)}
            family = [entry for entry in family if entry.pid not in theirs]
        signal_groups(family, number)

    def _family(self) -> list[Entry]:
        return below(processes(), (os.getpid(),))

    def _chase(self) -> None:
        """Kill who forks and exits so fast that it is another one by the time a look at all processes is over.

        Each of them falls to us, and a child keeps its number until we collect it.
        """
        for _ in range(CHASE):
            self._collect()
            if self._gone:
                return
            # Not every kernel has this file.
            with contextlib.suppress(OSError), open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
                for pid in file.read().split():
                    os.kill(int(pid), signal.SIGKILL)

    def _lose_owner(self) -> None:
        """The owner died: nobody else will end this."""
        self._bereft = True
        self._part_with_owner()
        if not self._gone:
            self._signal(signal.SIGTERM)
            self._kill_at = time.monotonic() + OWNER_GRACE

    def _lose_supervisor(self) -> None:
        """The supervisor died: if we do too, nobody knows what is below us."""
        self._part_with_supervisor()
        self._tell(ORPHANED)

    def _part_with_owner(self) -> None:
        for fd in self._owner:
            self._waiter.forget(fd)
        self._channel.close()

    def _part_with_supervisor(self) -> None:
        if self._lifeline.fileno() >= 0:
            with contextlib.suppress(OSError):
                send(self._lifeline, RELEASE, flags=socket.MSG_DONTWAIT)
            self._waiter.forget(self._lifeline.fileno())
            self._lifeline.close()

    def _drain(self, fd: int) -> None:
        if len(data := _read_or_end(fd)) == 0:
            self._draining.discard(fd)
            self._waiter.forget(fd)
            os.close(fd)
        elif len(data) >= DRAIN_BYTES // 2:
            time.sleep(DRAIN_REST)

    def _keep_time(self, now: float) -> None:
        if self._kill_at is not None and now >= self._kill_at:
            self._kill_at, self._killing = None, Killing(now)
        if self._killing is not None and self._killing.due is not None and now >= self._killing.due:
            self._killing.step(now, self._family())
            self._chase()
        if self._sample_at is not None and now >= self._sample_at:
            resident = sum(entry.resident for entry in self._family())
            self._peak = max(self._peak, resident * os.sysconf("SC_PAGESIZE"))
            end = time.monotonic()
            self._sample_at = end + max(SAMPLE_INTERVAL, (end - now) / SAMPLE_SHARE)


def _read_or_end(fd: int) -> bytes:
    """What is there to be drained, nothing at the end, which a terminal tells by EIO (pty(7))."""
    try:
        return os.read(fd, DRAIN_BYTES)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return b""


def _read_request(request: int) -> tuple[int, list[bytes], list[bytes], dict[bytes, bytes]]:
    with open(request, "rb", closefd=False) as file:
        file.seek(0)
        umask, program_count, word_count, *words = file.read().split(b"\0")
    first = int(program_count)
    rest = first + int(word_count)
    pairs = (word.split(b"=", 1) for word in words[rest:])
    return int(umask, 8), words[:first], words[first:rest], {name: value for name, value in pairs if name}


def _become(
    programs: list[bytes],
    argv: list[bytes],
    environment: dict[bytes, bytes],
    umask: int,
    stdio: list[int],
    directory: int,
    defaults: list[int],
) -> str:
    """Turn this process, which has just been forked, into the command; returns only to say why it could not."""
    step = "exec"
    try:
        os.setsid()
        for number, fd in enumerate(stdio):
            os.dup2(fd, number)
        if os.isatty(0):
            # As at a terminal: Ctrl-C and job control work. It may be another session's already.
            with contextlib.suppress(OSError):
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        for number in defaults:
            signal.signal(number, signal.SIG_DFL)
        os.umask(umask)
        step = "cwd"
        os.fchdir(directory)
        step = "exec"
        # All other descriptors close by themselves.
        _execute(programs, argv, environment)
    except OSError as error:
        return f"{error.errno} {step}"


def _execute(programs: list[bytes], argv: list[bytes], environment: dict[bytes, bytes]) -> NoReturn:
    """Become the first of the programs that there is. Raises OSError for the one that comes nearest to it."""
    nearest = None
    for path in programs:
        try:
            os.execve(path, argv, environment)
        except OSError as error:
            if nearest is None or isinstance(nearest, (FileNotFoundError, NotADirectoryError)):
                nearest = error
    assert nearest is not None
    raise nearest


# --- the supervisor


class Supervisor:
    """Forks guards on request, collects them, and kills what one leaves behind that died before its run was over."""

    def __init__(self, system: _System, control: socket.socket, owner: int | None, defaults: list[int]) -> None:
        self._system = system
        self._control = control
        self._owner = owner
        self._defaults = defaults
        self._waiter = _Waiter()
        #: By number of the process: our end of the guard's lifeline, None once its run is over.
        self._guards: dict[int, socket.socket | None] = {}
        #: The guard of the next run, forked ahead: a Python process that was just forked is slow at first.
        self._spare: int | None = None
        #: What guards left behind whose run was over: out of our hands.
        self._left: set[int] = set()
        self._killing: Killing | None = None
        for fd in (control.fileno(), owner):
            if fd is not None:
                self._waiter.watch(fd)

    def run(self) -> None:
        """Serve until the owner dies, then wait a little for the guards, which end their commands."""
        until = None
        self._fork_guard([])
        while until is None or (any(self._guards.values()) and time.monotonic() < until):
            due = self._killing.due if self._killing is not None else None
            ready = self._waiter.wait(min((moment for moment in (due, until) if moment is not None), default=None))
            if until is None and not self._serve(ready):
                until = time.monotonic() + OWNER_GRACE + KILL_PATIENCE
            for pid, lifeline in list(self._guards.items()):
                if lifeline is not None and lifeline.fileno() in ready:
                    self._hear(pid, lifeline)
            self._collect()
            now = time.monotonic()
            if self._killing is not None and self._killing.due is not None and now >= self._killing.due:
                self._killing.step(now, self._abandoned())

    def _serve(self, ready: set[int]) -> bool:
        """Do what the owner asks; False if it died."""
        if self._owner in ready or self._control.fileno() in ready:
            words, fds = ([], []) if self._owner in ready else receive(self._control)
            if not words:
                self._waiter.forget(self._control.fileno())
                self._control.close()
                if self._owner is not None:
                    self._waiter.forget(self._owner)
                if self._spare is not None:
                    self._part_with(self._spare)
                return False
            if fds:
                self._grant(fds)
        return True

    def _grant(self, fds: list[int]) -> None:
        """Have a guard see to a request, or say why not."""
        try:
            # What is missing was cut off by the limit of this process.
            number = self._dispatch(fds) if len(fds) == REQUEST_FDS else errno.EMFILE
            if number:
                # Not a duplicate, for which there is no room where the descriptors are what is missing.
                channel = socket.socket(fileno=fds[0])
                with contextlib.suppress(OSError):
                    send(channel, FAILED, number, "fork", flags=socket.MSG_DONTWAIT)
                channel.detach()
        finally:
            for fd in fds:
                os.close(fd)
        if self._spare is None:
            self._fork_guard([])

    def _dispatch(self, fds: list[int]) -> int:
        """Pass a request on to a guard. Returns 0, or the number of the error."""
        for _ in range(2):
            if self._spare is None and (number := self._fork_guard(fds)):
                return number
            assert self._spare is not None
            lifeline = self._guards[self._spare]
            assert lifeline is not None
            self._spare = None
            # One that was killed while it waited is none; a second one is another's turn.
            with contextlib.suppress(OSError):
                send(lifeline, RUN, fds=tuple(fds), flags=socket.MSG_DONTWAIT)
                return 0
        return errno.EAGAIN

    def _fork_guard(self, fds: list[int]) -> int:
        """Fork the next spare guard, which has no business with `fds`. Returns 0, or the number of the error."""
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError as error:
            return error.errno or errno.EMFILE
        with theirs:
            try:
                pid = os.fork()
            except OSError as error:
                ours.close()
                return error.errno or errno.EAGAIN
            if pid == 0:
                self._guard(theirs, ours, fds)
        self._spare = pid
        self._guards[pid] = ours
        self._waiter.watch(ours.fileno())
        return 0

    def _guard(self, lifeline: socket.socket, ours: socket.socket, fds: list[int]) -> None:
        """The life of a guard, in the process that was forked for it; does not return."""
        code = 1
        try:
            # A guard that held these would keep others from hearing of our end, or of an output's.
            for other in (self._control, ours, *filter(None, self._guards.values())):
                other.close()
            for fd in fds:
                os.close(fd)
            self._waiter.close()
            waiter = _Waiter()
            self._system.become_subreaper()
            words, received = receive(lifeline)
            if words and len(received) < REQUEST_FDS:
                # What is missing was cut off by the limit of this process.
                if received:
                    send(socket.socket(fileno=received[0]), FAILED, errno.EMFILE, "fork", flags=socket.MSG_DONTWAIT)
            elif words:
                channel, request, *stdio, directory = received
                guard = Guard(self._system, waiter, socket.socket(fileno=channel), lifeline, self._owner)
                if guard.start(request, stdio, directory, self._defaults):
                    guard.run()
            code = 0
        finally:
            # Whatever happened: never back into the supervisor's loop.
            os._exit(code)

    def _hear(self, pid: int, lifeline: socket.socket) -> None:
        """A guard says that its run is over, or dies, which is seen to when it is collected."""
        with contextlib.suppress(BlockingIOError):
            if receive(lifeline, socket.MSG_DONTWAIT)[0]:
                self._part_with(pid)

    def _part_with(self, pid: int) -> None:
        if (lifeline := self._guards[pid]) is not None:
            self._waiter.forget(lifeline.fileno())
            lifeline.close()
            self._guards[pid] = None

    def _collect(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid not in self._guards:
                self._left.discard(pid)
                continue
            lifeline = self._guards[pid]
            if lifeline is not None:
                # Its last words may be in there still.
                self._hear(pid, lifeline)
            released = self._guards[pid] is None
            self._part_with(pid)
            del self._guards[pid]
            if pid == self._spare:
                self._spare = None
            if status != 0 and released:
                self._left.update(entry.pid for entry in self._abandoned())
            elif status != 0:
                self._killing = Killing(time.monotonic())

    def _abandoned(self) -> list[Entry]:
        """What fell to us from guards that died before their run was over, and all below it."""
        table = processes()
        kept = {*self._guards, *self._left}
        roots = [entry for entry in table.values() if entry.parent == os.getpid() and entry.pid not in kept]
        found = below(table, tuple(entry.pid for entry in roots), tuple({entry.session for entry in roots}))
        return [*found, *(entry for entry in roots if entry.is_alive)]


def main(control: int, owner: int) -> None:
    """Become the supervisor of whoever holds the other end of `control`. Raises OSError where that is not possible."""
    for fd in (control, owner):
        if fd >= 0:
            os.set_inheritable(fd, False)
    # Not a child of the owner's, where somebody may wait for all children, or end them all.
    if os.fork() != 0:
        os._exit(0)
    system = _System()
    system.become_subreaper()
    system.take_name()
    if look(os.getpid()) is None:
        raise OSError("there is no /proc")
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    # A handler of any kind, for the wake-up: children must not vanish before they are collected.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    before = {name: signal.signal(getattr(signal, name), signal.SIG_IGN) for name in _DEAF_TO}
    # What was ignored here already (nohup) stays so for the commands, except the interrupt: Stop is one. Python ignores
    # the last two for itself.
    defaults = [name for name, handler in before.items() if handler != signal.SIG_IGN or name == "SIGINT"]
    numbers = [int(getattr(signal, name)) for name in (*defaults, "SIGPIPE", "SIGXFSZ")]
    sock = socket.socket(fileno=control)
    send(sock, READY)
    Supervisor(system, sock, owner if owner >= 0 else None, numbers).run()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
