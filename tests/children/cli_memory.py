"""Runs 16 floods at once through run_cli; prints how many bytes the resident memory grew at its peak."""

import asyncio
import resource
import sys

from boundcap_jupyter import run_cli


def peak() -> int:
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes if sys.platform == "darwin" else kilobytes * 1024


async def floods() -> None:
    command = ["sh", "-c", "head -c 200000000 /dev/zero | tr '\\0' a"]
    results = await asyncio.gather(*(run_cli(command) for _ in range(16)))
    assert all(len(output) <= 1024 * 1024 for output, _, _ in results)


asyncio.run(run_cli(["true"]))
before = peak()
asyncio.run(floods())
print(peak() - before)
