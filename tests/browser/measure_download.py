"""What a download of 300 MB costs the page, the browser, the kernel and the server, in JupyterLab.

    python -m tests.browser.measure_download

Figures, not a test: they depend on the machine. They are the growth of what a process has of its own and shares with
no file, in MB: at its peak, looked at every 10 ms while the download runs, and after it. The browser holds the file.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
import websocket

from tests.browser.conftest import CHROMIUM_ARGUMENTS, IDLE, PATIENCE
from tests.browser.measure import WATCH
from tests.browser.test_complete_output import PANEL, sha256


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
        until(lambda: page.evaluate(f"({IDLE})()"))
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
        page.evaluate(f"({WATCH})()")
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
    sys.exit(pytest.main([__file__, "-q", "-s", "-p", "no:cacheprovider", "--timeout", "600", *sys.argv[1:]]))
