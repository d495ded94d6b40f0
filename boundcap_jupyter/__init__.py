"""Run any command from a notebook, however long or loud, and stay in control of it.

    %load_ext boundcap_jupyter

    %%bounded
    make -j8 && ./train --epochs 300

The same core serves Python code: `run`, `arun` for asyncio, and `start` for the background.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boundcap_jupyter.api import Result, arun, run
    from boundcap_jupyter.chunks import run_with_capture
    from boundcap_jupyter.core.clip import parse_jsonl
    from boundcap_jupyter.core.limits import OutputLimits
    from boundcap_jupyter.core.status import RunState
    from boundcap_jupyter.core.view import OutputMetadata, OutputView, Truncation
    from boundcap_jupyter.history import runs
    from boundcap_jupyter.jobs import Job, start
    from boundcap_jupyter.magics import load_ipython_extension, unload_ipython_extension
    from boundcap_jupyter.running.cli import run_cli
    from boundcap_jupyter.running.environment import CommandFailed, ExecutionError
    from boundcap_jupyter.show.output import OutputSink
    from boundcap_jupyter.show.widget import BoundedOutput

__version__ = "0.1.0"

#: Where each public name is found: nothing is imported before it is used, so that the import itself costs nothing.
_HOMES = {
    "BoundedOutput": "show.widget",
    "CommandFailed": "running.environment",
    "ExecutionError": "running.environment",
    "Job": "jobs",
    "OutputLimits": "core.limits",
    "OutputMetadata": "core.view",
    "OutputSink": "show.output",
    "OutputView": "core.view",
    "Result": "api",
    "RunState": "core.status",
    "Truncation": "core.view",
    "arun": "api",
    "load_ipython_extension": "magics",
    "parse_jsonl": "core.clip",
    "run": "api",
    "run_cli": "running.cli",
    "run_with_capture": "chunks",
    "runs": "history",
    "start": "jobs",
    "unload_ipython_extension": "magics",
}

__all__ = [
    "BoundedOutput",
    "CommandFailed",
    "ExecutionError",
    "Job",
    "OutputLimits",
    "OutputMetadata",
    "OutputSink",
    "OutputView",
    "Result",
    "RunState",
    "Truncation",
    "__version__",
    "arun",
    "load_ipython_extension",
    "parse_jsonl",
    "run",
    "run_cli",
    "run_with_capture",
    "runs",
    "start",
    "unload_ipython_extension",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
