"""Dataclasses of `core` as JSON-ready dicts, and back: one form for the wire and for the record of a run.

Keys are the names of the fields in camelCase, all of them and no others, so the dataclasses are the one list of what
there is. Encoding copies references, not text. Decoding takes a value whole or raises ValueError that names the field
by its path, such as `view.metadata.truncation.totalLines`, and the value.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from boundcap_jupyter.core.view import OutputView

Json = Any
_T = TypeVar("_T")

#: `rows` is what `diff` aligns by where the view was made; nobody else needs it.
_STAYS = frozenset({(OutputView, "rows")})


def encode(value: Any) -> dict[str, Json]:
    """The fields of a dataclass, those of dataclasses in it included."""
    return {key: _plain(getattr(value, field.name)) for key, field in _fields(type(value)).items()}


def _plain(value: object) -> Json:
    if is_dataclass(value):
        return encode(value)
    return value.value if isinstance(value, Enum) else value


def decode(cls: type[_T], data: object, path: str) -> _T:
    """An instance of `cls`. `path` names the value in errors."""
    if not isinstance(data, dict):
        raise ValueError(f"{path} must be an object, not {shown(data)}")
    known = _fields(cls)
    for key in data:
        if key not in known:
            raise ValueError(f"{path} has no field {shown(key)}")
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
        return lambda value, path: decode(hint, value, path)
    if issubclass(hint, Enum):
        return lambda value, path: hint(_one_of([member.value for member in hint], value, path))
    return _SCALARS[hint]


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{path} must be text, not {shown(value)}")
    return value


def _flag(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{path} must be true or false, not {shown(value)}")
    return value


def _count(value: object, path: str) -> int:
    # Every integer of the contract counts something or is an exit code: none is negative.
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{path} must be an integer of at least 0, not {shown(value)}")
    return value


def _seconds(value: object, path: str) -> float:
    # By comparison alone: it refuses what is no number, and knows integers that no float can hold.
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= sys.float_info.max:
        raise ValueError(f"{path} must be a number of seconds, not {shown(value)}")
    return float(value)


_SCALARS: dict[type, _Reader] = {str: _text, bool: _flag, int: _count, float: _seconds}


def _one_of(allowed: Any, value: object, path: str) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{path} must be {choice(allowed)}, not {shown(value)}")
    return value


def choice(names: Any) -> str:
    """The names for an error: 'a', 'b' or 'c'."""
    *most, last = map(repr, names)
    return f"{', '.join(most)} or {last}"


def shown(value: object) -> str:
    """A wrong value for an error, short: it may be as long as a view."""
    return reprlib.repr(value)
