"""The panel of a run that is over: it stays for the person at the page, and the file has the static result."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, Notebook, whole_text

PANEL = ".boundcap-panel"
RESULT = ".boundcap-result"

#: In a page: what was seen of the cell with this number in each frame, from now on.
WATCH = """index => {
    window.framesSeen = [];
    const look = () => {
        const cell = document.querySelectorAll('.jp-Notebook .jp-Cell')[index];
        const seen = node => node.getClientRects().length > 0;
        const panels = [...cell?.querySelectorAll('.boundcap-panel') ?? []].filter(seen);
        const { left, right, top } = panels[0]?.getBoundingClientRect() ?? {};
        const scrolled = document.querySelector('.jp-WindowedPanel-outer')?.scrollTop;
        const results = [...cell?.querySelectorAll('.boundcap-result') ?? []].filter(seen).length;
        window.framesSeen.push({ panels: panels.length, results, box: [left, right, top + scrolled].join() });
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""

#: In a page: how all of a panel looks, but for what the end of the run changes. What is around a panel gives it its
#: place, by a margin or a padding: where that is, is looked at by itself.
LOOKS = """panel => [panel, ...panel.querySelectorAll('*')].map(node => {
    const style = getComputedStyle(node);
    const names = ['color', 'background-color', 'font', 'text-decoration', 'padding', 'border', 'width',
        'white-space', 'text-align', ...(node === panel ? [] : ['margin'])];
    return [node.className.baseVal ?? node.className, ...names.map(name => style.getPropertyValue(name))].join('|');
})"""

#: The line at the top of a text, and how far it stands above it: where a reader is.
READING = """area => {
    const top = area.getBoundingClientRect().top;
    const line = [...area.querySelectorAll('.boundcap-line')].find(line => line.getBoundingClientRect().bottom > top+1);
    return [line.textContent.slice(0, 20), Math.round(line.getBoundingClientRect().top - top)];
}"""


#: Parts of a panel that look, or are as wide, as the state is that they tell of.
STANDING = r"boundcap-(dot|state|stop|figures|elapsed|pace|quiet|detail)\b|boundcap-footer boundcap-detail"


def static_text(cell) -> str:
    """The text of the static result, which is all that a cell has in its file but for an error."""
    (output,) = [output for output in cell.outputs if output.output_type != "error"]
    assert set(output.data) == {"text/plain", "text/html"}
    return output.data["text/plain"]


def opened_again(page: Notebook) -> Notebook:
    page.page.reload()
    page.page.wait_for_selector(".jp-Notebook .jp-CodeCell .cm-content", timeout=PATIENCE)
    return page


def download(page: Notebook, panel) -> str:
    with page.page.expect_download(timeout=PATIENCE) as saved:
        panel.locator(".boundcap-download").click()
    return Path(saved.value.path()).read_text()


def numbers(first: int, last: int) -> str:
    return "".join(f"{n}\n" for n in range(first, last + 1))


def test_the_panel_stays_when_the_run_is_over_and_download_and_show_more_work(notebook):
    page = notebook(["%%bounded\nseq 200000"])
    page.run(0)
    page.page.evaluate(WATCH, 1)
    outputs = page.run(1)
    panel = outputs.locator(PANEL)
    expect(panel.locator(".boundcap-state")).to_have_text("done", timeout=PATIENCE)
    expect(outputs.locator(RESULT)).to_be_hidden()
    panel.locator(".boundcap-show-more").click()
    expect(panel.locator(".boundcap-note")).to_have_text("2,000 older lines above", timeout=PATIENCE)
    assert whole_text(panel.locator(".boundcap-text")) == numbers(196_001, 200_000)
    assert download(page, panel) == numbers(1, 200_000)
    assert static_text(page.saved().cells[1]).startswith("198001\n")
    assert "widget-view" not in page.path.read_text()
    frames = page.page.evaluate("window.framesSeen")
    first = next(index for index, frame in enumerate(frames) if frame["panels"])
    # From the first frame with the panel on, it is there, alone and at the same place.
    assert all(frame == {**frames[first], "panels": 1, "results": 0} for frame in frames[first:])


def test_nothing_changes_for_a_reader_who_had_scrolled_up(notebook, tmp_path):
    # Lines of all lengths: most wrap, so that heights out of sight are not what is guessed.
    line = "echo line $i $(head -c $((i * 37 % 700)) /dev/zero | tr '\\0' x)"
    link = "printf '\\033]8;;https://example.org/\\033\\\\a link\\033]8;;\\033\\\\ and \\033[31mred\\033[0m\\n'"
    go = tmp_path / "go"
    page = notebook([f"%%bounded\nfor i in $(seq 400); do {line}; {link}; done; until [ -e {go} ]; do sleep 0.1; done"])
    page.run(0)
    panel = page.start(1).locator(PANEL)
    text = panel.locator(".boundcap-text")
    expect(text).to_contain_text("line 400 ", timeout=PATIENCE)
    text.hover()
    for _ in range(8):
        page.page.mouse.wheel(0, -800)
        page.page.wait_for_timeout(50)
    expect(panel.locator(".boundcap-latest")).to_be_visible()
    page.page.wait_for_timeout(500)
    panel.locator(".boundcap-line", has_text="line 400").evaluate("line => getSelection().selectAllChildren(line)")
    text.focus()
    before = text.evaluate(READING)
    panel.evaluate("panel => { window.panelBefore = panel; }")
    looks = panel.evaluate(LOOKS)
    go.touch()
    page.wait(1)
    expect(panel.locator(".boundcap-state")).to_have_text("done", timeout=PATIENCE)
    expect(page.cell(1).locator(RESULT)).to_be_hidden()
    page.page.wait_for_timeout(500)
    assert panel.evaluate("panel => panel === window.panelBefore")
    assert text.evaluate(READING) == before
    expect(panel.locator(".boundcap-latest")).to_be_visible()
    assert page.page.evaluate("getSelection().toString()").startswith("line 400 xxx")
    assert text.evaluate("area => area === document.activeElement")
    changed = [pair for pair in zip(looks, panel.evaluate(LOOKS), strict=True) if pair[0] != pair[1]]
    # What says how the run stands looks like what it says, and takes as much room.
    other = [pair for pair in changed if not re.match(STANDING, pair[0])]
    assert other == [], other[:2]


def test_a_reader_at_the_end_stays_there(notebook, tmp_path):
    go = tmp_path / "go"
    page = notebook([f"%%bounded\nseq 3000; until [ -e {go} ]; do sleep 0.1; done; seq 3001 3500"])
    page.run(0)
    panel = page.start(1).locator(PANEL)
    expect(panel.locator(".boundcap-text")).to_contain_text("3000", timeout=PATIENCE)
    go.touch()
    page.wait(1)
    expect(panel.locator(".boundcap-state")).to_have_text("done", timeout=PATIENCE)
    expect(panel.locator(".boundcap-text")).to_contain_text("3500")
    expect(panel.locator(".boundcap-latest")).to_be_hidden()
    left = panel.locator(".boundcap-text").evaluate("area => area.scrollHeight - area.scrollTop - area.clientHeight")
    assert left <= 4


def test_the_panel_is_back_after_a_reload_and_not_when_the_kernel_is_gone(notebook):
    page = notebook(["%%bounded\nseq 3000; echo '$x^2$ and $y$'"])
    page.run(0)
    page.run(1)
    page.saved()
    opened_again(page)
    panel = page.cell(1).locator(PANEL)
    expect(panel.locator(".boundcap-state")).to_have_text("done", timeout=PATIENCE)
    # What looks like a formula is text.
    expect(panel.locator(".boundcap-text")).to_contain_text("3000\n$x^2$ and $y$\n")
    expect(page.cell(1).locator(RESULT)).to_be_hidden()
    assert download(page, panel).startswith(numbers(1, 3000))
    page.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.restart()")
    expect(panel.locator(".boundcap-note")).to_contain_text("the kernel that ran this is gone", timeout=PATIENCE)
    expect(panel.locator(".boundcap-state")).to_have_text("done")
    expect(panel.locator(".boundcap-download")).to_be_disabled()
    assert static_text(page.saved().cells[1]).startswith("1002\n")
    opened_again(page)
    expect(page.cell(1).locator(RESULT)).to_be_visible(timeout=PATIENCE)
    expect(page.cell(1).locator(RESULT)).to_contain_text("$x^2$ and $y$")
    page.page.wait_for_timeout(2000)
    expect(page.cell(1).locator(PANEL)).to_have_count(0)
    for words in ("Loading widget", "model not found", "Error displaying"):
        expect(page.cell(1)).not_to_contain_text(words)


def test_another_view_of_the_output_has_a_panel_too(notebook):
    page = notebook(["%%bounded\nseq 3000"])
    page.run(0)
    page.run(1)
    expect(page.cell(1).locator(PANEL)).to_have_count(1)
    page.cell(1).locator(".jp-OutputArea").click(position={"x": 5, "y": 5})
    page.command("notebook:create-output-view")
    panels = page.page.locator(PANEL)
    expect(panels).to_have_count(2, timeout=PATIENCE)
    other = page.page.locator(".jp-LinkedOutputView").locator(PANEL)
    expect(other.locator(".boundcap-state")).to_have_text("done")
    assert download(page, other) == numbers(1, 3000)


def test_a_cell_that_runs_again_leaves_nothing_of_the_run_before(notebook):
    page = notebook(["%%bounded\nseq 3000", "from ipywidgets.widgets.widget import _instances\nprint(len(_instances))"])
    page.run(0)
    page.run(1)
    counted = page.run(2).inner_text()
    panel = page.cell(1).locator(PANEL)
    panel.evaluate("panel => { window.gone = new WeakRef(panel); }")
    for _ in range(3):
        page.run(1)
        expect(panel.locator(".boundcap-state")).to_have_text("done", timeout=PATIENCE)
    expect(page.page.locator(PANEL)).to_have_count(1)
    assert page.run(2).inner_text() == counted
    collector = page.page.context.new_cdp_session(page.page)
    for _ in range(20):
        collector.send("HeapProfiler.collectGarbage")
        if page.page.evaluate("window.gone.deref() === undefined"):
            break
        page.page.wait_for_timeout(500)
    else:
        raise AssertionError("the panel of the first run is still held")


def test_an_output_that_is_cleared_lets_go_of_its_panel(notebook):
    page = notebook(["%%bounded\nseq 3000"])
    page.run(0)
    page.run(1)
    panel = page.cell(1).locator(PANEL)
    expect(panel.locator(".boundcap-state")).to_have_text("done", timeout=PATIENCE)
    expect(page.cell(1).locator(RESULT)).to_be_hidden()
    panel.evaluate("panel => { window.gone = new WeakRef(panel); }")
    page.page.wait_for_timeout(3500)
    page.command("notebook:clear-all-cell-outputs")
    expect(panel).to_have_count(0)
    collector = page.page.context.new_cdp_session(page.page)
    for _ in range(20):
        collector.send("HeapProfiler.collectGarbage")
        if page.page.evaluate("window.gone.deref() === undefined"):
            break
        page.page.wait_for_timeout(500)
    else:
        raise AssertionError("the panel is still held")


def test_a_panel_that_the_kernel_closes_leaves_the_result(notebook):
    close = "from boundcap_jupyter.show.finished import FINISHED\nfor panel in list(FINISHED._shown_in): panel.retire()"
    page = notebook(["%%bounded\nseq 3000", close])
    page.run(0)
    page.run(1)
    expect(page.cell(1).locator(PANEL)).to_have_count(1)
    page.run(2)
    expect(page.cell(1).locator(PANEL)).to_have_count(0, timeout=PATIENCE)
    expect(page.cell(1).locator(RESULT)).to_be_visible()
    expect(page.cell(1).locator(RESULT)).to_contain_text("3,000 lines")


@pytest.fixture
def windowed(server):
    """JupyterLab takes cells out of the page that are far from what is in sight."""
    address, _ = server
    place = f"{address}/lab/api/settings/@jupyterlab/notebook-extension:tracker"

    def put(settings):
        body = json.dumps({"raw": json.dumps(settings)}).encode()
        request = urllib.request.Request(place, body, {"Content-Type": "application/json"}, method="PUT")
        urllib.request.urlopen(request).close()

    put({"windowingMode": "full"})
    yield
    put({})


@pytest.mark.usefixtures("windowed")
def test_a_notebook_that_takes_cells_out_of_the_page_keeps_their_panels(notebook):
    page = notebook(["%%bounded\nseq 9000", *["'filler'"] * 60])
    page.run(0)
    page.run(1)
    panel = page.page.locator(PANEL)
    expect(panel.locator(".boundcap-state")).to_have_text("done", timeout=PATIENCE)
    panel.locator(".boundcap-show-more").click()
    expect(panel.locator(".boundcap-note")).to_have_text("2,000 older lines above", timeout=PATIENCE)
    show = """index => {
        const { content } = window.jupyterapp.shell.currentWidget;
        content.activeCellIndex = index;
        void content.scrollToItem(index, 'center');
    }"""
    page.page.evaluate(show, 60)
    expect(panel).to_be_hidden(timeout=PATIENCE)
    page.page.evaluate(show, 1)
    expect(panel).to_be_visible(timeout=PATIENCE)
    # Cells that it does not hide it takes out of the page, for longer than a frame.
    page.page.evaluate(
        """async () => {
            const output = document.querySelector('.boundcap-panel').closest('.jp-OutputArea-child');
            const { parentNode } = output;
            output.remove();
            await new Promise(done => setTimeout(done, 500));
            parentNode.append(output);
        }"""
    )
    expect(panel).to_be_visible(timeout=PATIENCE)
    expect(panel.locator(".boundcap-note")).to_have_text("2,000 older lines above")
    expect(page.page.locator(RESULT)).to_be_hidden()


def test_html_of_strangers_shows_no_panel_without_the_token_of_a_run(notebook):
    html = "<div class='boundcap-result boundcap-run-{}' style='color:red'>stranger</div>"
    page = notebook(
        [
            "%%bounded\nseq 3000",
            "from IPython.display import HTML\nHTML(" + repr(html.format("0" * 16)) + ")",
            "HTML(" + repr(html.format("[0-9a-f]+ boundcap-run-")) + ")",
        ]
    )
    page.run(0)
    page.run(1)
    expect(page.cell(1).locator(PANEL)).to_have_count(1)
    for index in (2, 3):
        expect(page.run(index)).to_contain_text("stranger")
        page.page.wait_for_timeout(300)
        expect(page.cell(index).locator(RESULT)).to_be_visible()
    expect(page.page.locator(PANEL)).to_have_count(1)


def test_a_finished_cell_looks_as_it_did_while_it_ran(notebook):
    done = "for i in $(seq 3000); do printf '\\033[3%dmline %d\\033[0m\\n' $((i % 8)) $i; done"
    page = notebook([f"%%bounded\n{done}", f"%%bounded --no-raise-error\n{done}; exit 3"])
    page.run(0)
    for index, name, state in ((1, "done", "done"), (2, "failed", "failed · exit 3")):
        page.run(index)
        panel = page.cell(index).locator(PANEL)
        expect(panel.locator(".boundcap-state")).to_have_text(state, timeout=PATIENCE)
        panel.scroll_into_view_if_needed()
        for theme in ("Light", "Dark"):
            page.theme(f"JupyterLab {theme}")
            page.shot(f"after-{name}-{theme.lower()}")
