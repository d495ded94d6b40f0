"""Earlier runs as a table in a page: every row reads in every theme, and none of it is out of sight."""

import time
from datetime import datetime, timezone

import nbformat
import pytest

from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.show.listing import Row, listing_html
from boundcap_jupyter.show.palette import READABLE, contrast
from tests.browser.conftest import PATIENCE, in_both
from tests.running.stored import NOW, put_run, record_file, view_of

THEMES = ["JupyterLab Light", "JupyterLab Dark"]
COMMAND = "./train --epochs 300 --data /srv/data/with/a/very/long/path/to/it --out model"
TABLE = ".jp-OutputArea-output table"

#: In a page: [red, green, blue] of each text within an element and of what is behind it.
INKS = """element => {
    const found = [];
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const parts = text => text.match(/[\\d.]+/g).map(Number);
    while (walker.nextNode()) {
        const [red, green, blue, alpha = 1] = parts(getComputedStyle(walker.currentNode.parentElement).color);
        if (alpha !== 1) throw new Error('the text lets through what is behind it');
        for (let node = walker.currentNode.parentElement; ; node = node.parentElement) {
            const [r, g, b, opacity = 1] = parts(getComputedStyle(node).backgroundColor);
            if (opacity === 1) {
                found.push([[red, green, blue], [r, g, b]]);
                break;
            }
            if (opacity !== 0) throw new Error('the background lets through what is behind it');
        }
    }
    return found;
}"""

#: In a page: how far the box of a table goes beyond what can be seen of it, and the cells that are not within the box.
HIDDEN = """table => {
    const box = table.parentElement;
    const { left, right } = box.getBoundingClientRect();
    const outside = [...table.querySelectorAll('th, td')].filter(cell => {
        const its = cell.getBoundingClientRect();
        return its.left < left || its.right > right || cell.scrollWidth > cell.clientWidth;
    });
    const seen = box.closest('.jp-OutputArea-output').getBoundingClientRect();
    return [box.scrollWidth - box.clientWidth, outside.map(cell => cell.textContent), right <= seen.right];
}"""


def least_contrast(element):
    return min(contrast(tuple(text), tuple(behind)) for text, behind in element.evaluate(INKS))


def expect_readable_rows(page, table, count):
    """Each row, with the pointer elsewhere and on it."""
    rows = table.locator("tr")
    assert rows.count() == count
    page.mouse.move(2, 2)
    assert least_contrast(table.locator("xpath=..")) >= READABLE
    for row in rows.all():
        row.locator("th, td").first.hover()
        assert row.evaluate("row => row.matches(':hover')")
        assert least_contrast(row) >= READABLE


@in_both
def test_every_row_reads_and_is_in_sight_in_both_themes(notebook, tmp_path):
    store, age = tmp_path / "boundcap", NOW - time.time()
    for number in range(1, 6):
        put_run(store, number, age=age, command=COMMAND, view=view_of(b"x\n" * 300_000))
    put_run(store, 6, RunState.RUNNING, age=age)
    record_file(put_run(store, 7, age=age)).write_text("{")
    page = notebook([f"import os\nos.environ['BOUNDCAP_DIR'] = {str(tmp_path)!r}\n%bounded_show"])
    page.run(0)
    table = page.run(1).locator("table")
    for theme in THEMES:
        page.theme(theme)
        expect_readable_rows(page.page, table, 8)
        page.shot(f"listing-{theme.split()[-1].lower()}")
    assert table.evaluate(HIDDEN) == [0, [], True]
    assert "interrupted" in table.inner_text()


@pytest.mark.parametrize("theme", THEMES)
def test_what_the_sanitiser_leaves_of_it_reads_and_is_in_sight_too(notebook, tmp_path, theme):
    started = datetime(2026, 11, 30, 10, 11, 12, tzinfo=timezone.utc)
    status, facts = RunStatus(RunState.EXITED, 0, duration=2.0), view_of(b"x\n" * 300_000).metadata
    rows = [Row(f"20261130-101112-4194303-ab12cd/{n:04}", COMMAND, started, status, facts) for n in range(5)]
    html = listing_html(rows, 100)
    output = nbformat.v4.new_output("display_data", {"text/html": html})
    cell = nbformat.v4.new_code_cell("%bounded_show", outputs=[output])
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    # Of somebody else: not signed by this server.
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=kernel), tmp_path / "shared.ipynb")
    page = notebook(tmp_path / "shared.ipynb")
    table = page.page.locator(TABLE)
    table.wait_for(timeout=PATIENCE)
    assert page.page.locator(".jp-mod-trusted").count() == 0
    page.theme(theme)
    expect_readable_rows(page.page, table, 6)
    assert table.evaluate(HIDDEN) == [0, [], True]
    # Narrower than it can become, the box scrolls, and reaches the end of each row.
    page.page.set_viewport_size({"width": 800, "height": 800})
    table.evaluate("table => new Promise(requestAnimationFrame)")
    beyond, _, seen = table.evaluate(HIDDEN)
    assert beyond > 0
    assert seen
    table.evaluate("table => table.parentElement.scrollBy(10_000, 0)")
    box, last = (place.bounding_box() for place in (table.locator("xpath=.."), table.locator("td").last))
    assert last["x"] + last["width"] <= box["x"] + box["width"]
    page.shot("listing-narrow")
