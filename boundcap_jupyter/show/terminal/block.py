"""What the live block in a terminal says: an empty row, the last rows of the view, and the status.

    (empty)
    step 1201 ok
    step 1202 ok
    running · 12 s · 1,202 lines · 15,626 B · 1.3 kB/s

The empty row is where the cursor rests: what others write meanwhile, a line of a log or the echo of a key, stands there
and not across the text.

A standard error with text of its own shares the rows where there are enough of them for two headings; where not, the
text that has the news is shown. A terminal that is too small for all this gets one row, with the last line in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from boundcap_jupyter.core.limits import Retain
from boundcap_jupyter.core.sgr import PLAIN, Style, style_after
from boundcap_jupyter.core.text import plain
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.show.summary import DOT, duration, printed, sections, totals
from boundcap_jupyter.show.terminal.columns import clip

#: Of the rows of the terminal: what was there before stays in sight.
SHARE = 3
#: Rows of text and status.
LEAST, MOST = 3, 12
#: The smallest terminal with a block.
LEAST_LINES, LEAST_COLUMNS = 6, 20
#: Rows of text that two streams share: two headings and two rows each.
LEAST_SHARED = 6
#: The part of them that the standard error has, as in the panel.
STDERR_SHARE = 3

_STATUS = Style(bold=True)
_HEADING = Style(faint=True)


@dataclass(frozen=True, slots=True)
class Scene:
    """A run at one moment. `elapsed` in seconds; `pace` in words."""

    elapsed: float
    view: OutputView | None = None
    stderr_view: OutputView | None = None
    latest_is_stderr: bool = False
    stopping: bool = False
    pace: str = ""

    @property
    def latest(self) -> OutputView | None:
        """The view that has the news, of those that have any text."""
        views = (self.stderr_view, self.view) if self.latest_is_stderr else (self.view, self.stderr_view)
        return next((view for view in views if view is not None and view.text), None)

    @property
    def two(self) -> bool:
        return self.view is not None and len(sections(self.view, self.stderr_view)) > 1


def block_rows(scene: Scene, retain: Retain, columns: int, lines: int, *, colours: bool) -> list[str]:
    """The rows of the block in a terminal of this size, the empty one first; `lines` is 0 where it is not known.

    Each is narrower than the terminal: what ends in the last column may wrap. Costs a few passes over the text.
    """
    width = columns - 1
    if lines < LEAST_LINES or columns < LEAST_COLUMNS:
        return [clip(live_line(scene, retain), width)]
    count = min(max(lines // SHARE, LEAST), MOST)
    text = [clip(row, width, style, colours=colours) for row, style in _text_rows(scene, count - 1)]
    return ["", *text, clip(DOT.join(_facts(scene)), width, _STATUS, colours=colours)]


def live_line(scene: Scene, retain: Retain = "tail") -> str:
    """All of it in one line of plain text; of two streams, the last line of the one that has the news."""
    parts = _facts(scene)
    latest = scene.latest
    # A full head stands still: its last line says nothing of what goes on.
    if latest is not None and (retain != "head" or not latest.metadata.truncation.truncated):
        parts += [plain(row).replace("\t", " ") for row, _ in last_rows(latest, 1)]
    return DOT.join(part for part in parts if part)


def last_rows(view: OutputView, count: int) -> list[tuple[str, Style]]:
    """At most `count` rows of the text from its end, each with the colours in force at its start."""
    text, newline, last = view.text.rpartition("\n")
    # Colours that change behind the last newline show nothing yet.
    if plain(last):
        text = view.text
    elif not newline:
        return []
    start = len(text)
    for _ in range(count):
        start = text.rfind("\n", 0, start)
        if start < 0:
            break
    style = style_after(PLAIN, view.metadata.lead_sgr + text[: start + 1])
    rows = []
    for row in text[start + 1 :].split("\n"):
        rows.append((row, style))
        style = style_after(style, row)
    return rows


def _text_rows(scene: Scene, count: int) -> list[tuple[str, Style]]:
    if scene.view is None or scene.stderr_view is None or not scene.two or count < LEAST_SHARED:
        return [] if scene.latest is None else last_rows(scene.latest, count)
    room = count - 2
    output, errors = last_rows(scene.view, room), last_rows(scene.stderr_view, room)
    # What one does not fill the other has.
    of_errors = min(len(errors), max(room // STDERR_SHARE, room - len(output)))
    of_output = room - of_errors
    return [("[stdout]", _HEADING), *output[-of_output:], ("[stderr]", _HEADING), *errors[-of_errors:]]


def _facts(scene: Scene) -> list[str]:
    state = "stopping…" if scene.stopping else "running"
    if scene.view is not None and not scene.two:
        counts = list(totals(scene.view.metadata))
    else:
        both = (("stdout", scene.view), ("stderr", scene.stderr_view))
        counts = [f"{name}: {printed(view.metadata)}" for name, view in both if view is not None]
    return [part for part in (state, duration(scene.elapsed), *counts, scene.pace) if part]
