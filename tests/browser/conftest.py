"""A real JupyterLab, a real Notebook 7 and a real Chromium. Where there is no Chromium the tests skip; in CI they fail.

A test has JupyterLab. `@in_both` runs it in Notebook 7 too, for what the page around a panel may change.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.browser.kernels import KERNEL_PYTHON
from tests.browser.panel_page import ORIGIN, PanelPage

#: Screenshots of what a person sees, for a person to look at.
SHOTS = Path(__file__).parents[2] / ".artifacts" / "screenshots"

CHROMIUM_ARGUMENTS = [
    "--no-sandbox",  # as root there is none
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

#: Milliseconds. A cold server on a slow machine takes its time; nothing is measured by these.
PATIENCE = 120_000


@dataclass(frozen=True)
class Application:
    """A Jupyter application with its class of traits and the place of a notebook, of which `stem` is unique."""

    command: str
    traits: str
    place: str

    def __str__(self) -> str:
        return self.command


LAB = Application("lab", "LabApp", "lab/workspaces/{path.stem}/tree/{path.name}?reset")
NOTEBOOK_7 = Application("notebook", "JupyterNotebookApp", "notebooks/{path.name}")

in_both = pytest.mark.parametrize("application", [LAB, NOTEBOOK_7], indirect=True, ids=str)

IDLE = """() => {
    const kernel = window.jupyterapp?.shell.currentWidget?.context?.sessionContext?.session?.kernel;
    return kernel?.status === 'idle' && kernel?.connectionStatus === 'connected';
}"""


# Not for the session: until it is closed, the thread has a running event loop that is not the tests' own.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        reason = "no Chromium on the PATH (Debian: apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def _serving(application: Application, home: Path) -> Iterator[tuple[str, Path]]:
    """(address, directory of notebooks) of a server that knows nothing of this user's settings; it logs to home/log."""
    root = home / "root"
    settings = _settings(home)
    root.mkdir()
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false", "checkForUpdates": false}')
    names = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "IPYTHONDIR": "ipython",
        "XDG_CACHE_HOME": "cache",
        # The tour makes a copy of all packages.
        "TMPDIR": "tmp",
    }
    (home / "tmp").mkdir()
    environment = {**os.environ, **{name: str(home / folder) for name, folder in names.items()}}
    if python := os.environ.get(KERNEL_PYTHON):
        _kernel(home / "kernel", python)
        environment["JUPYTER_PATH"] = str(home / "kernel")
    port = _free_port()
    command = [sys.executable, "-m", "jupyter", application.command, "--no-browser", "--allow-root", "--ip=127.0.0.1"]
    options = [
        f"--port={port}",
        f"--ServerApp.root_dir={root}",
        "--IdentityProvider.token=",
        "--ServerApp.disable_check_xsrf=True",
        f"--{application.traits}.expose_app_in_browser=True",
    ]
    address = f"http://127.0.0.1:{port}"
    with open(home / "log", "w") as log:
        process = subprocess.Popen([*command, *options], env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait_for(address, process, home / "log")
            yield address, root
            _end_kernels(address)
        finally:
            process.terminate()
            process.wait(20)
            shutil.rmtree(home / "tmp", ignore_errors=True)


@pytest.fixture
def application(request: pytest.FixtureRequest) -> Application:
    return getattr(request, "param", LAB)


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Application], tuple[str, Path]]]:
    """(address, directory of notebooks) of an application; each is started when it is first asked for."""
    with ExitStack() as running:
        yield cache(
            lambda application: running.enter_context(
                _serving(application, tmp_path_factory.mktemp(application.command))
            )
        )


@pytest.fixture
def server(servers: Callable[[Application], tuple[str, Path]], application: Application) -> tuple[str, Path]:
    return servers(application)


@pytest.fixture
def log(server: tuple[str, Path]) -> Callable[[], str]:
    """Tells what the server has logged since the test began."""
    _, root = server
    path = root.parent / "log"
    before = path.stat().st_size
    return lambda: path.read_bytes()[before:].decode(errors="replace")


@pytest.fixture
def notebook(
    chromium: Browser, server: tuple[str, Path], application: Application, request: pytest.FixtureRequest
) -> Iterator[Callable]:
    """Opens cells, or a notebook's file, in a page of its own."""
    address, root = server
    # Themes are a setting of the server: the last test's is no other's.
    (_settings(root.parent) / "themes.jupyterlab-settings").unlink(missing_ok=True)
    context = chromium.new_context(viewport={"width": 1100, "height": 800})
    opened: list[Notebook] = []

    def open_notebook(source: list[str] | Path) -> Notebook:
        # The brackets of a parameter are no part of a workspace's name.
        name = re.sub(r"\W+", "-", request.node.name)[:60]
        path = root / f"{name}-{len(opened)}.ipynb"
        if isinstance(source, Path):
            shutil.copy(source, path)
        else:
            cells = [nbformat.v4.new_code_cell(text) for text in ["%load_ext boundcap_jupyter", *source]]
            kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
            nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)
        opened.append(Notebook(context.new_page(), address, path, application))
        return opened[-1]

    yield open_notebook
    context.close()
    _end_kernels(address)


@pytest.fixture
def panel(chromium: Browser) -> Iterator[Callable[..., PanelPage]]:
    """Opens a panel alone, with these limits, in a page of its own."""
    context = chromium.new_context(viewport={"width": 1000, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=ORIGIN)
    yield lambda **limits: PanelPage(context.new_page(), **limits)
    context.close()


def whole_text(area: Locator) -> str:
    """The text of a panel's area when all its lines are in the document: those out of sight come a little later."""
    expect(area.locator(".boundcap-chunk:empty")).to_have_count(0, timeout=PATIENCE)
    return area.text_content() or ""


class Notebook:
    """A notebook in a page. Cells are numbered from 0, `%load_ext` of a list of cells included."""

    def __init__(
        self, page: Page, address: str, path: Path, application: Application = LAB, *, busy: bool = False
    ) -> None:
        self.page = page
        self.path = path
        self.application = application
        page.goto(f"{address}/{application.place.format(path=path)}")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell .cm-content", timeout=PATIENCE)
        if not busy:
            self.wait_for_kernel()

    def wait_for_kernel(self) -> None:
        """Wait until the kernel has nothing to do, as far as the page knows."""
        self.page.wait_for_function(IDLE, timeout=PATIENCE)

    def in_page(self, page: Page, *, busy: bool) -> Notebook:
        """The same notebook in another page, with the same kernel, which may be busy."""
        return Notebook(page, self.page.evaluate("location.origin"), self.path, self.application, busy=busy)

    def reload(self) -> None:
        """Load the page again, whether the kernel is busy or not."""
        self.page.reload()
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell .cm-content", timeout=PATIENCE)

    def cell(self, index: int) -> Locator:
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def start(self, index: int) -> Locator:
        """Run a cell and return at once, with its area of outputs."""
        cell = self.cell(index)
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        return cell.locator(".jp-OutputArea")

    def wait(self, index: int) -> None:
        """Wait until a cell that was started is over."""
        done = "i => /\\[\\d+\\]/.test(document.querySelectorAll('.jp-Notebook .jp-Cell')[i]"
        self.page.wait_for_function(
            f"{done}.querySelector('.jp-InputPrompt').textContent)", arg=index, timeout=PATIENCE
        )

    def run(self, index: int) -> Locator:
        outputs = self.start(index)
        self.wait(index)
        return outputs

    def command(self, name: str, arguments: dict | None = None) -> None:
        self.page.evaluate(
            "([name, arguments]) => { void window.jupyterapp.commands.execute(name, arguments) }",
            [name, arguments or {}],
        )

    def interrupt(self) -> None:
        self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.interrupt()"
        )

    def saved(self) -> nbformat.NotebookNode:
        """Save, and read the file."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        return nbformat.read(self.path, as_version=4)

    def theme(self, name: str) -> None:
        self.page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", name)
        dark = str("Dark" in name).lower()
        self.page.wait_for_selector("#jupyterlab-splash", state="detached", timeout=PATIENCE)
        self.page.wait_for_function(f"() => document.body.dataset.jpThemeLight !== '{dark}'", timeout=PATIENCE)

    def shot(self, name: str) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        prefix = "" if self.application is LAB else f"{self.application}-"
        self.page.screenshot(path=SHOTS / f"{prefix}{name}.png")


def _settings(home: Path) -> Path:
    return home / "settings" / "@jupyterlab" / "apputils-extension"


def _kernel(place: Path, python: str) -> None:
    """Make the kernels of a server come from another environment: its directory is looked through before all others."""
    folder = place / "kernels" / "python3"
    folder.mkdir(parents=True)
    command = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    # As ipykernel installs it: a page asks kernels with a debugger for the state of that.
    spec = {"argv": command, "display_name": "Python 3", "language": "python", "metadata": {"debugger": True}}
    (folder / "kernel.json").write_text(json.dumps(spec))


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _wait_for(address: str, process: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail(f"Jupyter did not start:\n{log.read_text()[-3000:]}")


def _end_kernels(address: str) -> None:
    with urllib.request.urlopen(f"{address}/api/kernels") as answer:
        kernels = json.load(answer)
    for kernel in kernels:
        request = urllib.request.Request(f"{address}/api/kernels/{kernel['id']}", method="DELETE")
        urllib.request.urlopen(request).close()
