"""Runs 64 floods at once and says, as JSON, what came of them and by how much the peak of the memory grew."""

import json
import sys
import threading
import time

from peak import peak_memory

from boundcap_jupyter.running.environment import ExecOptions
from boundcap_jupyter.running.local import LocalEnv

FLOODS, SIZE = 64, 20_000_000


def main() -> None:
    updates = 0
    lock = threading.Lock()

    def count(update: object) -> None:
        nonlocal updates
        with lock:
            updates += 1

    environment = LocalEnv()
    environment.exec("echo warm", ExecOptions(), count)
    before, updates, started = peak_memory(), 0, time.monotonic()
    options = ExecOptions(spill=False)
    runs = [environment.start(f"yes | head -c {SIZE}", options, count) for _ in range(FLOODS)]
    results = [run.wait() for run in runs]
    answer = {
        "grown": peak_memory() - before,
        "updates": updates,
        "seconds": time.monotonic() - started,
        "totals": [(result.truncation.total_bytes, result.truncation.total_lines) for result in results],
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
