"""Starts twenty commands from threads that nobody waits for, and comes to its own end while they start."""

import threading

from boundcap_jupyter.running.local import LocalEnv

for _ in range(20):
    threading.Thread(target=lambda: LocalEnv().start("exec sleep 600"), daemon=True).start()
