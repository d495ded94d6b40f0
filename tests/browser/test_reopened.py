"""A notebook whose page is left, reloaded, shared with a second page or outlives its kernel: what it shows, and saves.

After the end of a run the page may show its panel or its static result: here they are told apart nowhere.
"""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, Notebook, in_both

#: What JupyterLab and Notebook 7 say of a widget that they have not, or not yet.
NO_WIDGET = re.compile("Loading widget|model not found|Error displaying widget")


def outputs_of(page: Notebook, cell: int):
    return page.cell(cell).locator(".jp-OutputArea")


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"line (\d+)\b", text)]


def restart(page: Notebook) -> None:
    page.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.restart()")


def expect_result(page: Notebook, cell: int, *parts: str | re.Pattern[str]) -> None:
    outputs = outputs_of(page, cell)
    for part in parts:
        expect(outputs).to_contain_text(part, timeout=PATIENCE)
    expect(outputs).not_to_contain_text(NO_WIDGET)


def saved_result(page: Notebook, cell: int) -> str:
    """The text of the one result in the file: a page that missed the end puts it into its notebook a little later."""
    page.wait_for_kernel()
    deadline = time.monotonic() + PATIENCE / 1000
    while True:
        (output,) = [output for output in page.saved().cells[cell].outputs if output.output_type != "error"]
        if "text/html" in output.data or time.monotonic() > deadline:
            break
        page.page.wait_for_timeout(300)
    assert set(output.data) == {"text/plain", "text/html"}
    return output.data["text/plain"]


@in_both
def test_runs_that_were_saved_are_there_when_their_kernel_is_not(notebook):
    page = notebook(
        [
            "%%bounded\nprintf '\\033[32mgreen\\033[0m\\n'; seq 3000",
            "%%bounded\necho before; exit 3",
            "from boundcap_jupyter import run, start\nrun('echo shown', display=True)",
            "job = start('echo behind')\njob",
            "job.wait().exit_code",
        ]
    )
    for cell in range(6):
        page.run(cell)
    ends = [("3000", "done", "3,001 lines"), ("before", "exit 3"), ("shown", "done"), ("behind", "done")]
    for cell, parts in enumerate(ends, 1):
        expect_result(page, cell, *parts)
    page.saved()
    restart(page)
    page.reload()
    for cell, parts in enumerate(ends, 1):
        expect_result(page, cell, *parts)
        expect(outputs_of(page, cell).locator(".boundcap-panel")).to_have_count(0)
    page.shot("restarted-light")
    page.theme("JupyterLab Dark")
    page.shot("restarted-dark")


@in_both
@pytest.mark.parametrize("magic", ["%%bounded", "%%bounded --bg"], ids=["cell", "background"])
def test_the_tail_comes_back_after_a_reload_and_the_totals_go_on(notebook, tmp_path, magic):
    script = f"i=0; while [ ! -e {tmp_path}/over ]; do i=$((i + 1)); echo line $i; sleep 0.1; done"
    page = notebook([f"{magic}\n{script}"])
    page.run(0)
    page.start(1)
    expect(page.cell(1).locator(".boundcap-lines")).to_have_text(re.compile(r"^\d\d lines$"), timeout=PATIENCE)
    page.saved()
    page.reload()
    text = page.cell(1).locator(".boundcap-text")
    expect(text).to_contain_text("line 10\n", timeout=PATIENCE)
    first = numbers(text.text_content())
    assert first == list(range(1, len(first) + 1))
    # And it is live.
    expect(text).to_contain_text(f"line {first[-1] + 10}\n", timeout=PATIENCE)
    total, shown = (
        page.cell(1)
        .locator(".boundcap-panel")
        .evaluate("panel => ['lines', 'text'].map(part => panel.querySelector(`.boundcap-${part}`).textContent)")
    )
    assert numbers(shown) == list(range(1, int(total.split()[0]) + 1))
    (tmp_path / "over").touch()
    expect_result(page, 1, "done")
    text = saved_result(page, 1)
    count = int(re.search(r"exit 0 · (\d+) lines", text)[1])
    assert count > len(first)
    assert numbers(text) == list(range(1, count + 1))


@in_both
@pytest.mark.parametrize(("magic", "saver"), [("%%bounded", 0), ("%%bounded --bg", 1)], ids=["cell", "background"])
def test_two_pages_of_a_notebook_are_both_right(notebook, tmp_path, magic, saver):
    def go(step: int) -> None:
        (tmp_path / str(step)).touch()

    script = f"for i in 1 2 3; do while [ ! -e {tmp_path}/$i ]; do sleep 0.02; done; echo line $i; done"
    first = notebook([f"{magic}\n{script}"])
    first.run(0)
    first.start(1)
    go(1)
    expect(first.cell(1).locator(".boundcap-text")).to_contain_text("line 1", timeout=PATIENCE)
    first.saved()
    second = first.in_page(first.page.context.new_page(), busy=magic == "%%bounded")
    # The kernel hears of a page before the page can hear of the panel.
    expect(second.cell(1).locator(".boundcap-text")).to_contain_text("line 1", timeout=PATIENCE)
    go(2)
    for page in (first, second):
        expect(page.cell(1).locator(".boundcap-text")).to_have_text("line 1\nline 2\n", timeout=PATIENCE)
        expect(page.cell(1).locator(".boundcap-state")).to_have_text("running")
        expect(page.cell(1).locator(".boundcap-lines")).to_have_text("2 lines")
    go(3)
    for page in (first, second):
        expect_result(page, 1, "line 3", "done", "3 lines")
    text = saved_result((first, second)[saver], 1)
    assert text.startswith("line 1\nline 2\nline 3\nexit 0 · 3 lines · 21 B · ")
