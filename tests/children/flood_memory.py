"""Runs `seq 1 20000000` with updates and says, as JSON, what came of it and by how much the peak of its memory grew."""

import json
import resource
import sys
from pathlib import Path

from boundcap_jupyter.running.environment import ExecOptions
from boundcap_jupyter.running.local import LocalEnv


def peak() -> int:
    """Bytes. Not ru_maxrss on Linux: there it starts with what the parent had."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def main() -> None:
    updates: list[str] = []
    LocalEnv().exec("echo warm", ExecOptions(), lambda update: None)
    before = peak()
    result = LocalEnv().exec("seq 1 20000000", ExecOptions(), lambda update: updates.append(update.kind))
    grown = peak() - before
    cut = result.truncation
    answer = {
        "grown": grown,
        "updates": len(updates),
        "bytes": cut.total_bytes,
        "lines": cut.total_lines,
        "shown_bytes": len(result.view.text.encode()),
        "shown_lines": result.view.text.count("\n"),
        "end": result.text[-18:],
        "spilled": Path(result.spill_path).stat().st_size,
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
