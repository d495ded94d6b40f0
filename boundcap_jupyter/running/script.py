"""How a script reaches the interpreter that runs it.

Never through its standard input, which stays the script's own. Shells and Python take a script as the argument of `-c`,
node as that of `-e`: nothing is written anywhere, and what the script imports is looked for in the directory where it
runs. Any other interpreter gets the path of a private file as its last argument, and so does one whose script is too
long for an argument: `$0`, `BASH_SOURCE` and the names in error messages are that path then. A Python script that is
too long is read from the file by a line that is given to `-c`, so that it still imports from where it runs.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from boundcap_jupyter.running.environment import Command, is_argument, shell_words

#: Bytes of one argument, its NUL included: MAX_ARG_STRLEN of Linux, 32 pages of 4 KiB (execve(2)).
MAX_ARGUMENT = 32 * 4096

#: Interpreters, without the digits of a version, and the flag behind which they take a script.
_INLINE_FLAGS = {
    **dict.fromkeys(("sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "python", "pypy"), "-c"),
    **dict.fromkeys(("node", "nodejs"), "-e"),
}

#: Runs the file that is named last as `python -c` would run its text. It leaves no names of its own behind.
_PYTHON_LOADER = """\
def _load(path):
    with open(path, "rb") as file:
        return compile(file.read(), path, "exec")
exec(globals().pop("_load")(__import__("sys").argv.pop()))"""


@dataclass(frozen=True, slots=True)
class Invocation:
    """The words that start a command. Where `script` is not None, the path of a file that holds it comes after them."""

    words: list[str]
    script: str | None = None


def invocation(command: Command, shell: str | Sequence[str | Path] | None = None) -> Invocation:
    """How to start a command: a script with `shell`, else with bash, else with sh; an argument vector as it is.

    Raises ValueError for what is neither, and for a shell with an argument vector.
    """
    if isinstance(command, str):
        if not is_argument(command):
            raise _unusable(command)
        return _of_script(command, [shutil.which("bash") or "/bin/sh"] if shell is None else shell_words(shell))
    if not isinstance(command, (list, tuple)) or not command or not all(isinstance(w, (str, Path)) for w in command):
        raise ValueError(f"command must be a script (str) or a non-empty list of str or Path, not {command!r}")
    if shell is not None:
        raise ValueError(f"shell must be None for an argument vector, which no shell sees, not {shell!r}")
    words = [str(word) for word in command]
    for word in words:
        if not is_argument(word):
            raise _unusable(word)
    return Invocation(words)


def _of_script(script: str, interpreter: list[str]) -> Invocation:
    name = Path(interpreter[0]).name.rstrip("0123456789.")
    flag = _INLINE_FLAGS.get(name)
    if flag is not None and len(os.fsencode(script)) < MAX_ARGUMENT:
        return Invocation([*interpreter, flag, script])
    if name in ("python", "pypy"):
        interpreter = [*interpreter, "-c", _PYTHON_LOADER]
    return Invocation(interpreter, script)


def _unusable(word: str) -> ValueError:
    return ValueError(f"command must not contain NUL characters or lone surrogates: {word!r:.80}")


class ScriptFile:
    """A script in a file (0600) in a directory of its own (0700), until `remove` or the end of this process.

    Raises OSError if it can not be written. A process that is killed leaves it behind in the temporary directory.
    """

    def __init__(self, script: str) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="boundcap-", ignore_cleanup_errors=True)
        self.path = str(Path(self._directory.name, "script"))
        try:
            fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(fd, "wb") as file:
                os.fchmod(fd, 0o600)
                file.write(os.fsencode(script))
        except BaseException as error:
            self.remove()
            if isinstance(error, OSError) and error.filename is None:
                # A write does not say where: the disk that is full is not the one that a person would look at.
                error.filename = self.path
            raise

    def remove(self) -> None:
        """Safe to be called again."""
        self._directory.cleanup()
