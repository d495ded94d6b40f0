"""Says "ready"; hears INT and TERM, says so and goes on."""

import signal
import sys
import time

say = sys.stdout.write  # at once and whole, unlike print without a buffer

for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: say(signal.Signals(number).name + "\n"))
say("ready\n")
while True:
    time.sleep(600)
