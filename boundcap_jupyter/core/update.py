"""One step from a view to the next: `diff` finds the narrowest, `apply_update` folds it.

    apply_update(old, diff(old, new)) == new        for any two views

| kind     | carries                    | the text becomes                         |
|----------|----------------------------|------------------------------------------|
| replace  | output                     | the output's text                        |
| append   | text, metadata             | text + new                               |
| slide    | drop, text, metadata       | text without its first `drop`, + new     |
| rewrite  | drop, cut, text, metadata  | as slide, its last `cut` removed before  |
| metadata | metadata                   | as it was                                |

`drop` and `cut` count UTF-16 code units, what JavaScript's `slice` counts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar, Union

from boundcap_jupyter.core.view import OutputMetadata, OutputView, Rows


@dataclass(frozen=True, slots=True)
class Replace:
    """The whole view: the one update that any consumer can apply, whatever it missed."""

    kind: ClassVar[str] = "replace"
    output: OutputView


@dataclass(frozen=True, slots=True)
class Append:
    kind: ClassVar[str] = "append"
    text: str
    metadata: OutputMetadata


@dataclass(frozen=True, slots=True)
class Slide:
    kind: ClassVar[str] = "slide"
    drop: int
    text: str
    metadata: OutputMetadata

    def __post_init__(self) -> None:
        _check_count("drop", self.drop)


@dataclass(frozen=True, slots=True)
class Rewrite:
    kind: ClassVar[str] = "rewrite"
    drop: int
    cut: int
    text: str
    metadata: OutputMetadata

    def __post_init__(self) -> None:
        _check_count("drop", self.drop)
        _check_count("cut", self.cut)


@dataclass(frozen=True, slots=True)
class Metadata:
    kind: ClassVar[str] = "metadata"
    metadata: OutputMetadata


Update = Union[Replace, Append, Slide, Rewrite, Metadata]


def apply_update(view: OutputView, update: Update) -> OutputView:
    """Fold one update into a view.

    Raises ValueError when `drop` and `cut` reach beyond the text or split a surrogate pair: the update then belongs to
    another view. Costs one pass over the text.
    """
    if isinstance(update, Replace):
        return update.output
    if isinstance(update, Metadata):
        return OutputView(view.text, update.metadata, view.head)
    drop = update.drop if isinstance(update, (Slide, Rewrite)) else 0
    cut = update.cut if isinstance(update, Rewrite) else 0
    kept = _slice_units(view.text, drop, cut)
    return OutputView(kept + update.text, update.metadata, view.head)


def diff(old: OutputView, new: OutputView) -> Update | None:
    """The narrowest update that leads from `old` to `new`, None when they are equal.

    Rows are aligned by their ids and then compared, never searched for: a wrong id can only make the update larger.
    Costs at most one comparison of the two texts.
    """
    if old.head != new.head:
        return Replace(new)
    if old.text == new.text:
        return None if old.metadata == new.metadata else Metadata(new.metadata)
    aligned = _align(old, new)
    if aligned is None:
        return Replace(new)
    dropped, cut, added = aligned
    drop_units, cut_units = utf16_length(dropped), utf16_length(cut)
    if cut_units:
        return Rewrite(drop_units, cut_units, added, new.metadata)
    if drop_units:
        return Slide(drop_units, added, new.metadata)
    return Append(added, new.metadata)


def _align(old: OutputView, new: OutputView) -> tuple[str, str, str] | None:
    """(text dropped at the front, text cut at the end, text added), None where nothing of the old text remains."""
    if old.rows is None or new.rows is None:
        return ("", "", new.text[len(old.text) :]) if new.text.startswith(old.text) else None
    front = _front(old.rows, new.rows)
    if front is None:
        return None
    dropped, remaining = front
    fresh = list(new.rows.texts)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(remaining, fresh, strict=False)))
    changed = "".join(remaining[same:])
    added = "".join(fresh[same:])
    if added.startswith(changed):
        changed, added = "", added[len(changed) :]
    if old.text and len(dropped) + len(changed) == len(old.text):
        return None
    return dropped, changed, added


def _front(old: Rows, new: Rows) -> tuple[str, list[str]] | None:
    """What the old rows lose at the front to start where the new ones do, and the rows that are then left."""
    shift = new.first_id - old.first_id
    if not 0 <= shift < len(old.texts):
        return None
    cut = new.first_cut - (old.first_cut if shift == 0 else 0)
    if cut < 0:
        return None
    first = old.texts[shift]
    return "".join(old.texts[:shift]) + first[:cut], [first[cut:], *old.texts[shift + 1 :]]


# What the metadata of an update takes on the wire, about: too regular to be worth encoding twice.
_METADATA_BYTES = 450


def encoded_bytes(update: Update) -> int:
    """Bytes of the update as JSON in UTF-8, its metadata taken as a constant. Costs one pass over the text."""
    if isinstance(update, Metadata):
        return _METADATA_BYTES
    text = update.output.text + update.output.head if isinstance(update, Replace) else update.text
    return _METADATA_BYTES + len(json.dumps(text, ensure_ascii=False).encode())


def utf16_length(text: str) -> int:
    """Length in UTF-16 code units: two for each character beyond U+FFFF."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _slice_units(text: str, drop: int, cut: int) -> str:
    if text.isascii():
        length = len(text)
    else:
        units = text.encode("utf-16-le")
        length = len(units) // 2
    if drop + cut > length:
        raise ValueError(f"drop={drop} and cut={cut} reach beyond a text of {length} UTF-16 code units")
    if text.isascii():
        return text[drop : length - cut]
    try:
        return units[2 * drop : 2 * (length - cut)].decode("utf-16-le")
    except UnicodeDecodeError as error:
        raise ValueError(f"drop={drop} or cut={cut} splits a surrogate pair") from error


def _check_count(name: str, value: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} must be a count of UTF-16 code units, not {value!r}")
