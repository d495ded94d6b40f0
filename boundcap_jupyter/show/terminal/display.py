"""A run in a terminal: a live block while it runs, then the bounded text and the status line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from boundcap_jupyter.core.limits import Retain
from boundcap_jupyter.core.text import plain
from boundcap_jupyter.core.update import Update
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.show.markup import plain_text
from boundcap_jupyter.show.static import Outcome, static_text
from boundcap_jupyter.show.summary import omission
from boundcap_jupyter.show.terminal.stream import write

if TYPE_CHECKING:
    from boundcap_jupyter.show.terminal.live import LiveBlock

#: Ends colours and a link, whatever of them is open.
_RESET = "\x1b[0m\x1b]8;;\x1b\\"


class TerminalDisplay:
    """Shows a run in the terminal behind `out` and `err`, by default the standard output and error of the moment.

    While the run goes on, `err`, if it is a terminal, has its last rows, time and totals, redrawn in place. At the end
    `out` gets the text and the status line. Both are in colours in a terminal if NO_COLOR is not set.
    """

    def __init__(self, retain: Retain = "tail", *, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._retain = retain
        self._out = out
        self._err = err
        self._live: LiveBlock | None = None
        self._closed = False

    def opened(self, stop: Callable[[], None]) -> None:  # noqa: ARG002 - here Ctrl-C is the way to stop
        """Begin to show."""
        err = self._err or sys.stderr
        if _is_terminal(err):
            # Here: the widths of characters take 30 ms to import, and kernels have no use for them.
            from boundcap_jupyter.show.terminal.live import LiveBlock

            self._live = LiveBlock(err, self._retain, colours=_wants_colours(err))
            self._live.start()

    def __call__(self, update: Update, /) -> None:
        if self._live is not None:
            self._live.take(update)

    def take_stderr(self, update: Update, /) -> None:
        if self._live is not None:
            self._live.take_stderr(update)

    def stopping(self) -> None:
        if self._live is not None:
            self._live.stopping()

    def closed(self, outcome: Outcome) -> None:
        """Take the live block away and print the result, once."""
        if self._closed:
            return
        self._closed = True
        if self._live is not None:
            self._live.end()
        out = self._out or sys.stdout
        write(out, terminal_text(outcome, self._retain, colours=_wants_colours(out)))


def terminal_text(outcome: Outcome, retain: Retain = "tail", *, colours: bool) -> str:
    """The bounded text, the status line below it, and a newline."""
    return static_text(outcome, retain, coloured if colours else plain_text) + "\n"


def coloured(view: OutputView) -> str:
    """The text of a view with its SGR sequences and links, which end with it."""
    head = ""
    if view.head:
        newline = "" if plain(view.head).endswith("\n") else "\n"
        head = f"{view.head}{_reset(view.head)}{newline}{omission(view.metadata)}\n"
    body = view.metadata.lead_sgr + view.text
    if not body.endswith("\n"):
        return head + body + _reset(body)
    # Before the newline: a background that is still set would paint the next line.
    return f"{head}{body[:-1]}{_reset(body)}\n"


def _reset(text: str) -> str:
    return _RESET if "\x1b" in text else ""


def _is_terminal(stream: TextIO) -> bool:
    """A terminal that knows escape sequences."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _wants_colours(stream: TextIO) -> bool:
    return _is_terminal(stream) and not os.environ.get("NO_COLOR")
