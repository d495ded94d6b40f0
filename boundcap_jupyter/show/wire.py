"""What travels between kernel and panel, as JSON-ready dicts. Twin of js/src/core/wire.ts.

The dataclasses of `core` are the one list of what there is (see core/codec.py); tests/show/test_wire.py spells the
keys out.

    kernel to panel   {"type": "update", "seq": n, "stream": s, "update": {"kind": ..., ...}}
                      {"type": "status", "status": {...}}
                      {"type": "stopping"}
    panel to kernel   {"type": "stop"}
                      {"type": "placed"}      the static result stands in the notebook of this page

The updates of both streams are numbered in one row, from 1. Stream "output" is the one of both outputs, or the standard
output where "stderr", the standard error, is kept apart. A snapshot, the state of all up to a number, is

    {"seq": n, "output": view or null, "stderr": view or null, "status": {...}, "quiet": seconds without output}
"""

from __future__ import annotations

from typing import Literal

from boundcap_jupyter.core.codec import Json, choice, decode, encode, shown
from boundcap_jupyter.core.status import RunStatus
from boundcap_jupyter.core.update import Append, Metadata, Replace, Rewrite, Slide, Update
from boundcap_jupyter.core.view import OutputMetadata, OutputView

StreamName = Literal["output", "stderr"]

STOPPING: dict[str, Json] = {"type": "stopping"}
#: The answer to a check of a page that has everything.
CURRENT: dict[str, Json] = {"type": "current"}

_KINDS: dict[str, type[Update]] = {cls.kind: cls for cls in (Replace, Append, Slide, Rewrite, Metadata)}


def update_message(seq: int, stream: StreamName, update: Update) -> dict[str, Json]:
    return {"type": "update", "seq": seq, "stream": stream, "update": update_to_wire(update)}


def status_message(status: RunStatus) -> dict[str, Json]:
    return {"type": "status", "status": status_to_wire(status)}


def snapshot_to_wire(
    seq: int, output: OutputView | None, stderr: OutputView | None, status: RunStatus, quiet: float = 0.0
) -> dict[str, Json]:
    views = {"output": output, "stderr": stderr}
    encoded = {name: None if view is None else view_to_wire(view) for name, view in views.items()}
    return {"seq": seq, **encoded, "status": status_to_wire(status), "quiet": quiet}


def snapshot_message(snapshot: dict[str, Json]) -> dict[str, Json]:
    return {"type": "snapshot", "snapshot": snapshot}


def checked(message: object) -> tuple[int, bool] | None:
    """What a page knows that asks whether there is more: the last update that it saw, and whether the run runs.

    None for any other message.
    """
    if not isinstance(message, dict) or message.keys() != {"type", "seq", "running"} or message["type"] != "check":
        return None
    seq, running = message["seq"], message["running"]
    return (seq, running) if type(seq) is int and type(running) is bool else None


def asks_to_stop(message: object) -> bool:
    """Whether a message of the panel is a request to stop. Anything else may come from anyone."""
    return isinstance(message, dict) and message.get("type") == "stop" and len(message) == 1


def says_placed(message: object) -> bool:
    """Whether a page says that the static result of the run stands in its notebook."""
    return isinstance(message, dict) and message.get("type") == "placed" and len(message) == 1


def update_to_wire(update: Update) -> dict[str, Json]:
    return {"kind": update.kind, **encode(update)}


def update_from_wire(data: object) -> Update:
    """The update; raises ValueError for anything else."""
    if not isinstance(data, dict):
        raise ValueError(f"update must be an object, not {shown(data)}")
    rest = dict(data)
    kind = rest.pop("kind", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"update.kind must be {choice(_KINDS)}, not {shown(kind)}")
    return decode(_KINDS[kind], rest, "update")


def view_to_wire(view: OutputView) -> dict[str, Json]:
    return encode(view)


def view_from_wire(data: object) -> OutputView:
    return decode(OutputView, data, "view")


def metadata_to_wire(metadata: OutputMetadata) -> dict[str, Json]:
    return encode(metadata)


def metadata_from_wire(data: object) -> OutputMetadata:
    return decode(OutputMetadata, data, "metadata")


def status_to_wire(status: RunStatus) -> dict[str, Json]:
    return encode(status)


def status_from_wire(data: object) -> RunStatus:
    return decode(RunStatus, data, "status")
