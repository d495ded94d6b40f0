"""Runs the given command with this package, as a notebook that is run by a command does, and passes on its output."""

import sys

from boundcap_jupyter.running.local import LocalEnv


def show(update):
    text = getattr(update, "output", update).text if hasattr(getattr(update, "output", update), "text") else ""
    if "ready" in text:
        print("ready", flush=True)


try:
    LocalEnv().exec(sys.argv[1:], None, show)
except KeyboardInterrupt as interrupt:
    print(interrupt.result.text, flush=True)
