"""`run_with_capture`: a run whose text is also given away in pieces, as it comes, to who wants no views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from boundcap_jupyter.api import Result, run
from boundcap_jupyter.core.text import plain
from boundcap_jupyter.core.update import Metadata, Replace, Rewrite, Slide, Update, apply_update, diff
from boundcap_jupyter.core.view import OutputView, Rows
from boundcap_jupyter.running.environment import Command
from boundcap_jupyter.show.markup import plain_text

OnChunk = Callable[[str], object]


def run_with_capture(command: Command, on_chunk: OnChunk | None = None, **options: Any) -> Result:
    """Run a command to its end and return one bounded result; give its text away in chunks while it runs.

    `on_chunk(text)` is called in order, from the thread that reads the output, at most ten times a second, with text
    that is never empty and has no colours, as `Result.text`. If it raises, the command is ended and the run fails with
    `callback_error`, the output kept in `.result`. `options` are other arguments of `run`, which says what is raised.

    | update   | what `on_chunk` gets                                                                              |
    |----------|---------------------------------------------------------------------------------------------------|
    | replace  | the first with any text in it: all of it. A later one repeats what was given: only what an append |
    |          | or a slide in its place would have added; nothing, if it shares no line with the view before it   |
    | append   | its text                                                                                          |
    | slide    | its text                                                                                          |
    | rewrite  | its text: the lines from the first that changed to the last, as they now read                     |
    | metadata | nothing                                                                                           |

    What was given is never taken back. So the chunks, joined, are a log: a line that the command rewrites, such as a
    progress bar, is there once for each of its states that was published, one below the other. For this a chunk that
    does not go on where the one before it ended (it rewrites, or text between the two was not given) starts with a
    newline, unless the one before it ended in one. A progress bar that is all that the view holds changes all of it, by
    replaces: then its first state alone is given.

    Chunks tell what goes on and are not the complete output: what a flood carries past the view between two updates is
    in none of them. The view at the end is the result, and the complete output is the spill.
    """
    return run(command, on_update=None if on_chunk is None else Chunks(on_chunk), **options)


class Chunks:
    """A sink that gives `on_chunk` what is new in each update. See `run_with_capture` for the rules."""

    def __init__(self, on_chunk: OnChunk) -> None:
        self._on_chunk = on_chunk
        self._view: OutputView | None = None
        #: The text given so far ends within a line.
        self._open = False
        #: The next text does not go on where the one before it ended.
        self._apart = False

    def __call__(self, update: Update, /) -> None:
        before, step = self._view, update
        self._view = _fold(before, update)
        if isinstance(update, Replace):
            if before is None or not (before.text or before.head):
                self._give(plain_text(update.output))
                return
            # A head that has just been frozen was given as text before.
            step = diff(replace(before, head=self._view.head), self._view) or Metadata(self._view.metadata)
        if isinstance(step, (Replace, Rewrite)):
            self._apart = True
        if not isinstance(step, (Replace, Metadata)):
            self._give(plain(step.text))

    def _give(self, text: str) -> None:
        if not text:
            return
        if self._apart and self._open and not text.startswith("\n"):
            text = "\n" + text
        self._apart = False
        self._open = not text.endswith("\n")
        self._on_chunk(text)


def _fold(view: OutputView | None, update: Update) -> OutputView:
    """`apply_update` that keeps the rows, by which `diff` aligns the next replace. Costs one pass over the text."""
    if isinstance(update, Replace):
        return update.output
    if view is None:
        raise ValueError(f"{update.kind} has no view to change")
    folded = apply_update(view, update)
    if view.rows is None:
        return folded
    drop = update.drop if isinstance(update, (Slide, Rewrite)) else 0
    dropped = view.text.encode("utf-16-le")[: 2 * drop].decode("utf-16-le") if drop else ""
    first_id = view.rows.first_id + dropped.count("\n")
    last_line = dropped.rpartition("\n")[2]
    first_cut = len(last_line) + (0 if "\n" in dropped else view.rows.first_cut)
    *lines, last = folded.text.split("\n")
    return replace(folded, rows=Rows(first_id, first_cut, (*(line + "\n" for line in lines), last)))
