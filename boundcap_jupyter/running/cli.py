"""Run a program for what it prints: raw text of both outputs, bounded, for programs that drive other programs."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Mapping, Sequence

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.clip import LEAST, ClippedText
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.running.environment import ExecOptions, ExecutionError
from boundcap_jupyter.running.local import LocalRun
from boundcap_jupyter.running.script import invocation
from boundcap_jupyter.running.waiting import ended

#: The variable that bounds each stream in bytes: 0 or less for no bound.
BOUND_VARIABLE = "BOUNDCAP_MAX_OUTPUT_BYTES"
DEFAULT_BOUND = 16 * 1024 * 1024

_log = logging.getLogger(__name__)


async def run_cli(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    unset_env: Collection[str] = (),
    cwd: str | os.PathLike[str] | None = None,
    timeout: float | None = None,
    idle_seconds: float | None = None,
    input_text: str | None = None,
) -> tuple[str, str, int]:
    """Run a program and return (stdout, stderr, exit code): the text as it came, no screen rules, no spill.

    Each stream is bounded by the environment variable BOUNDCAP_MAX_OUTPUT_BYTES: 16 MiB unless it says otherwise, no
    bound for 0 or less. A longer one keeps a quarter of that from its beginning and the rest from its end, cut at
    whole lines where there are any, with a marker between them that is not JSON (see `parse_jsonl`).

    argv          the program and its arguments
    env           variables set on top of the present ones
    unset_env     variables that the program does not get
    timeout       seconds after which the program is ended
    idle_seconds  seconds without any output after which it is ended
    input_text    its standard input; empty

    The exit code is 128 + n for a program that signal n ended. Raises ValueError for an argument that is wrong, before
    anything runs, and ExecutionError if the program could not be started, or was ended by a timeout. Cancelling the
    task ends the program. Memory: at most twice the bound a stream.
    """
    options = ExecOptions(
        cwd=cwd,
        env={} if env is None else env,
        stdin=input_text,
        timeout=timeout,
        stderr="separate",
        unset_env=unset_env,
        idle_timeout=idle_seconds,
    )
    bound = _bound()
    output, errors = RawStream(bound), RawStream(bound)
    run = LocalRun(_words(argv), options, (output, errors))
    cancelled = await ended(run)
    if cancelled is not None:
        raise cancelled
    result = run.result()
    if not result.state.ended_by_itself:
        raise ExecutionError(result) from result.error
    assert result.exit_code is not None
    return output.text(), errors.text(), result.exit_code


class RawStream:
    """Takes what comes from a pipe as it is, where a Pump would interpret and publish it."""

    due: float | None = None
    notice = ""

    def __init__(self, bound: int | None) -> None:
        self._clipped = ClippedText(bound)

    def feed(self, data: bytes) -> None:
        self._clipped.feed(data)

    def text(self) -> str:
        """The text, once: it is given up."""
        return self._clipped.take()

    def publish(self, now: float) -> None:
        """There is nobody to tell."""

    def finish(self, now: float) -> None:
        """There is nobody to tell."""

    def end(self) -> None:
        """Nothing is left to write."""

    def abandon(self) -> None:
        """Nothing is left to clear away."""

    def view(self) -> OutputView:
        """Nothing is shown."""
        return OutputCapture().view()


def _words(argv: Sequence[str]) -> list[str]:
    # A string is a sequence of strings too, but means a script, and no shell is wanted here.
    if isinstance(argv, str) or not isinstance(argv, Sequence) or not argv:
        raise ValueError(f"argv must be a program and its arguments, not {argv!r:.80}")
    return invocation(list(argv)).words


def _bound() -> int | None:
    text = os.environ.get(BOUND_VARIABLE, "")
    if not text:
        return DEFAULT_BOUND
    try:
        bound = int(text)
    except ValueError:
        _warn_once(f"{BOUND_VARIABLE} must be a whole number of bytes, not {text!r:.40}: {DEFAULT_BOUND} it is")
        return DEFAULT_BOUND
    if bound <= 0:
        return None
    if bound < LEAST:
        _warn_once(f"{BOUND_VARIABLE} must be 0, or at least {LEAST} bytes, not {bound}: {LEAST} it is")
    return max(bound, LEAST)


_warned: set[str] = set()


def _warn_once(message: str) -> None:
    if message not in _warned:
        _warned.add(message)
        _log.warning(message)
