"""Says "ready"; on Ctrl-C saves for the given seconds, as a training does, and comes to a good end."""

import sys
import time

say = sys.stdout.write  # at once and whole, unlike print without a buffer

try:
    say("ready\n")
    time.sleep(600)
except KeyboardInterrupt:
    say("saving\n")
    time.sleep(float(sys.argv[1]))
    say("saved\n")
