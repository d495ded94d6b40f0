"""A kernel in small: starts runs that spill and go on, says their ids when all of them have a record, and waits.

hold_runs.py COUNT
"""

import sys
import time
from pathlib import Path

from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.running.environment import ExecOptions
from boundcap_jupyter.running.local import LocalEnv

count = int(sys.argv[1])
options = ExecOptions(OutputLimits(max_lines=10))
paths = {}


def sink(number):
    def receive(update):
        view = getattr(update, "output", update)
        path = view.metadata.spill_path
        if path is not None:
            paths[number] = Path(path)

    return receive


# It goes on to print, so that it ends with us: by SIGPIPE, whatever else may end it sooner.
script = "for n in $(seq 1 3000); do echo line $n; done; while sleep 0.05; do echo more; done"
runs = [LocalEnv().start(script, options, sink(number)) for number in range(count)]
while len(paths) < count or not all(path.with_name("record.json").exists() for path in paths.values()):
    time.sleep(0.01)
for path in paths.values():
    print(f"{path.parent.parent.name}/{path.parent.name}", flush=True)
print("ready", flush=True)
time.sleep(600)
