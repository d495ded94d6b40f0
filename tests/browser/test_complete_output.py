"""The complete output of a run, reached from its panel in JupyterLab."""

import hashlib
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, whole_text

#: A panel that stays when its run is over: one that somebody placed.
PANEL = """\
import subprocess, sys
from IPython.display import display
from boundcap_jupyter import run
from boundcap_jupyter.show.widget import BoundedOutput
panel = BoundedOutput({command!r})
display(panel)
result = run({command!r}, on_update=panel)
panel.finish(result.status)
print(result.spill_path)"""


LINES_IN_SIGHT = """area => {
    const { top, bottom } = area.getBoundingClientRect();
    const inside = line => line.getBoundingClientRect().top >= top && line.getBoundingClientRect().bottom <= bottom;
    return [...area.querySelectorAll('.boundcap-line')].filter(inside).map(line => parseInt(line.textContent.slice(5)));
}"""


@pytest.fixture
def finished(notebook):
    """Runs a command whose panel stays; returns the page, the panel and the path of the spill."""

    def run(command):
        page = notebook([PANEL.format(command=command)])
        page.run(0)
        outputs = page.run(1)
        panel = outputs.locator(".boundcap-panel")
        expect(panel.locator(".boundcap-state")).to_have_text("done", timeout=PATIENCE)
        return page, panel, Path(outputs.locator("pre").last.inner_text().strip())

    return run


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def test_a_download_is_the_file_byte_for_byte(finished):
    page, panel, spill = finished("head -c 12000001 /dev/urandom; seq 4000000")
    assert 40_000_000 < spill.stat().st_size < 50_000_000
    with page.page.expect_download(timeout=PATIENCE) as saved:
        panel.locator(".boundcap-download").click()
        expect(panel.locator(".boundcap-progress")).to_be_visible()
        expect(panel.locator(".boundcap-cancel")).to_be_visible()
    download = saved.value
    assert re.fullmatch(r"\d{8}-\d{6}-\d+-[0-9a-f]{6}-\d{4}-output\.log", download.suggested_filename)
    assert sha256(download.path()) == sha256(spill)
    expect(panel.locator(".boundcap-note")).to_have_text(f"downloaded {spill.stat().st_size:,} B")
    expect(panel.locator(".boundcap-progress")).to_be_hidden()


def test_a_download_is_cancelled_and_asks_for_nothing_more(finished):
    page, panel, _ = finished("seq 20000000")
    page.theme("JupyterLab Light")
    page.page.evaluate("""() => {
        window.saved = 0;
        HTMLAnchorElement.prototype.click = function () { window.saved += 1; };
    }""")
    panel.locator(".boundcap-download").click()
    page.page.wait_for_function("() => document.querySelector('.boundcap-progress')?.value > 0", timeout=PATIENCE)
    page.shot("download-light")
    page.theme("JupyterLab Dark")
    page.shot("download-dark")
    panel.locator(".boundcap-cancel").click()
    expect(panel.locator(".boundcap-progress")).to_be_hidden()
    page.page.evaluate("""() => {
        const kernel = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel;
        window.messages = 0;
        kernel.anyMessage.connect((_, { msg }) => { window.messages += msg.header.msg_type === 'comm_msg'; });
    }""")
    page.page.wait_for_timeout(500)
    # The answer to the last request may still have been on its way.
    assert page.page.evaluate("window.messages") <= 1
    assert page.page.evaluate("window.saved") == 0
    expect(panel.locator(".boundcap-download")).to_be_visible()


def test_show_more_brings_the_lines_before_those_that_are_shown(finished):
    page, panel, _ = finished(
        "for n in $(seq 9000); do printf '\\033[32mline %d\\033[0m 0%%\\rline %d' $n $n; echo; done"
    )
    text = panel.locator(".boundcap-text")

    def numbers():
        return [int(line.split()[1]) for line in whole_text(text).splitlines()]

    assert numbers() == list(range(7001, 9001))
    panel.locator(".boundcap-show-more").click()
    expect(panel.locator(".boundcap-note")).to_have_text("2,000 older lines above", timeout=PATIENCE)
    assert numbers() == list(range(5001, 9001))
    # The reader is taken to what is new.
    assert text.evaluate(LINES_IN_SIGHT)[-1] > 7000
    assert text.evaluate(LINES_IN_SIGHT)[0] <= 6990
    page.theme("JupyterLab Light")
    page.shot("older-light")
    panel.locator(".boundcap-show-more").click()
    expect(panel.locator(".boundcap-note")).to_have_text("4,000 older lines above", timeout=PATIENCE)
    assert numbers() == list(range(3001, 9001))
    assert "\x1b" not in text.text_content()
    assert "\r" not in text.text_content()
    page.theme("JupyterLab Dark")
    page.shot("older-dark")
    panel.locator(".boundcap-show-more").click()
    expect(panel.locator(".boundcap-note")).to_have_text("6,000 older lines above", timeout=PATIENCE)
    panel.locator(".boundcap-show-more").click()
    expect(panel.locator(".boundcap-note")).to_have_text("7,000 older lines above", timeout=PATIENCE)
    assert numbers() == list(range(1, 9001))
    expect(panel.locator(".boundcap-show-more")).to_be_hidden()


def test_while_the_command_runs_older_lines_come_and_the_gap_is_counted(notebook, tmp_path):
    go_on = tmp_path / "go-on"
    page = notebook([f"%%bounded\nseq 5000; until [ -e {go_on} ]; do sleep 0.1; done; seq 5001 6000; sleep 300.7"])
    page.run(0)
    panel = page.start(1).locator(".boundcap-panel")
    text = panel.locator(".boundcap-text")
    expect(text).to_contain_text("5000", timeout=PATIENCE)
    panel.locator(".boundcap-show-more").click()
    expect(panel.locator(".boundcap-note")).to_have_text("2,000 older lines above", timeout=PATIENCE)
    assert whole_text(text).split() == [str(n) for n in range(1001, 5001)]
    with page.page.expect_download(timeout=PATIENCE) as saved:
        panel.locator(".boundcap-download").click()
    assert Path(saved.value.path()).read_text() == "".join(f"{n}\n" for n in range(1, 5001))
    go_on.touch()
    gap = panel.locator(".boundcap-older .boundcap-omission")
    expect(gap).to_have_text("… 1,000 lines, 5,000 B not shown …", timeout=PATIENCE)
    page.theme("JupyterLab Light")
    page.shot("gap-light")
    panel.locator(".boundcap-stop").click()
    page.wait(1)


def test_a_kernel_that_is_gone_is_said_to_be(finished):
    page, panel, _ = finished("seq 100000")
    page.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.restart()")
    expect(panel.locator(".boundcap-note")).to_contain_text("the kernel that ran this is gone", timeout=PATIENCE)
    expect(panel.locator(".boundcap-download")).to_be_disabled()
    expect(panel.locator(".boundcap-show-more")).to_be_disabled()
    expect(panel.locator(".boundcap-spill")).to_contain_text("output.log")
    page.theme("JupyterLab Light")
    panel.locator(".boundcap-note").scroll_into_view_if_needed()
    page.shot("kernel-gone-light")


def test_the_path_is_copied(finished):
    page, panel, _ = finished("seq 100000")
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel.locator(".boundcap-copy-path").click()
    expect(panel.locator(".boundcap-copy-path")).to_have_text("Copied")
    assert page.page.evaluate("navigator.clipboard.readText()") == panel.locator(".boundcap-spill").inner_text()
