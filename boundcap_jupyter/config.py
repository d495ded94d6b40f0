"""Settings by the configuration of IPython: `c.Boundcap.keep_days = 30` in a profile, or by `%config`.

They stand above the environment variables and below the arguments of a call; running/settings.py has what they mean.
"""

from __future__ import annotations

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

    @traitlets.validate(*settings.BY_NAME)
    def _checked(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        try:
            settings.configure(name, value)
        except settings.SettingError as error:
            raise traitlets.TraitError(str(error)) from None
        return value


def configure(shell: Any) -> Boundcap:
    """Take what the configuration of this shell says; `%config` reaches it from here on. Raises TraitError."""
    withdraw(shell)
    for name in settings.BY_NAME:
        settings.configure(name, None)
    boundcap = Boundcap(parent=shell)
    shell.configurables.append(boundcap)
    return boundcap


def withdraw(shell: Any) -> None:
    """Take it back."""
    shell.configurables[:] = [one for one in shell.configurables if not isinstance(one, Boundcap)]
    for name in settings.BY_NAME:
        settings.configure(name, None)
