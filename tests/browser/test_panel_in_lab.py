"""What a panel does when the way to the kernel fails, and which keys are its own, in JupyterLab."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE

#: A run whose last update and end never reach the page, told by hand: no command loses its messages when asked to.
LOSE_THE_END = """
from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.update import Replace
from boundcap_jupyter.show.widget import BoundedOutput

capture = OutputCapture()
panel = BoundedOutput("lossy")
display(panel)
capture.feed(b"first\\n")
panel(Replace(capture.view()))
send, panel.send = panel.send, lambda *lost: None
capture.feed(b"last\\n")
panel(Replace(capture.view()))
panel.finish(RunStatus(RunState.EXITED, 3, duration=1.5))
panel.send = send
"""


def test_a_panel_whose_kernel_was_restarted_says_so_and_ticks_no_more(notebook):
    page = notebook(["%%bounded\necho before; sleep 300.5"])
    page.run(0)
    panel = page.start(1).locator(".boundcap-panel")
    expect(panel.locator(".boundcap-text")).to_have_text("before\n", timeout=PATIENCE)
    page.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.restart()")
    expect(panel.locator(".boundcap-state")).to_have_text("kernel is gone", timeout=PATIENCE)
    expect(panel.locator(".boundcap-detail")).to_have_text("this is what was last seen")
    expect(panel.locator(".boundcap-stop")).to_be_hidden()
    expect(panel.locator(".boundcap-text")).to_have_text("before\n")
    elapsed = panel.locator(".boundcap-elapsed").inner_text()
    page.page.wait_for_timeout(1500)
    assert panel.locator(".boundcap-elapsed").inner_text() == elapsed
    page.shot("gone-light")


def test_an_end_that_was_lost_is_shown_all_the_same_also_while_the_kernel_is_busy(notebook):
    page = notebook([LOSE_THE_END, "import time\ntime.sleep(600)"])
    panel = page.run(1).locator(".boundcap-panel")
    expect(panel.locator(".boundcap-text")).to_have_text("first\n", timeout=PATIENCE)
    expect(panel.locator(".boundcap-state")).to_have_text("running")
    page.start(2)
    expect(panel.locator(".boundcap-state")).to_have_text("failed · exit 3", timeout=PATIENCE)
    expect(panel.locator(".boundcap-text")).to_have_text("first\nlast\n")
    assert page.cell(2).locator(".jp-InputPrompt").inner_text() == "[*]:"
    page.interrupt()
    page.wait(2)


def test_keys_that_press_a_button_or_scroll_the_text_are_no_shortcuts_of_the_notebook(notebook):
    page = notebook(["%%bounded\nseq 500; sleep 300.5"])
    page.run(0)
    panel = page.start(1).locator(".boundcap-panel")
    expect(panel.locator(".boundcap-text")).to_contain_text("500", timeout=PATIENCE)
    wrap = panel.get_by_role("button", name="wrap long lines")
    wrap.focus()
    page.page.keyboard.press("Enter")
    expect(wrap).to_have_attribute("aria-pressed", "false")
    page.page.keyboard.press("Space")
    expect(wrap).to_have_attribute("aria-pressed", "true")
    panel.locator(".boundcap-text").focus()
    page.page.keyboard.press("PageUp")
    expect(panel.locator(".boundcap-latest")).to_be_visible()
    page.page.keyboard.press("End")
    expect(panel.locator(".boundcap-latest")).to_be_hidden()
    # Neither was the cell entered nor another selected.
    expect(page.cell(1)).to_have_class(re.compile("jp-mod-selected"))
    expect(page.page.locator(".jp-Notebook")).to_have_class(re.compile("jp-mod-commandMode"))
    stop = panel.locator(".boundcap-stop")
    stop.focus()
    page.page.keyboard.press("Enter")
    page.wait(1)
    expect(page.cell(1).locator(".jp-OutputArea")).to_contain_text("stopped")
