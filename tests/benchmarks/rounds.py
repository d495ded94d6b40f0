"""Runs programs in turn, round by round, so that whatever else the machine does hits all alike.

Each program runs in a fresh process, in an empty directory that is removed after it. A ratio is the median of the
ratios within each round, not the ratio of two medians.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.stopwatch import Measurement

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Entrant:
    """A program of `programs` with its arguments, or another one that writes a report: `launcher REPORT ARGUMENT…`.

    `share`: it gets that part of the input, 1 for all; its times count in proportion.
    """

    name: str
    program: str
    arguments: Sequence[str] = ()
    python: Sequence[str] = (sys.executable,)
    launcher: Sequence[str] | None = None
    share: int = 1

    def command(self, report: Path) -> list[str]:
        launcher = self.launcher or [*self.python, "-m", "tests.benchmarks.programs", self.program]
        return [*launcher, str(report), *self.arguments]


@dataclass(frozen=True)
class Samples:
    """What an entrant took in each round, in order."""

    entrant: Entrant
    taken: Sequence[Measurement]

    @property
    def walls(self) -> list[float]:
        """Seconds, as if for the whole input."""
        return [measurement.wall * self.entrant.share for measurement in self.taken]

    @property
    def wall(self) -> float:
        return statistics.median(self.walls)

    @property
    def cpu(self) -> float:
        """Seconds, as if for the whole input."""
        return statistics.median(measurement.cpu * self.entrant.share for measurement in self.taken)

    def median(self, read: Callable[[Measurement], float | None]) -> float | None:
        """Of what was measured as it was; None if there is nothing to read."""
        values = [value for value in map(read, self.taken) if value is not None]
        return statistics.median(values) if values else None

    def ratio(self, other: Samples) -> float:
        """How many times the wall time of the other this took."""
        return statistics.median(own / theirs for own, theirs in zip(self.walls, other.walls, strict=True))


def run_rounds(
    entrants: Sequence[Entrant], rounds: int, scratch: Path, tell: Callable[[str], None]
) -> Mapping[str, Samples]:
    """Samples by the entrants' names. Raises RuntimeError, with what it said, if one fails."""
    taken: dict[str, list[Measurement]] = {entrant.name: [] for entrant in entrants}
    for number in range(rounds):
        # Each round begins with another one: nobody always comes after the same neighbour's dirty pages.
        first = number % len(entrants)
        for entrant in [*entrants[first:], *entrants[:first]]:
            measurement = _run(entrant, scratch)
            tell(f"round {number + 1} of {rounds}: {entrant.name}: {measurement.wall:.3f} s")
            taken[entrant.name].append(measurement)
    return {entrant.name: Samples(entrant, taken[entrant.name]) for entrant in entrants}


def _run(entrant: Entrant, scratch: Path) -> Measurement:
    directory, report = scratch / "turn", scratch / "report.json"
    directory.mkdir()
    # All that a program keeps goes where it is removed with the directory.
    places = dict.fromkeys(("XDG_CACHE_HOME", "TMPDIR", "IPYTHONDIR"), str(directory))
    try:
        done = subprocess.run(
            entrant.command(report),
            cwd=directory,
            env={**os.environ, **places, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
    finally:
        shutil.rmtree(directory)
    if done.returncode or not report.exists():
        raise RuntimeError(f"{entrant.name} failed (exit code {done.returncode}):\n{done.stderr}")
    measurement = Measurement(**json.loads(report.read_text()))
    report.unlink()
    return measurement
