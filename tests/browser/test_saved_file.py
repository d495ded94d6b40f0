"""What JupyterLab and Notebook 7 write into a notebook's file when its runs are over."""

from boundcap_jupyter.show.static import MAX_RATIO
from tests.browser.conftest import in_both

CELLS = 20
#: The numbers from 198,001 to 200,000, each with its newline.
VIEW = 2000 * 7


@in_both
def test_twenty_floods_add_six_times_their_views_at_most_and_no_widget_state(notebook):
    page = notebook(["%%bounded\nseq 200000"] * CELLS)
    page.run(0)
    page.saved()
    before = page.path.stat().st_size
    page.command("notebook:run-all-cells")
    for index in range(1, CELLS + 1):
        page.wait(index)
    saved = page.saved()
    grown = page.path.stat().st_size - before
    print(f"{CELLS} cells: {grown:,} B, {grown / CELLS / VIEW:.2f} times the view")
    assert grown <= CELLS * MAX_RATIO * VIEW
    for cell in saved.cells[1:]:
        (output,) = cell.outputs
        assert set(output.data) == {"text/plain", "text/html"}
        text = output.data["text/plain"]
        assert text.startswith("198001\n")
        assert "\n200000\nexit 0 · 200,000 lines · 1,288,895 B" in text
    assert "widgets" not in saved.metadata
    raw = page.path.read_text(encoding="utf-8")
    for trace in ("_esm", "_anywidget_id", "widget-view+json", "model_id"):
        assert trace not in raw
