"""Runs `seq 1 20000000` with updates and says, as JSON, what came of it and by how much the peak of its memory grew."""

import json
import sys
from pathlib import Path

from peak import peak_memory

from boundcap_jupyter.running.environment import ExecOptions
from boundcap_jupyter.running.local import LocalEnv

updates = []
LocalEnv().exec("echo warm", ExecOptions(), lambda update: None)
before = peak_memory()
result = LocalEnv().exec("seq 1 20000000", ExecOptions(), lambda update: updates.append(update.kind))
grown = peak_memory() - before
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
