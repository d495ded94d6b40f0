"""What is measured, each in a fresh process: `python -m tests.benchmarks.programs NAME REPORT ARGUMENT…`

The program's own output goes wherever its standard output does; what it measured goes into the file REPORT, as JSON.
Every program imports its library itself and warms it up: a peer's environment has only the peer. A program that takes
a SCRIPT has it run by bash.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmarks.stopwatch import Measurement, measure

if TYPE_CHECKING:
    from boundcap_jupyter.core.update import Update

CHILDREN = Path(__file__).parents[1] / "children"


class Updates:
    """A sink that keeps of each update when it came, its kind and its size on the wire."""

    def __init__(self) -> None:
        from boundcap_jupyter.show.wire import update_to_wire

        self._encode = update_to_wire
        self.times: list[float] = []
        self.kinds: list[str] = []
        self.sizes: list[int] = []

    def __call__(self, update: Update, /) -> None:
        self.times.append(time.monotonic())
        self.kinds.append(update.kind)
        self.sizes.append(len(json.dumps(self._encode(update), ensure_ascii=False).encode()))


class Printed:
    """A standard output that counts: for programs that show by printing."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.count = 0
        self.bytes = 0

    def write(self, text: str) -> int:
        self.count += 1
        self.bytes += len(text.encode())
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""


# --- captures of one command


def ours(script: str, spill: str) -> Measurement:
    """`run` with a receiver of updates; `spill` is "spill" or "no-spill"."""
    from boundcap_jupyter import run

    run("echo warm", on_update=Updates())
    updates = Updates()
    found: dict[str, Any] = {}

    def work() -> None:
        result = run(script, spill=spill == "spill", on_update=updates)
        found["bytes"] = result.truncation.total_bytes

    taken = measure(work)
    taken.updates, taken.update_bytes, taken.facts = len(updates.sizes), sum(updates.sizes), found
    return taken


def bare(script: str, file: str) -> Measurement:
    """The least that a capture in Python can do: read, count lines, and write into a file if it has a name."""

    def work() -> None:
        with subprocess.Popen(["bash", "-c", script], stdout=subprocess.PIPE, bufsize=0) as process:
            assert process.stdout is not None
            source = process.stdout.fileno()
            if hasattr(fcntl, "F_SETPIPE_SZ"):
                # The largest pipe that anybody may ask for on Linux.
                fcntl.fcntl(source, fcntl.F_SETPIPE_SZ, 1024 * 1024)
            target = os.open(file, os.O_WRONLY | os.O_CREAT, 0o600) if file else None
            lines = 0
            while data := os.read(source, 256 * 1024):
                lines += data.count(b"\n")
                if target is not None:
                    os.write(target, data)

    return measure(work)


def shell(script: str) -> Measurement:
    """A pipeline of programs. It is they that capture, so the memory of this process says nothing."""
    taken = measure(lambda: subprocess.run(["bash", "-c", script], check=True))
    taken.grown = None
    return taken


def subprocess_run(script: str) -> Measurement:
    return measure(lambda: subprocess.run(["bash", "-c", script], capture_output=True, check=True))


def bash_magic(script: str) -> Measurement:
    """IPython's %%bash without a kernel: there each of its writes is a message as well."""
    from IPython.core.interactiveshell import InteractiveShell

    shell: Any = InteractiveShell.instance()
    shell.run_cell_magic("bash", "", "echo warm")
    return _printing(lambda: shell.run_cell_magic("bash", "", script))


def subprocess_tee(script: str) -> Measurement:
    from subprocess_tee import run

    run("echo warm")
    return _printing(lambda: run(script))


def agentfield(script: str) -> Measurement:
    from agentfield.harness._cli import run_cli

    asyncio.run(run_cli(["true"]))
    return measure(lambda: asyncio.run(run_cli(["bash", "-c", script])))


def _printing(work: Callable[[], object]) -> Measurement:
    printed, before = Printed(), sys.stdout
    sys.stdout = printed  # it does what those who print ask of it
    try:
        taken = measure(work)
    finally:
        sys.stdout = before
    taken.updates, taken.update_bytes = printed.count, printed.bytes
    return taken


# --- what only we do


def crowd(count: str, seconds: str) -> Measurement:
    """So many floods at once. Facts: how many totals are what the command says that it wrote; messages a second."""
    from boundcap_jupyter import arun, run

    run("echo warm", on_update=Updates())
    sinks = {Path(f"written-{number}"): Updates() for number in range(int(count))}
    go = Path("go")

    async def release() -> None:
        # All at once: who starts while others flood starts late.
        while not all(path.exists() for path in sinks):
            await asyncio.sleep(0.01)
        go.touch()

    async def all_of_them() -> list[int]:
        floods = [
            arun([*_child("flood_for.py"), seconds, str(path), str(go)], spill=False, on_update=sink)
            for path, sink in sinks.items()
        ]
        results, _ = await asyncio.gather(asyncio.gather(*floods), release())
        return [result.truncation.total_bytes for result in results]

    totals: list[int] = []
    taken = measure(lambda: totals.extend(asyncio.run(all_of_them())))
    # The last update of a run is no part of the rate: it goes out in any case.
    times = sorted(moment for sink in sinks.values() for moment in sink.times[:-1])
    taken.facts = {
        "exact": sum(total == int(path.read_text()) for total, path in zip(totals, sinks, strict=True)),
        "bytes": sum(totals),
        "rate": len(times) / (times[-1] - times[0]) if len(times) > 1 else 0.0,
    }
    return taken


def turnover(seconds: str) -> Measurement:
    """A view that is a new one at each look. Facts: updates and bytes a second."""
    updates, taken = _watched([*_child("flood_for.py"), seconds, "written"])
    # Of the updates before the last, which does not wait for its turn; each is paid for by the pause after it.
    times, sizes = updates.times[:-1], updates.sizes[:-1]
    span = times[-1] - times[0] if len(times) > 1 else 0.0
    taken.facts = {
        "rate": (len(times) - 1) / span if span else 0.0,
        "bytes_rate": sum(sizes[:-1]) / span if span else 0.0,
    }
    return taken


def trickle(seconds: str) -> Measurement:
    """A full view and one new line every 10 ms. Facts: the kinds of the updates, seconds from one slide to the next."""
    updates, taken = _watched([*_child("trickle.py"), seconds])
    slides = [moment for moment, kind in zip(updates.times, updates.kinds, strict=True) if kind == "slide"]
    pauses = [after - before for before, after in pairwise(slides)]
    taken.facts = {"kinds": dict(Counter(updates.kinds)), "interval": statistics.median(pauses) if pauses else 0.0}
    return taken


def start(times: str) -> Measurement:
    """Facts: seconds that `run("true")` takes longer than subprocess.run(["true"]), by turns."""
    from boundcap_jupyter import run

    pairs: list[float] = []

    def work() -> None:
        for _ in range(int(times)):
            begin = time.perf_counter()
            run("true")
            middle = time.perf_counter()
            subprocess.run(["true"], check=True)
            pairs.append((middle - begin) - (time.perf_counter() - middle))

    run("true")
    taken = measure(work)
    taken.facts = {"longer": statistics.median(pairs)}
    return taken


def importing() -> Measurement:
    """Facts: whether ipywidgets is loaded after `import boundcap_jupyter`, and with `run`."""

    def loaded(name: str) -> bool:
        return any(module.partition(".")[0] == name for module in sys.modules)

    def work() -> None:
        import boundcap_jupyter  # noqa: F401 - the import is the work

    taken = measure(work)
    before = loaded("ipywidgets")
    with_run = measure(lambda: __import__("boundcap_jupyter").run)
    taken.facts = {
        "ipywidgets": before or loaded("ipywidgets"),
        "with_run": taken.wall + with_run.wall,
    }
    return taken


def _child(name: str) -> list[str]:
    # Without site: 64 interpreters are to be up before the first is done.
    return [sys.executable, "-I", "-S", str(CHILDREN / name)]


def _watched(command: list[str]) -> tuple[Updates, Measurement]:
    from boundcap_jupyter import run

    run("echo warm", on_update=Updates())
    updates = Updates()
    taken = measure(lambda: run(command, spill=False, on_update=updates))
    taken.updates, taken.update_bytes = len(updates.sizes), sum(updates.sizes)
    return updates, taken


PROGRAMS: dict[str, Callable[..., Measurement]] = {
    program.__name__: program
    for program in (
        ours,
        bare,
        shell,
        subprocess_run,
        bash_magic,
        subprocess_tee,
        agentfield,
        crowd,
        turnover,
        trickle,
        start,
        importing,
    )
}


def main(name: str, report: str, *arguments: str) -> None:
    taken = PROGRAMS[name](*arguments)
    Path(report).write_text(json.dumps(asdict(taken)))


if __name__ == "__main__":
    main(*sys.argv[1:])
