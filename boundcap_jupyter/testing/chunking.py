"""Same bytes, any chunking, same result: the ways to cut a stream that a test should try."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

#: Up to this many bytes every pair of cuts is tried: 66 pairs for 12 bytes.
ALL_PAIRS = 12


def every_chunking(data: bytes) -> Iterator[list[bytes]]:
    """Ways to cut `data`: whole, byte by byte, in steps, at each single place, and a short one at all pairs of places.

    Chunks are never empty. Costs up to len(data) + 6 lists for long data.
    """
    yield _cut(data, [])
    for step in (1, 2, 3, 7, 64):
        yield _cut(data, range(step, len(data), step))
    for place in range(1, len(data)):
        yield _cut(data, [place])
    if len(data) <= ALL_PAIRS:
        for places in combinations(range(1, len(data)), 2):
            yield _cut(data, places)


def _cut(data: bytes, places: range | list[int] | tuple[int, ...]) -> list[bytes]:
    edges = [0, *places, len(data)]
    return [data[begin:end] for begin, end in pairwise(edges) if begin < end]
