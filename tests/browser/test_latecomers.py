"""Pages that are loaded while the kernel is busy with a cell: it hears nothing of what they ask by the ordinary way.

How a message reaches a busy kernel depends on the version of ipykernel: tests/browser/kernels.py runs these with
several.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, Notebook, in_both

PANEL = ".boundcap-panel"


@pytest.fixture
def until(tmp_path):
    """The end of a script: waits for a file of that name. And a way to make that file."""

    class Until:
        def path(self, name: str) -> str:
            return str(tmp_path / name)

        def wait(self, name: str) -> str:
            return f"while [ ! -e {self.path(name)} ]; do sleep 0.02; done"

        def go(self, name: str) -> None:
            (tmp_path / name).touch()

    return Until()


def late(page: Notebook) -> Notebook:
    """The page, loaded again while its kernel is busy."""
    page.saved()
    page.reload()
    return page


@in_both
def test_stop_is_heard_and_the_kernel_not_interrupted(notebook, until):
    page = notebook([f"%%bounded\necho before; {until.wait('never')}"])
    page.run(0)
    page.start(1)
    expect(page.cell(1).locator(PANEL)).to_contain_text("before", timeout=PATIENCE)
    late(page)
    stop = page.cell(1).locator(".boundcap-stop")
    expect(stop).to_be_visible(timeout=PATIENCE)
    page.page.evaluate("""() => {
        const kernel = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel;
        window.interrupts = 0;
        kernel.interrupt = async () => { window.interrupts += 1; };
    }""")
    # For 3 s the page waits for an answer of the kernel and sends nothing: a Stop would interrupt the kernel meanwhile.
    page.page.wait_for_function(
        "() => !window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel._pendingMessages.length",
        timeout=PATIENCE,
    )
    stop.click()
    expect(page.cell(1)).to_contain_text("stopped", timeout=PATIENCE)
    assert page.page.evaluate("window.interrupts") == 0
    page.wait_for_kernel()


@in_both
def test_what_a_lost_message_had_is_asked_for_and_older_lines_are_paged(notebook, until):
    script = f"seq -f 'line %.0f' 5000; {until.wait('more')}; seq -f 'more %.0f' 10; {until.wait('over')}"
    page = notebook([f"%%bounded\n{script}"])
    page.run(0)
    page.start(1)
    expect(page.cell(1).locator(".boundcap-lines")).to_have_text("5,000 lines", timeout=PATIENCE)
    late(page)
    panel = page.cell(1).locator(PANEL)
    expect(panel.locator(".boundcap-lines")).to_have_text("5,000 lines", timeout=PATIENCE)
    panel.locator(".boundcap-show-more").click()
    expect(panel.locator(".boundcap-note")).to_have_text("2,000 older lines above", timeout=PATIENCE)
    # Deaf for a moment, and nothing follows that would show the gap.
    page.page.evaluate("""() => {
        const kernel = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel;
        window.heard = kernel._handleCommMsg;
        kernel._handleCommMsg = async () => { window.missed = true; };
    }""")
    until.go("more")
    page.page.wait_for_function("window.missed", timeout=PATIENCE)
    page.page.wait_for_timeout(500)
    page.page.evaluate(
        "() => { window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel._handleCommMsg = heard; }"
    )
    expect(panel.locator(".boundcap-lines")).to_have_text("5,010 lines", timeout=PATIENCE)
    expect(panel.locator(".boundcap-text")).to_contain_text("more 10\n")
    until.go("over")
    page.wait_for_kernel()
    expect(panel).to_contain_text("done", timeout=PATIENCE)


@in_both
def test_a_panel_of_a_run_in_the_background_comes_while_another_cell_runs(notebook, until):
    waits = f"import os, time\nwhile not os.path.exists({until.path('cell')!r}): time.sleep(0.02)"
    page = notebook([f"%%bounded --bg\necho behind; {until.wait('over')}; echo and more", waits])
    page.run(0)
    page.run(1)
    page.start(2)
    late(page)
    panel = page.cell(1).locator(PANEL)
    expect(panel).to_contain_text("behind", timeout=PATIENCE)
    until.go("over")
    expect(panel).to_contain_text("and more", timeout=PATIENCE)
    expect(page.cell(1)).to_contain_text("done", timeout=PATIENCE)
    until.go("cell")
    page.wait_for_kernel()
    # The page has asked for all widgets of the kernel by now, and has one panel.
    expect(page.cell(1).locator(PANEL)).to_have_count(1)
    expect(page.cell(1).locator(PANEL)).to_contain_text("done")


def test_a_panel_in_boxes_comes_with_what_is_around_it(notebook, until):
    code = f"""\
import ipywidgets as w
from IPython.display import display
from boundcap_jupyter import BoundedOutput, run
panel = BoundedOutput()
display(w.VBox([w.Label('above'), w.Tab([panel])]))
_ = run("echo in a box; {until.wait("over")}", on_update=panel)"""
    page = notebook([code])
    page.run(0)
    page.start(1)
    expect(page.cell(1).locator(PANEL)).to_contain_text("in a box", timeout=PATIENCE)
    late(page)
    expect(page.cell(1).locator(PANEL)).to_contain_text("in a box", timeout=PATIENCE)
    expect(page.cell(1).locator(".jp-OutputArea")).to_contain_text("above")
    until.go("over")
    page.wait_for_kernel()
    expect(page.cell(1).locator(PANEL)).to_contain_text("done", timeout=PATIENCE)


def test_a_page_that_was_there_keeps_its_panel(notebook, until):
    first = notebook([f"%%bounded\nseq 30; {until.wait('more')}; echo more; {until.wait('over')}"])
    first.run(0)
    first.start(1)
    panel = first.cell(1).locator(PANEL)
    expect(panel).to_contain_text("30", timeout=PATIENCE)
    panel.evaluate("panel => { panel.dataset.mark = 'mine'; }")
    first.saved()
    second = first.in_page(first.page.context.new_page(), busy=True)
    expect(second.cell(1).locator(PANEL)).to_contain_text("30", timeout=PATIENCE)
    until.go("more")
    for page in (first, second):
        expect(page.cell(1).locator(PANEL)).to_contain_text("more", timeout=PATIENCE)
    expect(panel).to_have_attribute("data-mark", "mine")
    until.go("over")
    for page in (first, second):
        expect(page.cell(1)).to_contain_text("done", timeout=PATIENCE)
    expect(first.cell(1).locator(".jp-OutputArea")).not_to_contain_text(re.compile("Loading|not found"))


@in_both
def test_the_panel_of_a_run_that_is_over_comes_in_the_place_of_its_result_while_another_cell_runs(notebook, until):
    page = notebook(["%%bounded\nseq 3000", f"%%bounded\necho goes on; {until.wait('over')}"])
    page.run(0)
    page.run(1)
    page.start(2)
    expect(page.cell(2).locator(PANEL)).to_contain_text("goes on", timeout=PATIENCE)
    late(page)
    panel = page.cell(1).locator(PANEL)
    panel.locator(".boundcap-show-more").click(timeout=PATIENCE)
    expect(panel.locator(".boundcap-note")).to_have_text("1,000 older lines above", timeout=PATIENCE)
    expect(page.cell(2).locator(PANEL)).to_contain_text("goes on")
    until.go("over")
    page.wait_for_kernel()
    expect(page.cell(1).locator(PANEL)).to_have_count(1)
    expect(panel.locator(".boundcap-note")).to_have_text("1,000 older lines above")
