"""What could stand at the cursor on the line of a magic. No IPython; reads directories for paths."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from boundcap_jupyter.options import BLANKS, OPTIONS, Expand, Option, Word, expand_home, find_option, next_word

#: More than this nobody reads from a menu, and a directory can hold a million.
MAX_NAMES = 500

#: What a name must not hold bare, or the word would end or mean something else.
_SPECIAL = re.compile(r"([\s'\"\\${}])")
#: What would not stand for itself within each quote.
_SPECIAL_WITHIN = {"'": "'", '"': '"\\${'}


@dataclass(frozen=True, slots=True)
class Candidates:
    """Texts that could take the place of `typed`, the word before the cursor as far as it is typed."""

    typed: str
    texts: tuple[str, ...]


def complete(line: str, expand: Expand = str) -> Candidates | None:
    """Candidates at the end of `line`, what stands between the magic's name and the cursor.

    None where the magic has nothing to say: in the command, in a value that is free text, after something wrong.
    `expand` expands the parts of a path that stand outside single quotes.
    """
    if line[:1] not in tuple(BLANKS):
        return None
    position = 0
    while True:
        word = next_word(line, position) or _nothing_yet(line)
        name, equals, _ = word.raw.partition("=")
        option = find_option(name)
        if word.end == len(line):
            if equals:
                return _values(option, word.after(len(name) + 1), expand)
            return _names(word) if not word.raw or word.raw.startswith("-") else None
        if option is None:
            return None
        position = word.end
        if option.takes_value and not equals:
            value = next_word(line, position) or _nothing_yet(line)
            if value.end == len(line):
                return _values(option, value, expand)
            position = value.end


def _nothing_yet(line: str) -> Word:
    return Word("", len(line), len(line), True)


def _names(word: Word) -> Candidates:
    return Candidates(word.raw, tuple(option.name for option in OPTIONS if option.name.startswith(word.raw)))


def _values(option: Option | None, word: Word, expand: Expand) -> Candidates | None:
    if option is None:
        return None
    if option.choices:
        return Candidates(word.raw, tuple(choice for choice in option.choices if choice.startswith(word.raw)))
    # A program without a slash is looked for on PATH.
    if option.path_to is not None and (option.path_to != "program" or "/" in word.raw):
        return Candidates(word.raw, tuple(_paths(word, expand, files=option.path_to != "directory")))
    return None


def _paths(word: Word, expand: Expand, *, files: bool) -> list[str]:
    """The directories, and `files`, that a path could go on to, written as it is: with its quote, its ~, its $VAR."""
    quote = "" if word.complete else word.raw[:1]
    # A quote that was closed again leaves no place to go on; one that opens within the path is not worth the code.
    if quote not in ("", "'", '"') or (not quote and word.raw[:1] in ("'", '"')):
        return []
    path = word.raw[len(quote) :]
    slash = path.rfind("/") + 1
    parent = Word(quote + path[:slash], 0, 0, word.complete).value(expand)
    if path.startswith("~") and not quote:
        parent = expand_home(parent)
    start = Word(quote + path[slash:], 0, 0, word.complete).value()
    names = _names_in(parent or ".", start, files=files)
    if quote:
        written = [name for name in names if not set(name) & set(_SPECIAL_WITHIN[quote])]
    else:
        written = [_SPECIAL.sub(r"\\\1", name) for name in names]
    return [f"{quote}{path[:slash]}{name}" for name in written]


def _names_in(parent: str, start: str, *, files: bool) -> list[str]:
    """Names in `parent` that begin with `start`, sorted, directories with a slash; hidden ones only if asked for."""
    names: list[str] = []
    try:
        with os.scandir(parent) as entries:
            for entry in entries:
                if not entry.name.startswith(start) or (not start and entry.name.startswith(".")):
                    continue
                is_directory = entry.is_dir()
                if is_directory or files:
                    names.append(entry.name + "/" * is_directory)
                    if len(names) == MAX_NAMES:
                        break
    except (OSError, ValueError):
        # Not a directory, not readable, or with a NUL: nothing to propose.
        return []
    return sorted(names, key=lambda name: name.rstrip("/"))
