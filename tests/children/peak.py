"""How much memory this process has had at most: for programs that say by how much a piece of work made it grow."""

import resource
import sys
from pathlib import Path


def peak_memory() -> int:
    """Bytes. Not ru_maxrss on Linux: there it starts with what the parent had, and a growth below that is not seen."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
