r"""A pseudo-terminal to print on, for commands that print otherwise when nobody watches.

It is for output alone. The command can not read from it, and it is not its controlling terminal: with nobody there to
type, whatever asks at /dev/tty (a password, a pager) has to fail at once instead of waiting for ever, and a descendant
that is left running is not hung up on when the command ends. Bytes pass unchanged: no newline becomes `\r\n`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import termios

ROWS = 24
#: Bytes that one holds at most for its reader; FIONREAD tells of the first 4 KiB only (Linux: tty_buffer.c, n_tty.c).
HELD_BYTES = 128 * 1024

#: What a command on such a terminal finds in its environment. Nobody could turn the pages of a pager.
VARIABLES = {"PAGER": "cat", "GIT_PAGER": "cat"}
#: Kinds of terminal that the environment may name where it knows of none; the third is ipykernel's.
_NO_TERMINAL = ("", "dumb", "xterm-color")


def open_terminal(columns: int) -> tuple[int, int]:
    """(reading end, writing end) of a new terminal. Raises OSError if there is none to be had."""
    with contextlib.ExitStack() as on_failure:
        master, slave = os.openpty()
        on_failure.callback(os.close, master)
        try:
            attributes = termios.tcgetattr(slave)
            attributes[1] &= ~termios.OPOST
            termios.tcsetattr(slave, termios.TCSANOW, attributes)
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
            # Not even by its name: less would look there for keys.
            os.fchmod(slave, 0o200)
            writing_end = os.open(os.ttyname(slave), os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
        finally:
            os.close(slave)
        on_failure.pop_all()
    return master, writing_end


def set_terminal_variables(environment: dict[str, str]) -> None:
    """Make an environment that of a command on such a terminal."""
    if environment.get("TERM", "") in _NO_TERMINAL:
        environment["TERM"] = "xterm-256color"
    environment.update(VARIABLES)
    for name in ("COLUMNS", "LINES"):
        # The size of another terminal; programs believe it before they ask the one that they are on.
        environment.pop(name, None)
