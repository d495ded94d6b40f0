"""Says "ready", and at TERM how many interrupts it heard."""

import signal
import sys
import time

heard = []
signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
signal.signal(signal.SIGTERM, lambda *_: (sys.stdout.write(f"heard{len(heard)}\n"), sys.stdout.flush(), sys.exit()))
sys.stdout.write("ready\n")
sys.stdout.flush()
while True:
    time.sleep(0.01)
