"""The words on the line of a magic: options, then (for the line form) a command. No IPython.

    line     = { option } [ "--" ] command
    option   = "--name" value | "--name=value" | "--flag"
    value    = a word as in a shell: 'single' and "double" quotes, a backslash before one character

The command starts at the first word that is no option and is not looked at: it comes back character for character.
A word that starts with a dash is always taken for an option, so that a typo is an error and not a command. An option
repeated counts once, the last time; `--env` adds up. Parts of a value outside single quotes are expanded by the
caller's `expand`; a `{...}` without inner braces is one word, whatever blanks and quotes are in it.

Everything the line can say stands in the table `OPTIONS`, which the help and the completion read too.
"""

from __future__ import annotations

import keyword
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args

from boundcap_jupyter.core.charset import checked_charset
from boundcap_jupyter.core.limits import MIN_BYTES, OutputLimits, Retain
from boundcap_jupyter.core.quantity import count, duration, size
from boundcap_jupyter.core.view import OnSpillFailure
from boundcap_jupyter.running.environment import (
    DEFAULT_COLUMNS,
    MAX_COLUMNS,
    OnHeld,
    StderrMode,
    checked_input,
    shell_words,
)

Expand = Callable[[str], str]

#: The blanks of a shell, not all of Unicode's: a no-break space is part of a word.
BLANKS = " \t\r\n"


class OptionError(ValueError):
    """A wrong option or value, in one line that names both and says what would be right."""


@dataclass(frozen=True, slots=True)
class MagicOptions:
    """What the options of one line say. Times are in seconds; `out` is the name of a variable."""

    limits: OutputLimits = field(default_factory=OutputLimits)
    spill: bool = True
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    encoding: str = "utf-8"
    stderr: StderrMode = "merge"
    idle_timeout: float | None = None
    stdin: Path | None = None
    shell: str | None = None
    pty: bool = False
    columns: int | None = None
    on_held: OnHeld = "leave"
    raise_error: bool = True
    out: str | None = None
    background: bool = False
    help: bool = False
    on_spill_failure: OnSpillFailure = "fail"
    max_spill_bytes: int | None = None


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


def _max_bytes(text: str) -> int:
    number = size(text)
    return number if number >= MIN_BYTES else _refuse(text)


def _max_lines(text: str) -> int:
    number = count(text)
    return number if number >= 1 else _refuse(text)


def _retain(text: str) -> str:
    return text if text in get_args(Retain) else _refuse(text)


def _stderr(text: str) -> str:
    return text if text in get_args(StderrMode) else _refuse(text)


def _held(text: str) -> str:
    return text if text in get_args(OnHeld) else _refuse(text)


def _spill_policy(text: str) -> str:
    return text if text in _ON_SPILL_FAILURE else _refuse(text)


def _directory(text: str) -> str:
    return text if os.path.isdir(text) else _refuse(text)  # noqa: PTH112 - Path raises for what it may not look at


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    return (name, value) if name and equals and "\0" not in text else _refuse(text)


def _timeout(text: str) -> float:
    seconds = duration(text)
    return seconds if seconds > 0 else _refuse(text)


def _input(text: str) -> Path:
    return checked_input(Path(text))


def _shell(text: str) -> str:
    shell_words(text)
    return text


def _columns(text: str) -> int:
    number = count(text)
    return number if 1 <= number <= MAX_COLUMNS else _refuse(text)


def _charset(text: str) -> str:
    return checked_charset(text).name


def _name(text: str) -> str:
    # As Python reads names: otherwise the variable could not be named afterwards.
    text = unicodedata.normalize("NFKC", text)
    return text if text.isidentifier() and not keyword.iskeyword(text) else _refuse(text)


@dataclass(frozen=True, slots=True)
class Option:
    """One option. `convert` turns the text of its value into what is meant and raises ValueError if it cannot."""

    name: str
    help: str
    metavar: str = ""
    must_be: str = ""
    convert: Callable[[str], object] | None = None
    choices: tuple[str, ...] = ()
    #: What its value is a path to: such a value starts at the home directory if a ~ was typed, and completes.
    path_to: Literal["directory", "file", "program"] | None = None

    @property
    def takes_value(self) -> bool:
        return self.convert is not None


_DEFAULT = OutputLimits()
_CHOICES = get_args(Retain)
_ON_SPILL_FAILURE = get_args(OnSpillFailure)

OPTIONS: tuple[Option, ...] = (
    Option(
        "--bytes",
        f"bytes of output to keep in view, with k, M or G for powers of 1024 (default {_DEFAULT.max_bytes // 1024}k)",
        "SIZE",
        f"a size of at least {MIN_BYTES} bytes, such as 800, 50k or 2M",
        _max_bytes,
    ),
    Option(
        "--lines",
        f"lines of output to keep in view, with k or M for powers of 1000 (default {_DEFAULT.max_lines})",
        "N",
        "a whole number of at least 1, such as 500 or 2k",
        _max_lines,
    ),
    Option(
        "--retain",
        f"which end of the output to keep in view (default {_DEFAULT.retain})",
        "|".join(_CHOICES),
        f"{', '.join(_CHOICES[:-1])} or {_CHOICES[-1]}",
        _retain,
        _CHOICES,
    ),
    Option("--no-spill", "do not write the complete output to a file when it passes a limit"),
    Option(
        "--on-spill-failure",
        "fail or continue if the complete output cannot be kept (default fail)",
        "POLICY",
        " or ".join(_ON_SPILL_FAILURE),
        _spill_policy,
        _ON_SPILL_FAILURE,
    ),
    Option(
        "--max-spill",
        "bytes that the file may have, with k, M or G; 0 for no limit (default: as configured)",
        "SIZE",
        "a size such as 500M or 20G, or 0 for no limit",
        size,
    ),
    Option("--cwd", "run in this directory", "DIR", "a directory that exists", _directory, path_to="directory"),
    Option("--env", "set an environment variable; may be given again", "NAME=VALUE", "NAME=VALUE", _variable),
    Option(
        "--stdin",
        "file that the command reads as its input (default: an empty one)",
        "PATH",
        "a file that exists",
        _input,
        path_to="file",
    ),
    Option(
        "--shell",
        "interpreter of the script, such as python3 or 'bash -e' (default bash)",
        "NAME",
        "an interpreter such as python3 or 'bash -e'",
        _shell,
        path_to="program",
    ),
    Option("--pty", "let the command print on a terminal; nobody can type on it"),
    Option(
        "--columns",
        f"width of the terminal of --pty (default {DEFAULT_COLUMNS})",
        "N",
        f"a whole number from 1 to {MAX_COLUMNS}",
        _columns,
    ),
    Option(
        "--timeout",
        "end the command after this time: seconds, or 90s, 10m, 1h30m",
        "TIME",
        "a time above zero, such as 90, 10m or 1h30m",
        _timeout,
    ),
    Option(
        "--idle-timeout",
        "end the command after so long without any output",
        "TIME",
        "a time above zero, such as 90, 10m or 1h30m",
        _timeout,
    ),
    Option(
        "--encoding",
        "charset of the output (default utf-8)",
        "NAME",
        "a charset that contains ASCII as it is, such as utf-8, latin-1 or koi8-r",
        _charset,
    ),
    Option(
        "--stderr",
        "both outputs in one text, or the standard error in a second one (default merge)",
        "|".join(get_args(StderrMode)),
        " or ".join(get_args(StderrMode)),
        _stderr,
        get_args(StderrMode),
    ),
    Option(
        "--held",
        "what becomes of descendants that hold the output open after the end (default leave)",
        "|".join(get_args(OnHeld)),
        " or ".join(get_args(OnHeld)),
        _held,
        get_args(OnHeld),
    ),
    Option("--no-raise-error", "raise no error if the command fails, is stopped or runs out of time"),
    Option("--bg", "run in the background: the cell is over at once, and its panel goes on"),
    Option(
        "--out",
        "variable to put the whole result into, or the job of --bg",
        "VAR",
        "a name for a variable, such as result",
        _name,
    ),
    Option("--help", "show this help and run nothing"),
)
_BY_NAME = {option.name: option for option in OPTIONS}


# Words. A piece is literal (single quotes, after a backslash) or open to expansion.
_PIECE = re.compile(
    r"""
      '(?P<single>[^']*)'
    | "(?P<double>(?:\\.|[^"\\])*)"
    | \\(?P<escaped>.)
    | (?P<bare>\$?\{[^{}]*\} | [^ \t\r\n'"\\{]+ | \{)
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_DOUBLE_QUOTES = re.compile(r'\\(?P<escaped>["\\$])|(?P<open>(?:\\(?!["\\$])|[^\\])+)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the line, from `start` to `end`, as it was typed. `complete` is false if a quote in it stays open."""

    raw: str
    start: int
    end: int
    complete: bool

    def value(self, expand: Expand = str) -> str:
        """The word without its quotes, each part outside single quotes expanded."""
        parts = (
            ("".join(text for text, _ in pieces), is_open)
            for is_open, pieces in groupby(_pieces(self.raw), key=lambda piece: piece[1])
        )
        return "".join(expand(text) if is_open else text for text, is_open in parts)

    def after(self, length: int) -> Word:
        """The word without its first characters: the value in `--name=value`."""
        return Word(self.raw[length:], self.start + length, self.end, self.complete)


def next_word(line: str, position: int) -> Word | None:
    """The word at or after `position`, None at the end of the line. Each character is looked at once."""
    while position < len(line) and line[position] in BLANKS:
        position += 1
    if position == len(line):
        return None
    start, complete = position, True
    while position < len(line) and line[position] not in BLANKS:
        match = _PIECE.match(line, position)
        # No piece: a quote or a backslash with nothing to close it.
        complete, position = (True, match.end()) if match else (False, len(line))
    return Word(line[start:position], start, position, complete)


def _pieces(raw: str) -> Iterator[tuple[str, bool]]:
    """(text, open to expansion) of a word, in order."""
    position = 0
    while match := _PIECE.match(raw, position):
        position = match.end()
        if match.lastgroup == "double":
            for inner in _IN_DOUBLE_QUOTES.finditer(match["double"]):
                yield inner[inner.lastgroup or 0], inner.lastgroup == "open"
        else:
            yield match[match.lastgroup or 0], match.lastgroup == "bare"
    if position < len(raw):
        # What an open quote holds so far: only completion asks for it.
        yield raw[position + 1 :], raw[position] == '"'


def expand_home(path: str) -> str:
    """The path with the home directory for a leading ~, as it is if there is no such user."""
    return os.path.expanduser(path)  # noqa: PTH111 - Path raises for an unknown user, and drops a slash at the end


def find_option(name: str) -> Option | None:
    """The option of exactly this name."""
    return _BY_NAME.get(name)


def _take_apart(line: str) -> tuple[list[tuple[Option, Word | None]], int]:
    """The options of a line with the words of their values, nothing converted, and where its command starts."""
    given: list[tuple[Option, Word | None]] = []
    position = 0
    while (word := next_word(line, position)) is not None and word.raw.startswith("-"):
        position = word.end
        if word.raw == "--":
            break
        name, equals, _ = word.raw.partition("=")
        option = find_option(name)
        if option is None:
            raise _unknown(name)
        value = None
        if not option.takes_value and equals:
            raise OptionError(f"{name} takes no value: write {name} alone, not {_shown(word.raw)}")
        if option.takes_value:
            value = word.after(len(name) + 1) if equals else next_word(line, position)
            if value is None or (not equals and value.raw.startswith("--")):
                raise OptionError(f"{name} needs a value: {option.must_be}")
            position = value.end
        given.append((option, value))
    command = next_word(line, position)
    return given, command.start if command else len(line)


def parse(line: str, expand: Expand = str, default: OutputLimits = _DEFAULT) -> tuple[MagicOptions, str]:
    """The options of a line and the rest of it, the command, as it was typed.

    `expand` is called with the parts of values that stand outside single quotes; `default` are the limits of a line
    that says nothing of them. Looks at the disk for paths.
    Raises OptionError, whose text is one line, for the first thing that is wrong.
    """
    given, command_start = _take_apart(line)
    values: dict[str, Any] = {}
    env: dict[str, str] = {}
    for option, word in given:
        value: Any = True if word is None else _converted(option, word, expand)
        if option.name == "--env":
            env.update([value])
        else:
            values[option.name] = value
    if "--columns" in values and "--pty" not in values:
        raise OptionError(f"--columns {values['--columns']} needs --pty: only a terminal has a width")
    options = MagicOptions(
        limits=OutputLimits(
            values.get("--bytes", default.max_bytes),
            values.get("--lines", default.max_lines),
            values.get("--retain", default.retain),
        ),
        spill="--no-spill" not in values,
        cwd=values.get("--cwd"),
        env=env,
        timeout=values.get("--timeout"),
        encoding=values.get("--encoding", "utf-8"),
        stderr=values.get("--stderr", "merge"),
        idle_timeout=values.get("--idle-timeout"),
        stdin=values.get("--stdin"),
        shell=values.get("--shell"),
        pty="--pty" in values,
        columns=values.get("--columns"),
        on_held=values.get("--held", "leave"),
        raise_error="--no-raise-error" not in values,
        out=values.get("--out"),
        background="--bg" in values,
        help="--help" in values,
        on_spill_failure=values.get("--on-spill-failure", "fail"),
        max_spill_bytes=values.get("--max-spill"),
    )
    return options, line[command_start:]


def _converted(option: Option, word: Word, expand: Expand) -> Any:
    assert option.convert is not None
    if not word.complete:
        raise OptionError(f"{option.name} has a quote or backslash that nothing closes: {_shown(word.raw)}")
    text = word.value(expand)
    # As in a shell, only a tilde that was typed means the home directory.
    if option.path_to is not None and word.raw.startswith("~"):
        text = expand_home(text)
    try:
        return option.convert(text)
    except ValueError:
        raise OptionError(f"{option.name} must be {option.must_be}, not {_shown(text)}") from None


def _unknown(name: str) -> OptionError:
    near = get_close_matches("--" + name.lower().strip("-"), _BY_NAME, n=1)
    if near:
        return OptionError(f"there is no option {_shown(name)}: did you mean {near[0]}?")
    known = ", ".join(_BY_NAME)
    return OptionError(f"there is no option {_shown(name)}: write one of {known}, or -- before a command with a dash")


def _shown(text: str) -> str:
    """A value in an error: quoted, on one line, of bounded length."""
    return repr(text if len(text) <= 80 else text[:79] + "…")
