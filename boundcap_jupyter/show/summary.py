"""The words for people: what became of a run, how much it printed, what of it is shown and where the rest is.

The words of the panel (js/src/core/format.ts) are the same, so that nothing changes under the reader's eye when the
static result takes its place. Counts are exact, with commas in every country; totals are of raw bytes and lines.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from os import PathLike
from typing import Literal

from boundcap_jupyter.core.limits import Retain
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.view import OutputMetadata, OutputView

Outcome = Literal["running", "good", "bad", "ended"]

#: Between the parts of a line.
DOT = " · "
#: Of a standard error that was kept apart and has no text to show.
NO_STDERR = "stderr: nothing"
#: Seconds. Above, a tenth is noise.
_TENTHS_UNTIL = 10
#: Seconds. Less is said as "0.0 s".
_TENTH = 0.1
_RATE_UNITS = ("B", "kB", "MB", "GB")

#: Characters. A label is read at a glance; a script may have a megabyte.
_LABEL_LENGTH = 120

_LABELS = {
    RunState.RUNNING: "running",
    RunState.EXITED: "done",
    RunState.SIGNALED: "failed",
    RunState.STOPPED: "stopped",
    RunState.TIMEOUT: "timed out",
    RunState.IDLE_TIMEOUT: "timed out, idle",
    RunState.SPAWN_ERROR: "could not start",
    RunState.SPILL_ERROR: f"failed{DOT}output could not be kept",
    RunState.CALLBACK_ERROR: f"failed{DOT}the output's receiver raised",
    RunState.WORKER_LOST: f"failed{DOT}worker lost",
    RunState.INTERRUPTED: "interrupted",
}


def command_label(command: str | Sequence[str | PathLike[str]]) -> str:
    """The command in one line of at most `_LABEL_LENGTH` characters: the first line of a script that says something."""
    script = command if isinstance(command, str) else shlex.join(map(str, command))
    first, *rest = [line.strip() for line in script.splitlines() if line.strip()] or [""]
    if len(first) > _LABEL_LENGTH or rest:
        return first[: _LABEL_LENGTH - 2] + " …"
    return first


def status_line(
    status: RunStatus, view: OutputView, retain: Retain = "tail", stderr_view: OutputView | None = None
) -> str:
    """One line that says it all, in plain text.

    exit 0 · 3,000 lines · 13,893 B · 0.4 s · last 2,000 lines shown · complete output: ~/.cache/boundcap/…/output.log

    Of two texts it has the totals; the rest stands in their headings.

    exit 0 · stdout: 3,000 lines, 13,893 B · stderr: 1 line, 13 B · 0.4 s
    """
    texts = sections(view, stderr_view)
    if len(texts) > 1:
        parts = [_ending(status), *(f"{name}: {printed(text.metadata)}" for name, text in texts)]
        parts += took(status), held(status)
        return DOT.join(part for part in parts if part)
    silent = "" if stderr_view is None else NO_STDERR
    parts = [_ending(status), *totals(view.metadata), took(status), held(status), silent]
    return DOT.join(part for part in (*parts, shown(view, retain, of=False), _place(view.metadata)) if part)


def sections(view: OutputView, stderr_view: OutputView | None) -> tuple[tuple[str, OutputView], ...]:
    """The texts to show and their names: one without a name, or two if the standard error, kept apart, printed any."""
    if stderr_view is None or not stderr_view.metadata.truncation.total_bytes:
        return (("", view),)
    return (("stdout", view), ("stderr", stderr_view))


def heading(name: str, view: OutputView, retain: Retain = "tail") -> str:
    """The line above one of two texts: its name, what is shown of it and where the rest is."""
    facts = DOT.join(part for part in (shown(view, retain), _place(view.metadata)) if part)
    return f"[{name}] {facts}".rstrip()


def outcome(status: RunStatus) -> Outcome:
    """What the state means to the person who waits. The exit status alone decides between good and bad."""
    if status.state is RunState.RUNNING:
        return "running"
    if status.succeeded:
        return "good"
    return "ended" if status.state in (RunState.STOPPED, RunState.INTERRUPTED) else "bad"


def state_label(status: RunStatus) -> str:
    """The state in a word or two, as the header of the panel has it; why a run failed stands elsewhere."""
    if status.state is RunState.EXITED and status.exit_code != 0:
        return f"failed{DOT}exit {_known(status.exit_code)}"
    if status.state is RunState.SIGNALED:
        return f"failed{DOT}{status.signal or 'signal'}"
    return _LABELS[status.state]


def detail(status: RunStatus) -> str:
    """Why the run failed, in one line whatever the reason is made of, or ""."""
    # That the time was up is the state itself.
    return "" if status.state is RunState.TIMEOUT else printable(" ".join(status.detail.split()))


def _ending(status: RunStatus) -> str:
    if status.state is RunState.EXITED:
        return "exit 0" if status.exit_code == 0 else state_label(status)
    if status.state is RunState.SIGNALED:
        return f"killed by {status.signal or 'a signal'}"
    why = detail(status)
    if why and outcome(status) == "bad" and status.state not in (RunState.TIMEOUT, RunState.IDLE_TIMEOUT):
        return f"failed: {why}"
    return state_label(status)


def held(status: RunStatus) -> str:
    """That others could still print when it was over, or ""."""
    count = status.pipe_held
    if count == 0:
        return ""
    return "1 process still holds the output" if count == 1 else f"{number(count)} processes still hold the output"


def totals(metadata: OutputMetadata) -> tuple[str, str]:
    """Lines and bytes of the whole stream."""
    return lines(metadata.truncation.total_lines), size(metadata.truncation.total_bytes)


def printed(metadata: OutputMetadata) -> str:
    """The totals of one of two streams, in one part of a line."""
    return ", ".join(totals(metadata)) if metadata.truncation.total_bytes else "nothing"


def shown(view: OutputView, retain: Retain = "tail", *, of: bool = True) -> str:
    """What the text shows of the whole, "" when that is everything.

    `of` adds the whole where its totals do not stand beside it: "last 2,000 of 3,000 lines", "last 2,000 lines shown".
    """
    metadata, truncation = view.metadata, view.metadata.truncation
    if metadata.binary:
        return "binary output, shown as hex"
    if not truncation.truncated:
        return ""
    total, verb = truncation.total_lines, "" if of else " shown"
    count = f"{number(truncation.output_lines)} of {lines(total)}" if of else f"{lines(truncation.output_lines)} shown"
    in_all = f", {lines(total)} in all" if of and total > 1 else ""
    if view.head:
        first = view.head.count("\n") + (not view.head.endswith("\n"))
        ends = f"first {number(first)} and last {number(truncation.output_lines - first)}"
        return f"{ends} of {lines(total)}" if of else f"{ends} lines shown"
    if truncation.last_line_partial:
        line = "a line" if total == 1 else "the last line"
        return f"end of {line} of {size(metadata.last_line_bytes)}{verb}{in_all}"
    if truncation.first_line_exceeds_limit:
        return f"start of a long line{verb}{in_all}"
    return f"{'first' if retain == 'head' else 'last'} {count}{', the first one cut' * metadata.first_line_partial}"


def spill_words(metadata: OutputMetadata) -> str:
    """What the path of the spill leads to, to be said before it; what became of the rest where there is no spill."""
    if metadata.spill_state == "none":
        return "the rest was not kept" if metadata.truncation.truncated else ""
    if metadata.spill_state == "incomplete":
        kept = f"incomplete after {size(metadata.spill_bytes)}:"
        return kept if metadata.spill_path is not None else f"{kept} no file"
    return "complete output:" if metadata.spill_state == "complete" else "all output so far:"


def _place(metadata: OutputMetadata) -> str:
    place = spill_words(metadata)
    return f"{place} {display_path(metadata.spill_path)}" if place and metadata.spill_path is not None else place


def omission(metadata: OutputMetadata) -> str:
    """The marker between head and tail where both are shown."""
    return f"… {lines(metadata.omitted_lines)}, {size(metadata.omitted_bytes)} not shown …"


def display_path(path: str) -> str:
    """The path with the home directory as ~: a shell takes it, and a shared notebook does not tell a user's name."""
    # As text: a Path would take "//" and "." out of the rest, which is not ours to change.
    home = os.path.expanduser("~").rstrip(os.sep)  # noqa: PTH111
    if home and (path == home or path.startswith(home + os.sep)):
        path = "~" + path[len(home) :]
    return printable(path)


def printable(text: str) -> str:
    """The text in one line of characters that can be seen and encoded: any others become U+FFFD."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def took(status: RunStatus) -> str:
    """How long the run took, or "" where nothing is known of it.

    Nobody saw the end of one that was interrupted: it ran on after its last record, for a while that nobody knows.
    """
    if status.state is not RunState.INTERRUPTED:
        return duration(status.duration)
    return f"at least {duration(status.duration)}" if status.duration >= _TENTH else ""


def duration(seconds: float) -> str:
    """Seconds as "0.4 s", "12 s", "3 min 05 s", "2 h 07 min": never more than what has passed."""
    if seconds < _TENTHS_UNTIL:
        return f"{int(seconds * 10) / 10:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{number(hours)} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def rate(bytes_per_second: float) -> str:
    """In three digits at most, as "840 B/s", "1.2 kB/s", "35 MB/s": what a glance can take in."""
    value, unit = bytes_per_second, 0
    # From 999.5 on it would round to four digits.
    while value >= 999.5 and unit < len(_RATE_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.{1 if unit and value < 9.95 else 0}f} {_RATE_UNITS[unit]}/s"


def quiet(seconds: float) -> str:
    """Seconds of silence, in whole ones: tenths of it tell nothing."""
    return f"quiet for {f'{int(seconds)} s' if seconds < _TENTHS_UNTIL else duration(seconds)}"


def number(count: int) -> str:
    return f"{count:,}"


def size(count: int) -> str:
    return f"{count:,} B"


def lines(count: int) -> str:
    return f"{count:,} line" if count == 1 else f"{count:,} lines"


def _known(code: int | None) -> str:
    return "unknown" if code is None else str(code)
