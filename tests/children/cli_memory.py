"""Runs 16 floods at once through run_cli; prints how many bytes the resident memory grew at its peak."""

import asyncio

from peak import peak_memory

from boundcap_jupyter import run_cli


async def floods() -> None:
    command = ["sh", "-c", "head -c 200000000 /dev/zero | tr '\\0' a"]
    results = await asyncio.gather(*(run_cli(command) for _ in range(16)))
    assert all(len(output) <= 1024 * 1024 for output, _, _ in results)


asyncio.run(run_cli(["true"]))
before = peak_memory()
asyncio.run(floods())
print(peak_memory() - before)
