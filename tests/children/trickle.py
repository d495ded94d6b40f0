"""Prints lines enough to fill a view of 2,000, then one more every 10 ms for some seconds: SECONDS"""

import sys
import time

print("".join(f"line {number}\n" for number in range(3000)), end="", flush=True)
start = time.monotonic()
for number in range(round(float(sys.argv[1]) * 100)):
    time.sleep(max(0.0, start + number / 100 - time.monotonic()))
    print("one new line", number, flush=True)
