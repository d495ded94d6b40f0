"""A run in a terminal: one live line while it runs, then the bounded text and the status line."""

from __future__ import annotations

import os
import sys
import threading
import time
import unicodedata
from collections.abc import Callable
from typing import TextIO

from boundcap_jupyter.core.limits import Retain
from boundcap_jupyter.core.text import plain
from boundcap_jupyter.core.update import Replace, Update, apply_update
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.show.markup import plain_text
from boundcap_jupyter.show.static import Outcome, static_text
from boundcap_jupyter.show.summary import DOT, duration, omission, printed, sections, totals

#: Seconds between two drawings of the live line: faster than anyone reads, slow enough for a remote terminal.
REDRAW_INTERVAL = 0.1
#: Seconds after which a line with nothing new is drawn again, for the time that passes.
TICK = 1.0

_CLEAR_LINE = "\r\x1b[K"
#: Ends colours and a link, whatever of them is open.
_RESET = "\x1b[0m\x1b]8;;\x1b\\"


class TerminalDisplay:
    """Shows a run in the terminal behind `out` and `err`, by default the standard output and error of the moment.

    While the run goes on, `err`, if it is a terminal, has one line with its time, totals and last line of output. At
    the end `out` gets the text, in colours if it is a terminal and NO_COLOR is not set, and the status line.
    """

    def __init__(self, retain: Retain = "tail", *, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._retain = retain
        self._out = out
        self._err = err
        self._view: OutputView | None = None
        self._stderr_view: OutputView | None = None
        #: Which of the two has the news.
        self._latest_is_stderr = False
        self._started = time.monotonic()
        self._changed = threading.Event()
        self._over = threading.Event()
        self._drawer: threading.Thread | None = None
        self._closed = False

    def opened(self, stop: Callable[[], None]) -> None:  # noqa: ARG002 - here Ctrl-C is the way to stop
        """Begin to show."""
        self._started = time.monotonic()
        err = self._err or sys.stderr
        if _is_terminal(err):
            self._drawer = threading.Thread(target=self._draw, args=(err,), name="boundcap-terminal", daemon=True)
            self._drawer.start()

    def __call__(self, update: Update, /) -> None:
        if self._drawer is not None:
            self._view, self._latest_is_stderr = _fold(self._view, update), False
            self._changed.set()

    def take_stderr(self, update: Update, /) -> None:
        if self._drawer is not None:
            self._stderr_view, self._latest_is_stderr = _fold(self._stderr_view, update), True
            self._changed.set()

    def stopping(self) -> None:
        """The live line goes on until it is over."""

    def closed(self, outcome: Outcome) -> None:
        """Take the live line away and print the result, once."""
        if self._closed:
            return
        self._closed = True
        self._over.set()
        self._changed.set()
        if self._drawer is not None:
            self._drawer.join()
        out = self._out or sys.stdout
        out.write(terminal_text(outcome, self._retain, colours=_is_terminal(out) and not os.environ.get("NO_COLOR")))
        out.flush()

    def _draw(self, err: TextIO) -> None:
        while not self._over.is_set():
            line = self._live_line()
            err.write(_CLEAR_LINE + clip(line, _columns(err) - 1))
            err.flush()
            self._over.wait(REDRAW_INTERVAL)
            self._changed.wait(TICK)
            self._changed.clear()
        err.write(_CLEAR_LINE)
        err.flush()

    def _live_line(self) -> str:
        elapsed = time.monotonic() - self._started
        return live_line(self._view, elapsed, self._retain, self._stderr_view, self._latest_is_stderr)


def live_line(
    view: OutputView | None,
    elapsed: float,
    retain: Retain = "tail",
    stderr_view: OutputView | None = None,
    latest_is_stderr: bool = False,
) -> str:
    """What is going on, in one line of plain text; of two streams, the last line of the one that has the news."""
    parts = ["running", duration(elapsed)]
    if view is not None and len(sections(view, stderr_view)) == 1:
        parts += totals(view.metadata)
    else:
        both = (("stdout", view), ("stderr", stderr_view))
        parts += [f"{name}: {printed(text.metadata)}" for name, text in both if text is not None]
    latest = stderr_view if latest_is_stderr else view
    # A full head stands still: its last line says nothing of what goes on.
    if latest is not None and (retain != "head" or not latest.metadata.truncation.truncated):
        parts.append(plain(latest.text.rstrip("\n").rpartition("\n")[2]).replace("\t", " "))
    return DOT.join(part for part in parts if part)


def terminal_text(outcome: Outcome, retain: Retain = "tail", *, colours: bool) -> str:
    """The bounded text, the status line below it, and a newline."""
    return static_text(outcome, retain, coloured if colours else plain_text) + "\n"


def clip(text: str, columns: int) -> str:
    """The beginning of a plain text that takes at most `columns` columns of a terminal, "…" for what is cut."""
    width = 0
    for index, character in enumerate(text):
        width += _width(character)
        if width > columns:
            # The ellipsis needs a column of its own, and a wide character is two.
            kept = text[:index]
            while kept and sum(map(_width, kept)) >= columns:
                kept = kept[:-1]
            return kept + "…" if columns > 0 else ""
    return text


def _fold(view: OutputView | None, update: Update) -> OutputView | None:
    if isinstance(update, Replace):
        return update.output
    return None if view is None else apply_update(view, update)


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


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _is_terminal(stream: TextIO) -> bool:
    """A terminal that knows escape sequences."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"
