"""Settings by the configuration of IPython: `c.Boundcap.keep_days = 30` in a profile, or by `%config`.

They stand above the environment variables and below the arguments of a call; running/settings.py has what they mean.
"""

from __future__ import annotations

import warnings
from typing import Any

import traitlets
from traitlets.config import Configurable

from boundcap_jupyter.running import settings


def _trait(setting: settings.Setting[Any]) -> Any:
    help_text = f"{setting.help} (or the environment variable {setting.variable})"
    return traitlets.Any(None, allow_none=True, help=help_text).tag(config=True)


class Boundcap(Configurable):
    """Where boundcap_jupyter keeps files, how much they may take, how long they stay; how much of an output is shown.

    None leaves a setting to its environment variable, or to its default.
    """

    dir = _trait(settings.DIR)
    max_bytes = _trait(settings.MAX_BYTES)
    max_lines = _trait(settings.MAX_LINES)
    max_spill_bytes = _trait(settings.MAX_SPILL_BYTES)
    min_free_bytes = _trait(settings.MIN_FREE_BYTES)
    keep_days = _trait(settings.KEEP_DAYS)
    store_bytes = _trait(settings.STORE_BYTES)

    def __init__(self, **arguments: Any) -> None:
        #: What is wrong in the configuration that was there before us: it must not take the magics away.
        self.problems: list[str] = []
        self._loading = True
        super().__init__(**arguments)
        self._loading = False

    @traitlets.validate(*settings.BY_NAME)
    def _checked(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        try:
            settings.configure(name, value)
        except settings.SettingError as error:
            if not self._loading:
                raise traitlets.TraitError(str(error)) from None
            self.problems.append(str(error))
            return None
        return value


def configure(shell: Any) -> Boundcap:
    """Take what the configuration of this shell says; `%config` reaches it from here on.

    Of a setting that is wrong the environment variable or the default counts, and a warning says so.
    """
    withdraw(shell)
    for name in settings.BY_NAME:
        settings.configure(name, None)
    boundcap = Boundcap(parent=shell)
    for problem in boundcap.problems:
        warnings.warn(f"{problem}: this setting is left out", stacklevel=3)
    shell.configurables.append(boundcap)
    return boundcap


def withdraw(shell: Any) -> None:
    """Take it back."""
    shell.configurables[:] = [one for one in shell.configurables if not isinstance(one, Boundcap)]
    for name in settings.BY_NAME:
        settings.configure(name, None)
