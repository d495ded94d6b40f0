"""Starts a command that would run on, writes its pid into the given file, and comes to its own end."""

import sys
import threading

from boundcap_jupyter.running.local import LocalEnv

shown = threading.Event()
run = LocalEnv().start(f"echo $$ > {sys.argv[1]}; sleep 600 & echo ready; wait", None, lambda update: shown.set())
shown.wait()
