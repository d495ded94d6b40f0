"""Wall time, CPU time, growth of memory and updates of one piece of work. Needs nothing but the standard library."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.children.peak import peak_memory


@dataclass
class Measurement:
    """What one piece of work took.

    wall     seconds
    cpu      seconds of user and system, of this process and of its children
    grown    bytes by which the peak of this process's memory grew; None if it is not this process that captured
    updates  pieces of output handed on to be shown; None if nothing is shown
    update_bytes  their size, encoded
    facts    whatever else the work found out
    """

    wall: float
    cpu: float
    grown: int | None = None
    updates: int | None = None
    update_bytes: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)


def measure(work: Callable[[], object]) -> Measurement:
    gc.collect()
    memory, cpu, wall = peak_memory(), _cpu(), time.perf_counter()
    work()
    wall = time.perf_counter() - wall
    return Measurement(wall, _cpu() - cpu, peak_memory() - memory)


def _cpu() -> float:
    # Of children that have been waited for, and of theirs: pipelines count whole.
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)
