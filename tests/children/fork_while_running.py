"""Forks while a command runs; the child exits as a program does. Says what then became of the parent's command."""

import os
import sys

from boundcap_jupyter.running.local import LocalEnv

gate = sys.argv[1]
os.mkfifo(gate)
run = LocalEnv().start(f"read word < {gate}; exit 5")
pid = os.fork()
if pid == 0:
    sys.exit(0)
assert os.waitpid(pid, 0)[1] == 0
# Also for writing, so that it does not wait for a reader that was killed.
end = os.open(gate, os.O_RDWR)
os.write(end, b"go\n")
result = run.wait()
print(result.state, result.exit_code)
