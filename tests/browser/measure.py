"""What the panel costs the page, beside an ipywidgets.Output in the same JupyterLab: `python -m tests.browser.measure`.

Figures, not a test: they depend on the machine, so that their ratios say more than they do.

main thread   milliseconds of processor time in a second, less those of the same page while the cell sleeps
longest task  milliseconds; Chromium reports those of 50 and more
heap          growth of the JavaScript heap in MB, each time after a collection
memory        growth of what a process has of its own and shares with no file, in MB: at its peak, looked at every 10 ms
              while the download runs, and after it
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import textwrap
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
import websocket
from playwright.sync_api import CDPSession

from tests.browser.conftest import _IDLE, CHROMIUM_ARGUMENTS, PATIENCE, Notebook
from tests.browser.test_complete_output import PANEL, sha256

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


class Unwatched:
    """A page in a Chromium of its own, driven with next to nothing.

    Playwright has a page tell of every frame of its WebSockets, which costs it some copies of a download.
    """

    def __init__(self, profile: Path, address: str) -> None:
        path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        options = [
            "--headless=new",
            "--remote-debugging-port=0",
            "--remote-allow-origins=*",
            f"--user-data-dir={profile}",
        ]
        self.process = psutil.Popen(
            [path, *CHROMIUM_ARGUMENTS, *options, f"--user-data-dir={profile}", address], stderr=subprocess.DEVNULL
        )
        told = profile / "DevToolsActivePort"
        until(told.exists)
        port = told.read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
            page = next(one for one in json.load(answer) if one["type"] == "page")
        self._socket = websocket.create_connection(page["webSocketDebuggerUrl"], timeout=PATIENCE / 1000)
        self._number = 0

    def send(self, method: str, **parameters: object) -> dict:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while (answer := json.loads(self._socket.recv())).get("id") != self._number:
            """What else happened."""
        return answer["result"]

    def evaluate(self, script: str) -> Any:
        return self.send("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def close(self) -> None:
        self._socket.close()
        for process in (*self.process.children(recursive=True), self.process):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


class Memory:
    """Watches processes by their names, from a thread of its own while it is entered."""

    #: Seconds between two looks.
    INTERVAL = 0.01

    def __init__(self, processes: Mapping[str, list[int]]) -> None:
        self._processes = processes
        self._before = self._now()
        self._peak = dict(self._before)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        self._after = self._now()

    def __str__(self) -> str:
        grown = ((n, self._peak[n] - before, self._after[n] - before) for n, before in self._before.items())
        return "\n".join(f"  {name:<10} peak {peak:+7.1f} MB   after {after:+7.1f} MB" for name, peak, after in grown)

    def _watch(self) -> None:
        while not self._over.wait(self.INTERVAL):
            for name, megabytes in self._now().items():
                self._peak[name] = max(self._peak[name], megabytes)

    def _now(self) -> dict[str, float]:
        return {name: sum(map(_own_memory, pids)) / 1e6 for name, pids in self._processes.items()}


def _own_memory(pid: int) -> int:
    """Bytes; pages of files, such as the program's, left out. Blobs on their way to the browser are shared memory."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return 1024 * sum(int(status[field].split()[0]) for field in ("RssAnon", "RssShmem"))


def test_download(server: tuple[str, Path], tmp_path: Path) -> None:
    address, root = server
    command = "head -c 300000000 /dev/urandom"
    source = ["import os; print(os.getpid())", PANEL.format(command="seq 4000000"), PANEL.format(command=command)]
    cells = [nbformat.v4.new_code_cell(text) for text in ["%load_ext boundcap_jupyter", *source]]
    kernelspec = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernelspec), root / "download.ipynb")
    page = Unwatched(tmp_path / "profile", f"{address}/lab/workspaces/download/tree/download.ipynb?reset")
    try:
        page.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
        until(lambda: page.evaluate(f"({_IDLE})()"))
        page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
        texts = "[...document.querySelectorAll('.jp-OutputArea-output pre')].map(pre => pre.innerText.trim())"
        until(lambda: len(page.evaluate(texts)) == 3)
        kernel, *spills = page.evaluate(texts)
        kernel = int(kernel)

        def download(number: int) -> Path:
            copy = tmp_path / "-".join(Path(spills[number]).parts[-3:])
            page.evaluate(f"document.querySelectorAll('.boundcap-download')[{number}].click()")
            until(copy.exists)
            return copy

        # What the first download brings, of code and buffers that stay, is no growth.
        download(0)
        page.send("HeapProfiler.collectGarbage")
        time.sleep(2)
        renderers = [one.pid for one in page.process.children(recursive=True) if "--type=renderer" in one.cmdline()]
        page.evaluate(f"({_WATCH})()")
        start = time.monotonic()
        processes = {"page": renderers, "browser": [page.process.pid], "kernel": [kernel]}
        with Memory({**processes, "server": [psutil.Process(kernel).ppid()]}) as memory:
            copy = download(1)
        took = time.monotonic() - start
        longest = page.evaluate("window.longest")
        spill = Path(spills[1])
        assert sha256(copy) == sha256(spill)
    finally:
        page.close()
    size = spill.stat().st_size / 1e6
    print(f"\ndownload of {size:.0f} MB in {took:.1f} s, {size / took:.0f} MB/s, longest task {longest:.0f} ms")
    print(memory)


if __name__ == "__main__":
    print(textwrap.dedent(__doc__.split("\n\n", 1)[1]))
    sys.exit(pytest.main([__file__, "-q", "-s", "-p", "no:cacheprovider", "--timeout", "600"]))
