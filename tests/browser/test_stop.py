"""The way from the Stop button to the command, with the kernel's main thread busy or not.

How the press reaches the kernel depends on the version of ipykernel: tests/browser/kernels.py runs these with several.
"""

from __future__ import annotations

import time

import psutil
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, in_both

VERSION = "import ipykernel; print(ipykernel.__version__)"

#: In a page: counts interrupts of the kernel, and notes when a Stop was pressed and when no panel runs any more.
WATCH = """() => {
    const kernel = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel;
    const interrupt = kernel.interrupt.bind(kernel);
    window.interrupts = 0;
    window.obeys = true;
    kernel.interrupt = async () => {
        window.interrupts += 1;
        if (window.obeys) await interrupt();
    };
    const look = () => {
        if (!document.querySelector('.boundcap-panel[data-state=running]')) window.ended ??= performance.now();
        else requestAnimationFrame(look);
    };
    document.addEventListener('click', event => {
        if (!event.target.closest('.boundcap-stop')) return;
        window.pressed = performance.now();
        window.ended = undefined;
        look();
    }, true);
}"""

#: In a page: no message that asks for a Stop leaves it.
DEAF = """() => {
    const kernel = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel;
    for (const send of ['sendShellMessage', 'sendControlMessage']) {
        const original = kernel[send].bind(kernel);
        kernel[send] = (message, ...rest) =>
            (message.content.message ?? message.content.data?.content)?.type === 'stop'
                ? { done: Promise.resolve(), dispose() {} }
                : original(message, ...rest);
    }
}"""

#: In a kernel: after a first request nothing follows by itself, so only a second can end what ignores the first.
ONLY_A_SECOND = """\
import signal
from boundcap_jupyter.running import ending
ending.STOP_LADDER = ((0.0, signal.SIGINT), (1e6, signal.SIGKILL))"""


#: A run that goes on when its cell has ended.
BACKGROUND = """\
import asyncio
from boundcap_jupyter import arun
task = asyncio.ensure_future(arun('echo before; sleep 64.9', display=True))
await asyncio.sleep(0.5)"""


@pytest.fixture
def running(server):
    """Tells the commands of these notebooks that run with a word among their arguments."""
    _, root = server

    def running(word: str) -> list[int]:
        found = []
        for process in psutil.process_iter():
            try:
                # They are nobody's descendants: the supervisor is on its own.
                if process.cwd() == str(root) and word in process.cmdline():
                    found.append(process.pid)
            except psutil.Error:
                continue
        return found

    return running


@pytest.fixture
def watched(notebook):
    """Opens cells as `notebook` does, extension loaded, version printed by cell 1 and noted, presses watched."""

    def open_notebook(sources, *, deaf=False):
        page = notebook([VERSION, *sources])
        page.run(0)
        page.ipykernel = page.run(1).inner_text().strip()
        page.page.evaluate(WATCH)
        if deaf:
            page.page.evaluate(DEAF)
        return page

    return open_notebook


def interrupts(page) -> int:
    return page.page.evaluate("window.interrupts")


def measured(page, what: str) -> None:
    """Milliseconds from the last press to the end in the page; told to who reads the output of a test."""
    page.page.wait_for_function("() => window.ended !== undefined", timeout=PATIENCE)
    took = page.page.evaluate("window.ended - window.pressed")
    route = "interrupt" if interrupts(page) else "message"
    print(f"ipykernel {page.ipykernel} · {what}: by {route}, {took:.0f} ms from the press to the end")


def errors(cell):
    return [output for output in cell.outputs if output.output_type == "error"]


@in_both
@pytest.mark.parametrize("deaf", [False, True], ids=["message", "interrupt"])
def test_stop_ends_the_command_and_the_run_of_all_cells(watched, running, deaf):
    page = watched(
        [
            "%%bounded\nfor i in 1 2 3; do echo line $i; done; sleep 61.7",
            "print('must not run')",
            "%%bounded\necho later",
        ],
        deaf=deaf,
    )
    page.command("notebook:run-all-cells")
    panel = page.cell(2).locator(".boundcap-panel")
    expect(panel.locator(".boundcap-text")).to_contain_text("line 3", timeout=PATIENCE)
    assert running("61.7")
    panel.locator(".boundcap-stop").click()
    page.wait(2)
    measured(page, f"Stop in Run All{', message lost' if deaf else ''}")
    assert not running("61.7")
    if deaf:
        assert interrupts(page) == 1
    saved = page.saved().cells
    texts = [output.data["text/plain"] for output in saved[2].outputs if "data" in output]
    assert texts[0].startswith("line 1\nline 2\nline 3\nstopped · 3 lines · 21 B · ")
    # Interrupted or told by message, it is one short error.
    (error,) = errors(saved[2])
    assert len(error.traceback) <= 3
    assert [cell.outputs for cell in saved[3:]] == [[], []]
    if not deaf:
        page.shot("stopped-light")


def test_a_message_alone_is_enough(watched, running):
    page = watched(["%%bounded\necho before; sleep 62.3"])
    page.page.evaluate("window.obeys = false")
    panel = page.start(2).locator(".boundcap-panel")
    expect(panel.locator(".boundcap-text")).to_contain_text("before", timeout=PATIENCE)
    panel.locator(".boundcap-stop").click()
    page.wait(2)
    measured(page, "Stop by message alone")
    assert not running("62.3")
    assert [error.ename for error in errors(page.saved().cells[2])] == ["BoundedExecutionError"]


@pytest.mark.parametrize("deaf", [False, True], ids=["message", "interrupt"])
def test_a_second_press_ends_at_once_what_ignores_the_first(watched, running, deaf):
    page = watched([ONLY_A_SECOND, "%%bounded\ntrap '' INT TERM; echo before; sleep 63.1; sleep 63.1"], deaf=deaf)
    page.run(2)
    panel = page.start(3).locator(".boundcap-panel")
    expect(panel.locator(".boundcap-text")).to_contain_text("before", timeout=PATIENCE)
    stop = panel.locator(".boundcap-stop")
    stop.click()
    expect(stop).to_have_text("Kill")
    expect(panel.locator(".boundcap-state")).to_have_text("stopping…")
    if deaf:
        page.page.wait_for_function("window.interrupts === 1", timeout=PATIENCE)
    stop.click()
    page.wait(3)
    measured(page, f"Kill{', messages lost' if deaf else ''}")
    assert not running("63.1")
    if deaf:
        assert interrupts(page) == 2


def test_stop_of_a_run_that_the_main_thread_does_not_wait_for_interrupts_no_other_cell(watched, running, tmp_path):
    go = tmp_path / "go"
    page = watched(
        [
            BACKGROUND,
            f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.05)\nprint('ran to its end')",
            "try: await task\nexcept Exception as error: print(error.state)",
        ]
    )
    panel = page.run(2).locator(".boundcap-panel")
    expect(panel.locator(".boundcap-text")).to_contain_text("before", timeout=PATIENCE)
    page.start(3)
    page.page.wait_for_function(
        "() => document.querySelectorAll('.jp-InputPrompt')[3].textContent.includes('*')", timeout=PATIENCE
    )
    panel.locator(".boundcap-stop").click()
    # Longer than the page waits before it interrupts a run in the foreground.
    page.page.wait_for_timeout(1500)
    assert interrupts(page) == 0
    deadline = time.monotonic() + PATIENCE / 1000
    while running("64.9"):
        assert time.monotonic() < deadline, "a cell that is busy with something else keeps Stop from being heard"
        time.sleep(0.05)
    go.touch()
    page.wait(3)
    expect(page.cell(3)).to_contain_text("ran to its end")
    page.run(4)
    expect(page.cell(4).locator(".jp-OutputArea-output")).to_have_text("stopped")
    assert not running("64.9")


def test_a_run_that_a_cell_awaits_is_stopped(watched, running):
    page = watched(["from boundcap_jupyter import arun\nawait arun('echo before; sleep 65.3', display=True)"])
    panel = page.start(2).locator(".boundcap-panel")
    expect(panel.locator(".boundcap-text")).to_contain_text("before", timeout=PATIENCE)
    panel.locator(".boundcap-stop").click()
    page.wait(2)
    measured(page, "Stop of a run that a cell awaits")
    assert not running("65.3")
    assert [error.ename for error in errors(page.saved().cells[2])] == ["ExecutionError"]


def test_an_interrupt_of_the_kernel_ends_the_command_and_later_cells_do_not_run(watched, running):
    page = watched([ONLY_A_SECOND, "%%bounded\necho before; sleep 600.3", "print('must not run')"])
    page.command("notebook:run-all-cells")
    expect(page.cell(3).locator(".boundcap-text")).to_contain_text("before", timeout=PATIENCE)
    assert running("600.3")
    page.interrupt()
    page.wait(3)
    assert not running("600.3")
    saved = page.saved().cells
    (error,) = errors(saved[3])
    assert error.ename == "KeyboardInterrupt"
    assert saved[4].outputs == []
