"""What may be set for all runs: where files go, how much they may take, how long they stay, how much is shown.

One precedence: an argument, else the configuration (config.py passes it on), else an environment variable, else the
default. A setting is read when it is used, so that a variable counts that was set a moment ago, and a wrong value
hurts only what needs it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from boundcap_jupyter.core.limits import DEFAULT_BYTES, DEFAULT_LINES, MIN_BYTES
from boundcap_jupyter.core.quantity import count, size

_T = TypeVar("_T")


class SettingError(ValueError):
    """A wrong value; the text names what was set, the value, and what would be right."""


@dataclass(frozen=True, slots=True)
class Setting(Generic[_T]):
    """One setting. `read` makes a value of what was set, text or number, and raises ValueError if it cannot."""

    name: str
    default: _T
    read: Callable[[object], _T]
    must_be: str
    help: str

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"BOUNDCAP_{self.name.upper()}"

    def get(self) -> _T:
        """The value in force. Raises SettingError if what was set is wrong."""
        with _lock:
            configured = _configured.get(self.name)
        if configured is not None:
            return self.checked(configured, f"Boundcap.{self.name}")
        # An empty variable is as good as none, as for the shell's ${NAME:-default}.
        text = os.environ.get(self.variable)
        return self.checked(text, self.variable) if text else self.default

    def checked(self, value: object, origin: str) -> _T:
        """The value that was meant. `origin` is what was set, for the error."""
        try:
            return self.read(value)
        except (ValueError, OverflowError):
            raise SettingError(f"{origin} must be {self.must_be}, not {value!r:.80}") from None


def configure(name: str, value: object) -> None:
    """Set by configuration, above the environment; None takes it back. Raises KeyError for a name that there is not."""
    setting = BY_NAME[name]
    if value is not None:
        setting.checked(value, f"Boundcap.{name}")
    with _lock:
        _configured[name] = value


_configured: dict[str, object] = {}
_lock = threading.Lock()


def _size(value: object) -> int:
    return _whole(size(value.strip()) if isinstance(value, str) else value, 0)


def _view_bytes(value: object) -> int:
    return _whole(_size(value), MIN_BYTES)


def _view_lines(value: object) -> int:
    return _whole(count(value.strip()) if isinstance(value, str) else value, 1)


def _whole(value: object, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(value)
    return value


def _days(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(value)
    days = float(value)
    # By comparison: NaN is refused too. Infinity is a way to say "for ever".
    if not days >= 0:
        raise ValueError(value)
    return days


def _directory(value: object) -> Path:
    if not isinstance(value, (str, os.PathLike)):
        raise ValueError(value)
    path = os.fspath(value)
    if not isinstance(path, str) or not path or "\0" in path:
        raise ValueError(value)
    return Path(os.path.expanduser(path)).absolute()


DIR: Setting[Path | None] = Setting(
    "dir", None, _directory, "a directory", "directory to keep files in, in place of the user's cache directory"
)
MAX_BYTES = Setting(
    "max_bytes",
    DEFAULT_BYTES,
    _view_bytes,
    f"a size of at least {MIN_BYTES} bytes, such as 800, 50k or 2M",
    "bytes of output to keep in view",
)
MAX_LINES = Setting(
    "max_lines",
    DEFAULT_LINES,
    _view_lines,
    "a whole number of at least 1, such as 500 or 2k",
    "lines of output to keep in view",
)
MAX_SPILL_BYTES = Setting(
    "max_spill_bytes",
    0,
    _size,
    "a size in bytes such as 500M or 20G, or 0 for no limit",
    "bytes of complete output that one run may keep, 0 for no limit",
)
MIN_FREE_BYTES: Setting[int | None] = Setting(
    "min_free_bytes",
    None,
    _size,
    "a size in bytes such as 500M or 20G, or 0 for none",
    "bytes that stay free on the disk; by default the smaller of 1 GiB and 5 % of it",
)
KEEP_DAYS = Setting(
    "keep_days",
    7.0,
    _days,
    "a number of days of at least 0, such as 7 or 0.5",
    "days for which the files of a run stay after its end",
)
STORE_BYTES = Setting(
    "store_bytes",
    20 * 1024**3,
    _size,
    "a size in bytes such as 500M or 20G, or 0 for no limit",
    "bytes of all files; above, the oldest runs go first; 0 for no limit",
)

BY_NAME: dict[str, Setting[object]] = {
    setting.name: setting  # type: ignore[misc]  # each of another type, and only read
    for setting in (DIR, MAX_BYTES, MAX_LINES, MAX_SPILL_BYTES, MIN_FREE_BYTES, KEEP_DAYS, STORE_BYTES)
}
