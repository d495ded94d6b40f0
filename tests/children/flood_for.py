"""Prints lines as fast as it can for some seconds, and leaves in a file how many bytes that was: SECONDS FILE [GO]

With GO it says that it is up by making FILE, and begins when there is a file GO; it gives up with who started it.
"""

import os
import sys
import time

seconds, path, *go = sys.argv[1:]
# A view of 50 KB turns over in less than this.
block = b"".join(b"line %07d of a flood that fills the view many times over\n" % number for number in range(1100))
written = 0
if go:
    owner = os.getppid()
    open(path, "w").close()
    while not os.path.exists(go[0]):
        if os.getppid() != owner:
            sys.exit("nobody is left to say go")
        time.sleep(0.01)
end = time.monotonic() + float(seconds)
while time.monotonic() < end:
    written += os.write(1, block)
with open(path, "w") as file:
    file.write(str(written))
