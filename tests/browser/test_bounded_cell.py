"""What a person sees of a bounded cell in JupyterLab."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, in_both

TOUR = Path(__file__).parents[2] / "notebooks" / "01_bounded_cell.ipynb"


#: The panel of a run that is over, in the place of the static result that the notebook has.
IN_ITS_PLACE = ".boundcap-result + .boundcap-host .boundcap-panel"


def number(text: str) -> int:
    """The count in "1,234 lines" or "1,234 B"."""
    return int(re.search(r"[\d,]+", text)[0].replace(",", ""))


def plain_text(cell) -> str:
    """The text/plain of the one output that a bounded cell has."""
    (output,) = cell.outputs
    return output.data["text/plain"]


@in_both
def test_the_real_job_of_the_tour_runs_live_and_stays_in_the_file(notebook):
    tour = notebook(TOUR)
    sources = [cell.source for cell in tour.saved().cells]
    job = next(index for index, source in enumerate(sources) if "compileall" in source)
    tour.run(1)
    tour.run(job - 1)
    outputs = tour.start(job)
    panel = outputs.locator(".boundcap-panel")
    lines = panel.locator(".boundcap-lines")
    expect(lines).to_contain_text("lines", timeout=PATIENCE)
    first = number(lines.inner_text())
    tour.page.wait_for_function(
        "([lines, least]) => Number((document.querySelector(lines)?.textContent ?? '').replace(/\\D/g, '')) > least",
        arg=[".boundcap-panel .boundcap-lines", first],
        timeout=PATIENCE,
    )
    assert panel.get_attribute("data-state") == "running"
    tour.page.wait_for_timeout(500)
    tour.shot("running-light")
    tour.theme("JupyterLab Dark")
    tour.shot("running-dark")
    tour.wait(job)
    expect(outputs.locator(IN_ITS_PLACE)).to_have_count(1, timeout=PATIENCE)
    tour.shot("done-dark")
    tour.theme("JupyterLab Light")
    tour.shot("done-light")
    saved = tour.saved().cells[job]
    (output,) = saved.outputs
    assert set(output.data) == {"text/plain", "text/html"}
    last_line = plain_text(saved).splitlines()[-1]
    assert last_line.startswith("exit 0 · ")
    assert number(last_line.split(" · ")[1]) > 2000
    assert re.search(r"last [\d,]+ lines shown", last_line)


def test_output_is_in_the_page_half_a_second_after_it_was_written(notebook, tmp_path):
    stamp = tmp_path / "stamp"
    page = notebook([f"%%bounded\nprintf 'one\\n'; date +%s%N > {stamp}; sleep 2; printf 'two\\n'"])
    page.run(0)
    page.page.evaluate(
        """() => {
            const look = () => {
                if (document.querySelector('.boundcap-text')?.textContent.includes('one')) window.seen = Date.now();
                else requestAnimationFrame(look);
            };
            look();
        }"""
    )
    outputs = page.run(1)
    seen = page.page.evaluate("window.seen")
    assert seen is not None, "the first line was not shown before the end"
    assert seen - int(stamp.read_text()) / 1e6 < 500
    expect(outputs).to_contain_text("two")
    text = plain_text(page.saved().cells[1])
    assert text.startswith("one\ntwo\nexit 0 · 2 lines · 8 B · 2.")


@in_both
def test_a_failed_command_says_why_in_the_page_and_in_the_file(notebook):
    page = notebook(
        ["%%bounded\nprintf '\\033[31mwarning\\033[0m: about to fail\\n'; seq 3000; echo last words; exit 3"]
    )
    page.run(0)
    outputs = page.run(1)
    expect(outputs).to_contain_text("exit 3")
    saved = page.saved().cells[1]
    (error,) = [output for output in saved.outputs if output.output_type == "error"]
    assert error.ename == "BoundedCommandFailed"
    assert "last words" in error.evalue
    page.shot("failed-light")
    page.theme("JupyterLab Dark")
    page.shot("failed-dark")


def test_a_flood_reaches_the_page_in_few_messages(notebook):
    page = notebook(["%%bounded\nseq 1 200000"])
    page.run(0)
    page.page.evaluate(
        """() => {
            const kernel = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel;
            window.messages = 0;
            kernel.iopubMessage.connect(() => { window.messages += 1; });
        }"""
    )
    page.run(1)
    assert page.page.evaluate("window.messages") <= 40
    assert "exit 0 · 200,000 lines · 1,288,895 B" in plain_text(page.saved().cells[1])


def test_a_standard_error_that_is_kept_apart_has_a_text_of_its_own_live_and_in_the_file(notebook, tmp_path):
    go = tmp_path / "go"
    script = (
        "for i in $(seq 3000); do echo line $i; done\n"
        f"while [ ! -e {go}-1 ]; do sleep 0.05; done\n"
        "printf '\\033[33mwarning\\033[0m: the first\\n' >&2; for i in $(seq 30); do echo note $i >&2; done\n"
        f"while [ ! -e {go}-2 ]; do sleep 0.05; done\n"
        "echo last line"
    )
    page = notebook([f"%%bounded --stderr separate\n{script}"])
    page.page.set_viewport_size({"width": 1100, "height": 1000})
    page.run(0)
    outputs = page.start(1)
    texts = outputs.locator(".boundcap-text")
    expect(texts.first).to_contain_text("line 3000", timeout=PATIENCE)
    expect(texts).to_have_count(1)
    Path(f"{go}-1").touch()
    expect(texts).to_have_count(2, timeout=PATIENCE)
    expect(texts.last).to_contain_text("note 30", timeout=PATIENCE)
    expect(texts.last).to_contain_text("warning: the first")
    expect(texts.first).not_to_contain_text("note")
    headings = outputs.locator(".boundcap-heading")
    # 3,000 times "line ", the numbers and their newlines; 19 bytes of a warning with 9 of colours, and 30 notes.
    expect(headings.first).to_have_text("stdout28,893 B3,000 lines")
    expect(headings.last).to_have_text(f"stderr{len('warning: the first') + 10 + 30 * 6 + 9 + 21 * 2} B31 lines")
    assert outputs.locator(".boundcap-panel").get_attribute("data-state") == "running"
    for text in (texts.first, texts.last):
        # Each follows its own end.
        assert text.evaluate("area => area.scrollHeight - area.scrollTop - area.clientHeight") <= 4
    page.shot("separate-running-light")
    page.theme("JupyterLab Dark")
    page.shot("separate-running-dark")
    Path(f"{go}-2").touch()
    page.wait(1)
    expect(outputs.locator(IN_ITS_PLACE)).to_have_count(1, timeout=PATIENCE)
    expect(texts).to_have_count(2)
    expect(texts.first).to_contain_text("last line")
    expect(outputs.locator("pre")).to_have_count(2)
    page.shot("separate-done-dark")
    page.theme("JupyterLab Light")
    page.shot("separate-done-light")
    text = plain_text(page.saved().cells[1])
    assert text.startswith("[stdout] last 2,000 of 3,001 lines · complete output: ")
    assert "\n[stderr]\nwarning: the first\nnote 1\n" in text
    assert text.splitlines()[-1].startswith("exit 0 · stdout: 3,001 lines, 28,903 B · stderr: 31 lines, ")
