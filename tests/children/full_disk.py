"""A kernel in small on a disk of its own: mounts a file system of 1 MB, runs what needs more, prints what came of it.

full_disk.py DIRECTORY POLICY      with the right to mount, such as `unshare -rm` gives
"""

import json
import os
import subprocess
import sys

from boundcap_jupyter import ExecutionError, run

directory, policy = sys.argv[1:]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", directory], check=True)
# Until the disk itself says so.
os.environ.update(BOUNDCAP_DIR=directory, BOUNDCAP_MIN_FREE_BYTES="0")
try:
    result = run("seq 300000; echo LAST", on_spill_failure=policy)
except ExecutionError as error:
    result = error.result
metadata = result.view.metadata
hello = run("echo hello")
print(
    json.dumps(
        {
            "state": result.state,
            "exit_code": result.exit_code,
            "detail": result.status.detail,
            "last": result.text.split()[-1],
            "bytes": result.truncation.total_bytes,
            "spill_state": metadata.spill_state,
            "spill_bytes": metadata.spill_bytes,
            "file": os.path.getsize(metadata.spill_path),
            "hello": [hello.text, hello.exit_code],
        }
    )
)
