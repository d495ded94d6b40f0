"""What the panel costs the page, and how soon it shows a line, in JupyterLab: `python -m tests.browser.measure`.

Figures, not a test: they depend on the machine, so that their ratios say more than they do. Arguments are pytest's:
`-k line` measures one of them.

main thread   milliseconds of processor time in a second, less those of the same page while the cell sleeps; beside an
              ipywidgets.Output in the same page
longest task  milliseconds; Chromium reports those of 50 and more
heap          growth of the JavaScript heap in MB, each time after a collection
line          milliseconds from the moment when a command writes a line until it is in the document, and until the frame
              after that is over, which shows it for certain; both by the clock of this machine
20 MB         seconds for a command that prints 20 MB in lines of 40 characters: bare, into a `cat` that throws them
              away, since a pipe that nobody reads would stop it; and as a cell. The best of several, and their ratio. A
              cell that prints nothing tells how much of that is the panel's own
"""

from __future__ import annotations

import math
import re
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import CDPSession

from tests.browser.conftest import PATIENCE, Notebook

#: Seconds that are measured of each case, after the first two, in which code is compiled.
WARM_UP, MEASURED = 2, 8

#: In the kernel: a view that changes ten times a second, for whoever shows it.
_DRIVER = """
import time
from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.update import Replace, diff

COLOURED = lambda n: b"\\x1b[3%dmstep %6d\\x1b[0m ok\\n" % (1 + n % 6, n)
PLAIN = lambda n: b"%6d %s\\n" % (n, b"plain words of an ordinary log " * 3)

def views(line, new, seconds):
    capture, n, view = OutputCapture(), 0, None
    end = time.monotonic() + seconds
    at = time.monotonic()
    while at < end:
        for _ in range(new if n else 3000):
            capture.feed(line(n))
            n += 1
        before, view = view, capture.view()
        yield before, view
        at += 0.1
        time.sleep(max(0, at - time.monotonic()))

def in_panel(*case):
    from IPython.display import display
    from boundcap_jupyter.show.widget import BoundedOutput
    panel = BoundedOutput()
    display(panel)
    for before, view in views(*case):
        panel(Replace(view) if before is None else diff(before, view))

def in_output(*case):
    from IPython.display import display
    from ipywidgets import Output
    output = Output(layout={"max_height": "464px", "overflow": "auto"})
    display(output)
    for _, view in views(*case):
        output.outputs = ({"output_type": "stream", "name": "stdout", "text": view.text},)
"""


@dataclass
class Cost:
    """`work` in milliseconds of the main thread a second, `longest` in milliseconds, 0 where no task was long."""

    work: float
    longest: float

    def __str__(self) -> str:
        return f"{self.work:6.0f} ms/s  {f'longest task {self.longest:.0f} ms' if self.longest else 'no long task'}"


def metric(session: CDPSession, name: str) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(entry["value"] for entry in metrics if entry["name"] == name)


def heap(session: CDPSession) -> float:
    session.send("HeapProfiler.collectGarbage")
    return metric(session, "JSHeapUsedSize") / 1e6


def cost(page: Notebook, session: CDPSession, cell: int) -> Cost:
    page.start(cell)
    page.page.wait_for_timeout(1000 * WARM_UP)
    page.page.evaluate("window.longest = 0")
    before = metric(session, "TaskDuration")
    page.page.wait_for_timeout(1000 * MEASURED)
    took = metric(session, "TaskDuration") - before
    longest = page.page.evaluate("window.longest")
    page.wait(cell)
    page.page.evaluate("i => window.jupyterapp.commands.execute('notebook:clear-cell-output')", cell)
    return Cost(1000 * took / MEASURED, longest)


WATCH = """() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
        for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration);
    }).observe({ type: 'longtask' });
}"""

CASES = [
    ("2,000 coloured lines, 20 new ones 10 times a second", "COLOURED, 20"),
    ("2,000 coloured lines, all new 10 times a second", "COLOURED, 2000"),
    ("50 KB plain, 10 new lines 10 times a second", "PLAIN, 10"),
    ("50 KB plain, all new 10 times a second", "PLAIN, 500"),
]


def test_main_thread(notebook: Callable[..., Notebook]) -> None:
    seconds = WARM_UP + MEASURED + 2
    shown = [f"{way}({case}, {seconds})" for _, case in CASES for way in ("in_panel", "in_output")]
    page = notebook([_DRIVER, f"time.sleep({seconds})", *shown])
    session = page.page.context.new_cdp_session(page.page)
    # Time of the processor, not of the clock: what else runs on the machine counts little.
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.page.evaluate(WATCH)
    page.run(0)
    page.run(1)
    idle = cost(page, session, 2)
    print(f"\n{'idle':<54}{idle}")
    for index, (name, _) in enumerate(CASES):
        panel, output = (cost(page, session, 3 + 2 * index + way) for way in (0, 1))
        for label, one in ((f"{name}: panel", panel), (f"{' ' * len(name)}  Output", output)):
            one.work -= idle.work
            print(f"{label:<62}{one}")
        print(f"{'':<62}{panel.work / output.work:6.2f} of Output")


def test_flood(notebook: Callable[..., Notebook]) -> None:
    page = notebook(["%%bounded\ntimeout 3 yes", "%%bounded\ntimeout 20 yes"])
    session = page.page.context.new_cdp_session(page.page)
    session.send("Performance.enable")
    page.run(0)
    # What the first panel brings, code and styles, is no growth.
    page.run(1)
    before = heap(session)
    page.page.evaluate(
        """() => {
            // How long a click would wait: the delay of what is asked for every 20 ms.
            window.slowest = 0;
            let asked = performance.now();
            setInterval(() => {
                window.slowest = Math.max(window.slowest, performance.now() - asked - 20);
                asked = performance.now();
            }, 20);
        }"""
    )
    outputs = page.start(2)
    outputs.locator(".boundcap-panel").wait_for(timeout=PATIENCE)
    page.page.wait_for_timeout(18_000)
    slowest = page.page.evaluate("window.slowest")
    # Last: a collection of all garbage stops the page by itself.
    during = heap(session)
    page.wait(2)
    after = heap(session)
    print(f"\n{'timeout 20 yes':<54}heap {during - before:+.1f} MB while it runs, {after - before:+.1f} MB after it")
    print(f"{'':<54}a click waits {slowest:.0f} ms at most")


#: Lines that are measured, and the milliseconds that are between two of them at least, and at most.
LINES, LEAST, MOST = 40, 500, 900

#: The moment is taken by the shell itself and written at once.
_PRINT_LINES = f"""%%bounded
for i in $(seq {LINES}); do
    sleep 0.$(({LEAST} + RANDOM % {MOST - LEAST}))
    printf 'line %s at %s\\n' $i $EPOCHREALTIME
done
sleep 2"""

_WATCH_LINES = """() => {
    window.lines = {};
    const now = () => performance.timeOrigin + performance.now();
    new MutationObserver(() => {
        const text = [...document.querySelectorAll('.boundcap-text')].map((area) => area.textContent).join('');
        for (const [, number, written] of text.matchAll(/line (\\d+) at ([\\d.]+)\\n/g)) {
            if (window.lines[number] !== undefined) continue;
            const line = window.lines[number] = { written: 1000 * written, inDocument: now(), shown: null };
            requestAnimationFrame(() => {
                const { port1, port2 } = new MessageChannel();
                port1.onmessage = () => { line.shown = now(); };
                port2.postMessage(null);
            });
        }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""


def percentile(sorted_values: list[float], percent: float) -> float:
    """The least value that so many percent do not exceed."""
    return sorted_values[max(0, math.ceil(percent / 100 * len(sorted_values)) - 1)]


def test_line(notebook: Callable[..., Notebook]) -> None:
    page = notebook(["%%bounded\necho warm", _PRINT_LINES])
    page.run(0)
    page.run(1)
    page.page.evaluate(_WATCH_LINES)
    page.run(2)
    lines = page.page.evaluate("Object.values(window.lines)")
    assert len(lines) == LINES
    print()
    for name, key in (("in the document", "inDocument"), ("shown for certain", "shown")):
        delays = sorted(line[key] - line["written"] for line in lines)
        figures = "  ".join(f"p{percent} {percentile(delays, percent):.0f} ms" for percent in (50, 95))
        print(f"{f'a line after 0.5 s of silence, {name}':<54}{figures}  max {delays[-1]:.0f} ms")


#: In a kernel, with what both commands print, so that the ratio is that of one machine in one state.
_TWENTY_MB = """
import subprocess, sys, time

def timed(work):
    before = time.perf_counter()
    work()
    return time.perf_counter() - before

def best(command, rounds=5):
    command = command.replace("PYTHON", sys.executable)
    bare, cell = [], []
    for _ in range(rounds):
        bare.append(timed(lambda: subprocess.run(["bash", "-c", f"({command}) | cat >/dev/null"], check=True)))
        cell.append(timed(lambda: get_ipython().run_cell_magic("bounded", "", command)))
    print(f"BARE {min(bare)} CELL {min(cell)} END")
"""

#: What a cell costs by itself; as fast as anything prints; a program that does something for each line; and one that
#: writes each line at once, as Python's do in a cell.
COMMANDS = [
    ("no output", "true"),
    ("20 MB, yes", "yes 'a line of forty characters, all of them.' | head -n 487804"),
    (
        "20 MB, a loop in awk",
        "awk 'BEGIN { for (n = 1; n <= 487804; n++) printf \"%08d line of forty characters, as said.\\n\", n }'",
    ),
    (
        "20 MB, a loop in python -u",
        "PYTHON -u -c 'for n in range(487804): print(f\"{n:08} line of forty characters, as said.\")'",
    ),
]


def test_20_mb(notebook: Callable[..., Notebook]) -> None:
    page = notebook([_TWENTY_MB, *(f"best({command!r})" for _, command in COMMANDS)])
    page.run(0)
    page.run(1)
    print()
    for index, (name, _) in enumerate(COMMANDS, 2):
        page.run(index)
        (text,) = [output.text for output in page.saved().cells[index].outputs if output.output_type == "stream"]
        bare, cell = map(float, re.search(r"BARE (\S+) CELL (\S+) END", text).groups())
        print(f"{name:<54}bare {bare:.3f} s  cell {cell:.3f} s  {cell / bare:.2f} times")


if __name__ == "__main__":
    print(textwrap.dedent(__doc__.split("\n\n", 1)[1]))
    sys.exit(pytest.main([__file__, "-q", "-s", "-p", "no:cacheprovider", "--timeout", "600", *sys.argv[1:]]))
