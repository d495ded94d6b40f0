"""The record of a run: a small JSON file in its directory that says what became of it, with its last view.

    {"version": 1, "id": "<session>/<run>", "command": "make" or ["make", "-j8"], "commandCut": false, "cwd": "/src",
     "started": "2026-11-30T10:11:12.345678+00:00", "retain": "tail", "encoding": "utf-8",
     "status": {"state": "running", "exitCode": null, ...}, "view": {"text": ..., "metadata": ...}, "stderrView": null}

`status`, `view` and `stderrView` have the form of core/codec.py; the totals and the lengths of the spills are in the
metadata of the views, so that a view and what is said of it are never of two moments. A record replaces the one before
it as a whole. Whoever reads one trusts nothing in it: a command may have written there.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import stat
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, get_args

from boundcap_jupyter.core.charset import checked_charset
from boundcap_jupyter.core.codec import choice, decode, encode, shown
from boundcap_jupyter.core.limits import Retain
from boundcap_jupyter.core.status import RunStatus
from boundcap_jupyter.core.text import plain
from boundcap_jupyter.core.view import OutputMetadata, OutputView
from boundcap_jupyter.running.environment import Command
from boundcap_jupyter.running.store import create_private, open_stored

RECORD = "record.json"
VERSION = 1
#: Characters of a command that are recorded: a script may have megabytes, and is written anew every two seconds.
MAX_COMMAND = 16 * 1024
#: Bytes. No record of ours is larger, and none that is gets read.
MAX_BYTES = 64 * 1024 * 1024

#: What the text of a view never holds once its sequences are gone: C0 without TAB and newline, DEL, C1.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class RecordError(ValueError):
    """A record that can not be used; the text says why, in one line."""


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a run. `started` is in UTC; `command_cut` says that the command was longer than is recorded."""

    id: str
    command: str | tuple[str, ...]
    cwd: str
    started: datetime
    status: RunStatus
    view: OutputView
    stderr_view: OutputView | None = None
    retain: Retain = "tail"
    encoding: str = "utf-8"
    command_cut: bool = False


def recorded_command(command: Command) -> tuple[str | tuple[str, ...], bool]:
    """The command as far as it is recorded, and whether something was cut off."""
    if isinstance(command, str):
        return command[:MAX_COMMAND], len(command) > MAX_COMMAND
    words: list[str] = []
    left = MAX_COMMAND
    for word in map(str, command):
        words.append(word[:left])
        # An empty word costs too.
        left -= len(word) + 1
        if left <= 0:
            break
    return tuple(words), words != list(map(str, command))


def encoded(record: Record) -> bytes:
    """The record as it is written. A view that no record could hold is left out, and counts as not shown."""
    data = _encoded(record)
    if len(data) > MAX_BYTES:
        errors = record.stderr_view
        emptied = replace(record, view=_emptied(record.view), stderr_view=errors and _emptied(errors))
        data = _encoded(emptied)
    return data


def write_record(directory: Path, data: bytes, *, as_old_as: os.stat_result | None = None) -> None:
    """Put an encoded record in place of the one that is there. Raises OSError; the old one is whole then.

    `as_old_as` is the status of a file whose age the record takes: what is found out later about a run is no news.
    """
    # Several may be at it: who finds a run whose owner died writes down what it found.
    fresh = directory / f".record-{secrets.token_hex(4)}"
    fd = create_private(fresh)
    try:
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            if as_old_as is not None:
                os.utime(fd, ns=(as_old_as.st_atime_ns, as_old_as.st_mtime_ns))
        finally:
            os.close(fd)
        fresh.replace(directory / RECORD)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise


def read_record(directory: Path) -> Record:
    """The record of the run in this directory. Raises RecordError for what is none, FileNotFoundError without one."""
    try:
        data = _read(directory / RECORD)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise RecordError(f"record.json cannot be read: {error.strerror or error}") from error
    try:
        content = json.loads(data)
    # What json raises for text that is none, is no UTF-8, holds a number of 5,000 digits, or is nested too deeply.
    except (ValueError, RecursionError) as error:
        raise RecordError(f"record.json is not JSON: {error}") from error
    try:
        return _record(content)
    except ValueError as error:
        raise RecordError(str(error)) from error


def _read(path: Path) -> bytes:
    fd = open_stored(path)
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        if status.st_size > MAX_BYTES:
            raise RecordError(f"record.json is too large: {status.st_size:,} bytes")
        return file.read(MAX_BYTES)


def _encoded(record: Record) -> bytes:
    content = {
        "version": VERSION,
        "id": record.id,
        "command": record.command,
        "commandCut": record.command_cut,
        "cwd": record.cwd,
        "started": record.started.astimezone(timezone.utc).isoformat(),
        "retain": record.retain,
        "encoding": record.encoding,
        "status": encode(record.status),
        "view": encode(record.view),
        "stderrView": None if record.stderr_view is None else encode(record.stderr_view),
    }
    # In ASCII: a file name in a command may be no text at all.
    return json.dumps(content).encode()


def _emptied(view: OutputView) -> OutputView:
    facts = view.metadata.truncation
    cut = replace(facts, truncated=True, truncated_by="bytes", output_lines=0, output_bytes=0)
    gone = replace(view.metadata, truncation=cut, omitted_bytes=facts.total_bytes, omitted_lines=facts.total_lines)
    return OutputView("", replace(gone, lead_sgr=""))


def _record(content: Any) -> Record:
    if not isinstance(content, dict):
        raise ValueError(f"record must be an object, not {shown(content)}")
    version = content.get("version")
    if version != VERSION or isinstance(version, bool):
        raise ValueError(f"record.version must be {VERSION}, not {shown(version)}: it is of another release")
    retain = content.get("retain")
    if not isinstance(retain, str) or retain not in get_args(Retain):
        raise ValueError(f"record.retain must be {choice(get_args(Retain))}, not {shown(retain)}")
    errors = content.get("stderrView")
    return Record(
        id=_text(content, "id"),
        command=_command(content.get("command")),
        cwd=_text(content, "cwd"),
        started=_moment(content.get("started")),
        status=_status(content.get("status")),
        view=_view(content.get("view"), "record.view"),
        stderr_view=None if errors is None else _view(errors, "record.stderrView"),
        retain=retain,  # type: ignore[arg-type]  # checked above
        encoding=checked_charset(_text(content, "encoding")).name,
        command_cut=content.get("commandCut") is True,
    )


def _text(content: dict[str, Any], name: str) -> str:
    value = content.get(name)
    if not isinstance(value, str):
        raise ValueError(f"record.{name} must be text, not {shown(value)}")
    return value


def _command(value: object) -> str | tuple[str, ...]:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return tuple(value)
    raise ValueError(f"record.command must be text or a list of texts, not {shown(value)}")


def _moment(value: object) -> datetime:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        if moment is not None and moment.tzinfo is not None:
            # OverflowError: the first and last day there are, in another time zone.
            return moment.astimezone(timezone.utc)
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"record.started must be a time with its zone, not {shown(value)}")


def _status(value: object) -> RunStatus:
    return decode(RunStatus, value, "record.status")


def _view(value: object, path: str) -> OutputView:
    view = decode(OutputView, value, path)
    for name, text in (("text", view.text), ("head", view.head), ("metadata.leadSgr", view.metadata.lead_sgr)):
        if _CONTROL.search(plain(text)):
            raise ValueError(f"{path}.{name} holds control characters")
        text.encode()  # lone surrogates: the error is a ValueError
    return view


def with_spill(metadata: OutputMetadata, directory: Path) -> OutputMetadata:
    """What is said of the spill, as it is now: the path leads into the run's own directory and to a file, or is None.

    The path in a record is not trusted, and the store may have moved since.
    """
    if metadata.spill_path is None:
        return metadata
    path = directory / os.path.basename(metadata.spill_path)
    try:
        there = stat.S_ISREG(path.lstat().st_mode)
    # ValueError: no file has a NUL in its name.
    except (OSError, ValueError):
        there = False
    if there:
        return replace(metadata, spill_path=str(path))
    # Somebody removed it.
    return replace(metadata, spill_path=None, spill_state="none", spill_bytes=0)
