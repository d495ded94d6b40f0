"""Owns a command, as a kernel does: runs the given script and says what became of it.

With "fork" as first argument, a child that was forked meanwhile lives on, with all that a fork inherits."""

import os
import sys
import threading
import time

from boundcap_jupyter.running.environment import ExecOptions
from boundcap_jupyter.running.local import LocalEnv

kind, script = sys.argv[1:]
started = threading.Event()
run = LocalEnv().start(script, ExecOptions(), lambda update: started.set())
started.wait()
if kind == "fork" and os.fork() == 0:
    time.sleep(600)
print("ready", flush=True)
result = run.wait()
print(result.state, result.status.detail, flush=True)
if kind == "stay":
    time.sleep(600)
