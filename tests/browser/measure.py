"""What the panel costs the page, beside an ipywidgets.Output in the same JupyterLab: `python -m tests.browser.measure`.

Figures, not a test: they depend on the machine, so that their ratios say more than they do.

main thread   milliseconds of processor time in a second, less those of the same page while the cell sleeps
longest task  milliseconds; Chromium reports those of 50 and more
heap          growth of the JavaScript heap in MB, each time after a collection
"""

from __future__ import annotations

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


_WATCH = """() => {
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
    page.page.evaluate(_WATCH)
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
    during = heap(session)
    slowest = page.page.evaluate("window.slowest")
    page.wait(2)
    after = heap(session)
    print(f"\n{'timeout 20 yes':<54}heap {during - before:+.1f} MB while it runs, {after - before:+.1f} MB after it")
    print(f"{'':<54}a click waits {slowest:.0f} ms at most")


if __name__ == "__main__":
    print(textwrap.dedent(__doc__.split("\n\n", 1)[1]))
    sys.exit(pytest.main([__file__, "-q", "-s", "-p", "no:cacheprovider", "--timeout", "600"]))
