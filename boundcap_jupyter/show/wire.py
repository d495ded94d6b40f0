"""What travels between kernel and panel, as JSON-ready dicts. Twin of js/src/core/wire.ts.

Keys are the names of the dataclass fields in camelCase, all of them and no others, so the dataclasses of `core` are the
one list of what there is; tests/show/test_wire.py spells the keys out.

    kernel to panel   {"type": "update", "seq": n, "stream": s, "update": {"kind": ..., ...}}
                      {"type": "status", "status": {...}}
                      {"type": "stopping"}
    panel to kernel   {"type": "stop"}

The updates of both streams are numbered in one row, from 1. Stream "output" is the one of both outputs, or the standard
output where "stderr", the standard error, is kept apart. A snapshot, the state of all up to a number, is

    {"seq": n, "output": view or null, "stderr": view or null, "status": {...}}

Encoding copies references, not text. Decoding takes a value whole or raises ValueError that names the field by its
path, such as `update.metadata.truncation.totalLines`, and the value.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from boundcap_jupyter.core.status import RunStatus
from boundcap_jupyter.core.update import Append, Metadata, Replace, Rewrite, Slide, Update
from boundcap_jupyter.core.view import OutputMetadata, OutputView

Json = Any
StreamName = Literal["output", "stderr"]
_T = TypeVar("_T")

STOPPING: dict[str, Json] = {"type": "stopping"}
#: The answer to a check of a page that has everything.
CURRENT: dict[str, Json] = {"type": "current"}

_KINDS: dict[str, type[Update]] = {cls.kind: cls for cls in (Replace, Append, Slide, Rewrite, Metadata)}
#: `rows` is what `diff` aligns by on the sending side; whoever folds needs none.
_STAYS = frozenset({(OutputView, "rows")})


def update_message(seq: int, stream: StreamName, update: Update) -> dict[str, Json]:
    return {"type": "update", "seq": seq, "stream": stream, "update": update_to_wire(update)}


def status_message(status: RunStatus) -> dict[str, Json]:
    return {"type": "status", "status": status_to_wire(status)}


def snapshot_to_wire(
    seq: int, output: OutputView | None, stderr: OutputView | None, status: RunStatus
) -> dict[str, Json]:
    views = {"output": output, "stderr": stderr}
    encoded = {name: None if view is None else view_to_wire(view) for name, view in views.items()}
    return {"seq": seq, **encoded, "status": status_to_wire(status)}


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


def update_to_wire(update: Update) -> dict[str, Json]:
    return {"kind": update.kind, **_encode(update)}


def update_from_wire(data: object) -> Update:
    """The update; raises ValueError for anything else."""
    if not isinstance(data, dict):
        raise ValueError(f"update must be an object, not {_show(data)}")
    rest = dict(data)
    kind = rest.pop("kind", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"update.kind must be {_choice(_KINDS)}, not {_show(kind)}")
    return _decode(_KINDS[kind], rest, "update")


def view_to_wire(view: OutputView) -> dict[str, Json]:
    return _encode(view)


def view_from_wire(data: object) -> OutputView:
    return _decode(OutputView, data, "view")


def metadata_to_wire(metadata: OutputMetadata) -> dict[str, Json]:
    return _encode(metadata)


def metadata_from_wire(data: object) -> OutputMetadata:
    return _decode(OutputMetadata, data, "metadata")


def status_to_wire(status: RunStatus) -> dict[str, Json]:
    return _encode(status)


def status_from_wire(data: object) -> RunStatus:
    return _decode(RunStatus, data, "status")


def _encode(value: Any) -> dict[str, Json]:
    return {key: _plain(getattr(value, field.name)) for key, field in _fields(type(value)).items()}


def _plain(value: object) -> Json:
    if is_dataclass(value):
        return _encode(value)
    return value.value if isinstance(value, Enum) else value


def _decode(cls: type[_T], data: object, path: str) -> _T:
    if not isinstance(data, dict):
        raise ValueError(f"{path} must be an object, not {_show(data)}")
    known = _fields(cls)
    for key in data:
        if key not in known:
            raise ValueError(f"{path} has no field {_show(key)}")
    values = {}
    for key, field in known.items():
        if key not in data:
            raise ValueError(f"{path}.{key} is missing")
        values[field.name] = field.read(data[key], f"{path}.{key}")
    return cls(**values)


_Reader = Callable[[object, str], Any]


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    read: _Reader


def _fields(cls: type) -> dict[str, _Field]:
    """The fields of a dataclass by their names on the wire."""
    known = _FIELDS.get(cls)
    if known is None:
        hints = get_type_hints(cls)
        names = [field.name for field in fields(cls) if (cls, field.name) not in _STAYS]
        known = _FIELDS[cls] = {_camel(name): _Field(name, _reader(hints[name])) for name in names}
    return known


#: As many as there are dataclasses in this file; resolving their annotations takes longer than a message.
_FIELDS: dict[type, dict[str, _Field]] = {}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _reader(hint: Any) -> _Reader:
    """What reads a value of this type."""
    if get_origin(hint) in (Union, UnionType):
        (inner,) = (arm for arm in get_args(hint) if arm is not NoneType)
        read = _reader(inner)
        return lambda value, path: None if value is None else read(value, path)
    if get_origin(hint) is Literal:
        return lambda value, path: _one_of(get_args(hint), value, path)
    if isinstance(hint, type) and is_dataclass(hint):
        return lambda value, path: _decode(hint, value, path)
    if issubclass(hint, Enum):
        return lambda value, path: hint(_one_of([member.value for member in hint], value, path))
    return _SCALARS[hint]


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{path} must be text, not {_show(value)}")
    return value


def _flag(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{path} must be true or false, not {_show(value)}")
    return value


def _count(value: object, path: str) -> int:
    # Every integer of the contract counts something or is an exit code: none is negative.
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{path} must be an integer of at least 0, not {_show(value)}")
    return value


def _seconds(value: object, path: str) -> float:
    # By comparison alone: it refuses what is no number, and knows integers that no float can hold.
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= sys.float_info.max:
        raise ValueError(f"{path} must be a number of seconds, not {_show(value)}")
    return float(value)


_SCALARS: dict[type, _Reader] = {str: _text, bool: _flag, int: _count, float: _seconds}


def _one_of(allowed: Any, value: object, path: str) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{path} must be {_choice(allowed)}, not {_show(value)}")
    return value


def _choice(names: Any) -> str:
    *most, last = map(repr, names)
    return f"{', '.join(most)} or {last}"


def _show(value: object) -> str:
    # Short: a value that is wrong may be as long as a view.
    return reprlib.repr(value)
