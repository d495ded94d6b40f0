"""What a person sees of a run in the background, and what is in the file whatever the page does meanwhile."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, Notebook, in_both

PANEL = ".boundcap-panel"


def steps(directory, count: int) -> str:
    """A script that prints `step N`, each when the file of that number is there."""
    return f"for i in $(seq {count}); do while [ ! -e {directory}/$i ]; do sleep 0.02; done; echo step $i; done"


@pytest.fixture
def go(tmp_path):
    """Lets a script of `steps` make the next one."""
    number = iter(range(1, 1000))
    return lambda: (tmp_path / str(next(number))).touch()


def result_of(cell) -> str:
    """The text of the one output of a cell, which is the static result."""
    (output,) = cell.outputs
    assert set(output.data) == {"text/plain", "text/html"}
    return output.data["text/plain"]


def ended(outputs) -> None:
    """Wait until the notebook has the static result; its panel stands in front of it."""
    expect(outputs.locator(".boundcap-result + .boundcap-host " + PANEL)).to_have_count(1, timeout=PATIENCE)
    expect(outputs.locator(PANEL)).to_have_count(1)
    expect(outputs.locator(PANEL)).not_to_have_attribute("data-state", "running")


def opened_again(page: Notebook, meanwhile=lambda: None) -> Notebook:
    """The same notebook in another page, after the first was closed and `meanwhile` done."""
    context = page.page.context
    address = page.page.evaluate("location.origin")
    page.page.close()
    meanwhile()
    return Notebook(context.new_page(), address, page.path, page.application)


@in_both
def test_a_run_in_the_background_stays_in_its_own_output_while_other_cells_run(notebook, tmp_path, go):
    page = notebook([f"%%bounded --bg --out job\n{steps(tmp_path, 4)}", "print('mine')", "print(job.wait().exit_code)"])
    page.run(0)
    outputs = page.run(1)
    text = outputs.locator(".boundcap-text")
    for number in (1, 2):
        go()
        expect(text).to_contain_text(f"step {number}", timeout=PATIENCE)
        other = page.run(2)
        expect(other).to_have_text("mine\n")
    assert outputs.locator(PANEL).get_attribute("data-state") == "running"
    page.shot("background-light")
    waiting = page.start(3)
    go()
    expect(text).to_contain_text("step 3", timeout=PATIENCE)
    go()
    page.wait(3)
    ended(outputs)
    expect(waiting).to_have_text("0\n")
    saved = page.saved().cells
    assert result_of(saved[1]).startswith("step 1\nstep 2\nstep 3\nstep 4\nexit 0 · 4 lines · 28 B · ")
    assert [output.text for output in saved[2].outputs] == ["mine\n"]


def test_a_job_that_fails_says_so_in_its_panel_and_nowhere_else(notebook, tmp_path, go):
    page = notebook(
        [f"from boundcap_jupyter import start\nstart({steps(tmp_path, 1) + '; exit 3'!r})", "print('mine')"]
    )
    page.run(0)
    outputs = page.run(1)
    expect(outputs.locator(PANEL)).to_have_count(1, timeout=PATIENCE)
    page.run(2)
    go()
    ended(outputs)
    saved = page.saved().cells
    assert result_of(saved[1]).startswith("step 1\nfailed · exit 3 · 1 line · ")
    assert [output.text for output in saved[2].outputs] == ["mine\n"]


def test_to_stop_a_run_in_the_background_interrupts_no_other_cell(notebook, tmp_path):
    busy = f"import os, time\nwhile not os.path.exists('{tmp_path}/over'):\n    time.sleep(0.02)\nprint('undisturbed')"
    page = notebook(["%%bounded --bg\necho up; sleep 600.7", busy])
    page.run(0)
    panel = page.run(1).locator(PANEL)
    expect(panel.locator(".boundcap-text")).to_contain_text("up", timeout=PATIENCE)
    other = page.start(2)
    panel.locator(".boundcap-stop").click()
    # Longer than a panel whose run is in the foreground would wait.
    page.page.wait_for_timeout(1500)
    (tmp_path / "over").touch()
    page.wait(2)
    expect(other).to_contain_text("undisturbed")
    ended(page.cell(1))
    saved = page.saved().cells
    assert result_of(saved[1]).startswith("up\nstopped · 1 line · ")
    assert [output.text for output in saved[2].outputs] == ["undisturbed\n"]


def test_the_tail_comes_back_after_a_reload_and_the_file_ends_with_the_result(notebook, tmp_path, go):
    page = notebook([f"%%bounded --bg\n{steps(tmp_path, 4)}"])
    page.run(0)
    page.run(1)
    text = page.cell(1).locator(".boundcap-text")
    go()
    expect(text).to_contain_text("step 1", timeout=PATIENCE)
    page.saved()
    page = opened_again(page)
    text = page.cell(1).locator(".boundcap-text")
    expect(text).to_have_text(re.compile("step 1"), timeout=PATIENCE)
    go()
    expect(text).to_contain_text("step 2", timeout=PATIENCE)
    assert re.findall(r"step \d", text.inner_text()) == ["step 1", "step 2"]
    expect(page.cell(1).locator(".boundcap-lines")).to_have_text("2 lines")
    go()
    go()
    ended(page.cell(1))
    assert result_of(page.saved().cells[1]).startswith("step 1\nstep 2\nstep 3\nstep 4\nexit 0 · 4 lines · ")


def test_the_file_ends_with_the_result_though_the_page_was_closed_at_the_end(notebook, tmp_path, go):
    page = notebook([f"%%bounded --bg\n{steps(tmp_path, 1)}; touch {tmp_path}/done"])
    page.run(0)
    page.run(1)
    expect(page.cell(1).locator(PANEL)).to_have_count(1, timeout=PATIENCE)
    saved = page.saved().cells[1]
    assert "application/vnd.jupyter.widget-view+json" in saved.outputs[0].data
    assert saved.outputs[0].data["text/plain"].endswith(" · running when this was saved")

    def end():
        go()
        while not (tmp_path / "done").exists():
            time.sleep(0.05)

    page = opened_again(page, end)
    expect(page.cell(1)).to_contain_text("step 1", timeout=PATIENCE)
    ended(page.cell(1))
    assert result_of(page.saved().cells[1]).startswith("step 1\nexit 0 · 1 line · 7 B · ")


@in_both
def test_a_run_in_the_foreground_is_right_in_the_file_after_a_reload(notebook, tmp_path, go):
    page = notebook([f"%%bounded\n{steps(tmp_path, 2)}"])
    page.run(0)
    page.start(1)
    go()
    expect(page.cell(1).locator(".boundcap-text")).to_contain_text("step 1", timeout=PATIENCE)
    page.saved()
    page.page.reload()
    page.page.wait_for_selector(".jp-Notebook .jp-CodeCell .cm-content", timeout=PATIENCE)
    go()
    expect(page.cell(1)).to_contain_text("step 2", timeout=PATIENCE)
    ended(page.cell(1))
    assert result_of(page.saved().cells[1]).startswith("step 1\nstep 2\nexit 0 · 2 lines · 14 B · ")


@pytest.mark.parametrize(
    ("layout", "titles"), [("VBox", None), ("Tab", "('log', 'other')"), ("Accordion", "('log', 'other')")]
)
def test_a_panel_lives_in_a_layout_and_its_traits_tell_of_the_run(notebook, tmp_path, go, layout, titles):
    options = "" if titles is None else f", titles={titles}, selected_index=0"
    shown = f"""
import ipywidgets as w
from boundcap_jupyter import BoundedOutput, start
panel, label = BoundedOutput("make"), w.Label("none")
def tell(change):
    label.value = f"{{panel.state}}: {{panel.total_lines}} lines, {{panel.exit_code}}"
panel.observe(tell, ["total_lines", "state"])
w.VBox([label, w.{layout}([panel, w.Label("x")]{options})])
"""
    page = notebook([shown, f"job = start({steps(tmp_path, 2) + '; sleep 600.9'!r}, on_update=panel)"])
    page.run(0)
    outputs = page.run(1)
    expect(outputs.locator(PANEL)).to_have_count(1, timeout=PATIENCE)
    page.run(2)
    go()
    go()
    expect(outputs.locator(".boundcap-text")).to_contain_text("step 2", timeout=PATIENCE)
    expect(outputs.locator(".widget-label").first).to_have_text("running: 2 lines, None", timeout=PATIENCE)
    outputs.locator(".boundcap-stop").click()
    expect(outputs.locator(".boundcap-state")).to_have_text("stopped", timeout=PATIENCE)
    expect(outputs.locator(".widget-label").first).to_have_text("stopped: 2 lines, 130")
    # It is the program's: nothing takes its place.
    page.page.wait_for_timeout(1500)
    expect(outputs.locator(PANEL)).to_have_count(1)
    page.shot(f"layout-{layout.lower()}")


def test_a_stock_output_shows_the_text_in_colours_and_what_the_run_came_to(notebook, tmp_path, go):
    script = f"printf '\\033[31mred\\033[0m <b>text</b>\\n'; {steps(tmp_path, 2)}; exit 3"
    page = notebook(
        [
            "import ipywidgets as w\nfrom boundcap_jupyter import OutputSink, run\nout = w.Output()\nw.VBox([out])",
            f"run({script!r}, on_update=OutputSink(out)).exit_code",
        ]
    )
    page.run(0)
    outputs = page.run(1)
    running = page.start(2)
    go()
    shown = outputs.locator(".jp-OutputArea-output pre")
    expect(shown).to_contain_text(re.compile(r"red <b>text</b>\nstep 1\nrunning · 2 lines · "), timeout=PATIENCE)
    assert shown.locator(".ansi-red-fg").inner_text() == "red"
    go()
    page.wait(2)
    expect(shown).to_contain_text("step 1\nstep 2\nfailed · exit 3 · 3 lines · ", timeout=PATIENCE)
    expect(running.locator(".jp-OutputArea-output")).to_have_text("3")
    page.shot("stock-output")
