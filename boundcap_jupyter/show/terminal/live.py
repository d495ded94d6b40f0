"""The live block of a run in a terminal, drawn by a thread of its own while the main thread waits."""

from __future__ import annotations

import os
import threading
import time
from typing import TextIO

from boundcap_jupyter.core.limits import Retain
from boundcap_jupyter.core.update import Replace, Update, apply_update
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.show.terminal.block import Scene, block_rows
from boundcap_jupyter.show.terminal.pace import Pace
from boundcap_jupyter.show.terminal.painter import Painter
from boundcap_jupyter.show.terminal.stream import write

#: Seconds between two drawings: faster than anyone reads, slow enough for a remote terminal. And before the first: what
#: is over sooner is worth no flicker.
REDRAW_INTERVAL = 0.1
#: Seconds between two looks at the size of the terminal.
LOOK = 0.2
#: Seconds after which a block with nothing new is drawn again, for the time that passes.
TICK = 1.0
#: Seconds without a look after which the program was stopped (Ctrl-Z), and a shell has written where the block was.
STOPPED = 1.0


class LiveBlock:
    """Draws in the terminal behind `stream` from `start` to `end`; fed with updates from any thread between them.

    If drawing fails, the thread ends with the exception, which `threading.excepthook` reports; the run goes on.
    """

    def __init__(self, stream: TextIO, retain: Retain, *, colours: bool) -> None:
        self._stream = stream
        self._retain = retain
        self._colours = colours
        self._painter = Painter()
        self._view: OutputView | None = None
        self._stderr_view: OutputView | None = None
        #: Which of the two has the news.
        self._latest_is_stderr = False
        self._stopping = False
        self._started = self._looked = time.monotonic()
        self._pace = Pace(self._started)
        self._changed = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._draw, name="boundcap-terminal", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def take(self, update: Update) -> None:
        self._view, self._latest_is_stderr = _fold(self._view, update), False
        self._changed.set()

    def take_stderr(self, update: Update) -> None:
        self._stderr_view, self._latest_is_stderr = _fold(self._stderr_view, update), True
        self._changed.set()

    def stopping(self) -> None:
        """The run was asked to end."""
        self._stopping = True
        self._changed.set()

    def end(self) -> None:
        """Take the block away, and wait until it is."""
        self._over.set()
        self._changed.set()
        self._thread.join()

    def _draw(self) -> None:
        try:
            while not self._over.wait(REDRAW_INTERVAL):
                size = terminal_size(self._stream)
                # Before it is drawn: what comes meanwhile is drawn next.
                self._changed.clear()
                away = in_background(self._stream)
                if away or time.monotonic() - self._looked > STOPPED:
                    self._painter.forget()
                if not away:
                    self._write(self._painter.frame(self._rows(size), size, time.monotonic()))
                self._wait(size)
        finally:
            self._write(self._painter.erase())

    def _wait(self, size: tuple[int, int]) -> None:
        """Until there is something to draw."""
        # As the seconds of the run turn, so that none is passed over.
        now = self._looked = time.monotonic()
        tick = now + TICK - (now - self._started) % TICK
        while (left := tick - time.monotonic()) > 0 and terminal_size(self._stream) == size:
            self._looked = time.monotonic()
            if self._changed.wait(min(left, LOOK)):
                break

    def _write(self, text: str) -> None:
        if text:
            write(self._stream, text)

    def _rows(self, size: tuple[int, int]) -> list[str]:
        now = time.monotonic()
        view, errors = self._view, self._stderr_view
        total = sum(text.metadata.truncation.total_bytes for text in (view, errors) if text is not None)
        self._pace.take(total, now)
        elapsed, pace = now - self._started, self._pace.words(now)
        scene = Scene(elapsed, view, errors, self._latest_is_stderr, self._stopping, pace)
        columns, lines = size
        return block_rows(scene, self._retain, columns, lines, colours=self._colours)


def terminal_size(stream: TextIO) -> tuple[int, int]:
    """(columns, lines); lines are 0 where the terminal does not tell."""
    try:
        columns, lines = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        columns, lines = 0, 0
    return columns or 80, lines


def row_columns(stream: TextIO) -> int | None:
    """Columns that a row of text may take now, None where `stream` is no terminal.

    One less than the terminal has: what ends in the last column may wrap.
    """
    return terminal_size(stream)[0] - 1 if stream.isatty() else None


def in_background(stream: TextIO) -> bool:
    """Whether the terminal belongs to another job of the shell at the moment, whose text is not ours to draw over."""
    try:
        return os.tcgetpgrp(stream.fileno()) != os.getpgrp()
    except (OSError, ValueError):
        # Not our controlling terminal: no shell gives it to anybody.
        return False


def _fold(view: OutputView | None, update: Update) -> OutputView | None:
    if isinstance(update, Replace):
        return update.output
    return None if view is None else apply_update(view, update)
