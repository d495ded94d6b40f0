"""What is saved when a notebook is executed without a page, and whether nbval accepts it afterwards."""

import json
import re
import secrets
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from boundcap_jupyter.show.static import static_bundle
from boundcap_jupyter.testing import nbval_sanitizer
from tests.show.examples import Ended, view_of

pytest.importorskip("ipykernel")

#: Shows a run without a command: the displays alone are looked at. The panel stands in for the one that is built from
#: js/, which need not have happened; it is as large.
RUN = """
from dataclasses import dataclass, replace
from random import random
from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.publisher import AdaptivePublisher
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.show import bundle
from boundcap_jupyter.show.display import PanelDisplay, choose_display

bundle.read_bundle = lambda name: "export default {};" + " " * 100_000

@dataclass
class Ended:
    status: RunStatus
    view: object
    stderr_view: object = None

def run(lines, clears_cell, panel=False):
    display = PanelDisplay("fake", clears_cell) if panel else choose_display("fake", clears_cell=clears_cell)
    display.opened(lambda: None)
    capture = OutputCapture()
    def view():
        now, path = capture.view(), f"/tmp/boundcap/{random()}/output.log"
        return replace(now, metadata=replace(now.metadata, spill_path=path, spill_state="complete"))
    publisher = AdaptivePublisher(view)
    for second in range(lines):
        capture.feed(b"\\x1b[31mline\\x1b[0m %d took 3.5 s\\n" % second)
        publisher.mark()
        if update := publisher.poll(second):
            display(update)
    capture.finish()
    display(publisher.finish(lines))
    display.closed(Ended(RunStatus(RunState.EXITED, 0, duration=random() * 100), view()))
"""

CELLS = [
    RUN,
    "run(50, clears_cell=True)",
    "print('before')\nrun(3, clears_cell=False)\nprint('after')",
    "run(3000, clears_cell=True)",
    "%%capture captured\nrun(3, clears_cell=True)",
    "assert captured.stdout == '' and captured.stderr == ''\ncaptured.show()",
]
# As in a page: where nbval runs a notebook there is none, and the result stands alone.
PANELS = [
    "run(50, clears_cell=True, panel=True)",
    "print('before')\nrun(3, clears_cell=False, panel=True)\nprint('after')",
]


def _sanitize(text):
    """As nbval reads and applies the file."""
    rules = re.findall(r"^regex: (.*)$\n^replace: (.*)$", nbval_sanitizer().read_text(encoding="ascii"), re.MULTILINE)
    assert len(rules) == 6
    for pattern, replacement in rules:
        text = re.sub(pattern, replacement, text)
    return text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("x\nexit 0 · 1 line · 2 B · 0.4 s", "x\nexit 0 · 1 line · 2 B DURATION"),
        ("exit 0 · 1 line · 2 B · 3 min 05 s · the rest", "exit 0 · 1 line · 2 B DURATION · the rest"),
        ("<Result exit 0 · 1 line · 2 B · 1,000 h 05 min>", "<Result exit 0 · 1 line · 2 B DURATION>"),
        ("failed · complete output: ~/a b/output.log", "failed · complete output: SPILL"),
        ("x · incomplete after 1,234 B: /r7/output.log", "x · incomplete after 1,234 B: SPILL"),
        (
            "exit code 3; last line: no\ncomplete output: ~/r/output.log",
            "exit code 3; last line: no\ncomplete output: SPILL",
        ),
        ("timed out after 1.0 s; last line: 1000", "timed out after DURATION; last line: 1000"),
        ("it took 3.5 s and stopped after 3 steps", "it took 3.5 s and stopped after 3 steps"),
        ("12 B · 3 seconds", "12 B · 3 seconds"),
        (
            static_bundle(Ended(view_of(b"x")), token="0123456789abcdef")["text/html"],
            static_bundle(Ended(view_of(b"x")))["text/html"].replace(">0.4 s<", ">DURATION<"),
        ),
        (
            "&lt;div class='boundcap-result boundcap-run-ab' style='",
            "&lt;div class='boundcap-result boundcap-run-ab' style='",
        ),
    ],
)
def test_only_durations_spill_paths_and_tokens_are_taken_out(text, clean):
    assert _sanitize(text) == clean


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """(the notebook as nbclient leaves it, its path)"""
    notebook = _execute(CELLS)
    path = tmp_path_factory.mktemp("notebooks") / "runs.ipynb"
    nbformat.write(notebook, path)
    return notebook, path


def _execute(cells):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return notebook


def _displayed(cell):
    return [output for output in cell.outputs if output.output_type == "display_data"]


def test_a_notebook_with_controls_in_an_output_is_saved_and_opens_again(tmp_path):
    cell = "%load_ext boundcap_jupyter\n%bounded printf 'a\\0b\\0c\\nd\\1\\x85\\xff\\n'"
    nbformat.write(_execute([cell]), tmp_path / "controls.ipynb")
    reopened = nbformat.read(tmp_path / "controls.ipynb", as_version=4)
    nbformat.validate(reopened)
    (output,) = _displayed(reopened.cells[0])
    assert output.data["text/plain"].startswith("a\u2400b\u2400c\nd\ufffd\ufffd\n")


@pytest.mark.parametrize("index", [1, 2, 3, 5])
def test_the_saved_cell_shows_the_result_and_nothing_else(executed, index):
    cell = executed[0].cells[index]
    (output,) = _displayed(cell)
    assert set(output.data) == {"text/plain", "text/html"}
    assert re.search(r"\nexit 0 · [\d,]+ lines · ", output.data["text/plain"])


def test_what_stands_beside_a_run_stays_beside_it(executed):
    kinds = [output.get("text") or output.output_type for output in executed[0].cells[2].outputs]
    assert kinds == ["before\n", "display_data", "after\n"]


def test_a_panel_becomes_the_result_whether_or_not_it_may_clear_the_cell():
    whole, beside = _execute([RUN, *PANELS]).cells[1:]
    assert [set(output.data) for output in whole.outputs] == [{"text/plain", "text/html"}]
    kinds = [output.get("text") or set(output.data) for output in beside.outputs]
    assert kinds == ["before\n", {"text/plain", "text/html"}, "after\n"]


def test_no_widget_is_stored(executed):
    assert "widgets" not in executed[0].metadata


def test_nbval_accepts_the_saved_notebook_whatever_time_and_path_are(executed):
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", f"--nbval-sanitize-with={nbval_sanitizer()}"]
    run = subprocess.run([*command, "-p", "no:cacheprovider", str(executed[1])], stdout=subprocess.PIPE, text=True)
    assert run.returncode == 0, run.stdout


def test_nbval_accepts_a_notebook_that_was_saved_where_there_are_panels(executed, tmp_path):
    notebook = nbformat.from_dict(json.loads(json.dumps(executed[0])))
    marked = 0
    for cell in notebook.cells:
        for output in _displayed(cell):
            html = output.data["text/html"]
            assert html.startswith("<div style='")
            # As show/static.py writes it for a run with a panel.
            output.data["text/html"] = html.replace(
                "<div ", f"<div class='boundcap-result boundcap-run-{secrets.token_hex(8)}' ", 1
            )
            marked += 1
    assert marked > 3
    nbformat.write(notebook, tmp_path / "page.ipynb")
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", f"--nbval-sanitize-with={nbval_sanitizer()}"]
    run = subprocess.run(
        [*command, "-p", "no:cacheprovider", str(tmp_path / "page.ipynb")], stdout=subprocess.PIPE, text=True
    )
    assert run.returncode == 0, run.stdout


def test_nbval_still_sees_a_change_in_what_was_printed(executed, tmp_path):
    notebook = nbformat.from_dict(json.loads(json.dumps(executed[0])))
    notebook.cells = [notebook.cells[0], notebook.cells[1]]
    (output,) = _displayed(notebook.cells[1])
    # A duration in the text of the command is text.
    output.data["text/plain"] = output.data["text/plain"].replace("line 7 took 3.5 s", "line 7 took 3.6 s")
    nbformat.write(notebook, tmp_path / "changed.ipynb")
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", f"--nbval-sanitize-with={nbval_sanitizer()}"]
    run = subprocess.run(
        [*command, "-p", "no:cacheprovider", str(tmp_path / "changed.ipynb")], stdout=subprocess.PIPE, text=True
    )
    assert run.returncode == 1
    assert "1 failed, 1 passed" in run.stdout


# --- a standard error that is kept apart

SEPARATE = [
    "%load_ext boundcap_jupyter",
    "%%bounded --stderr separate\nseq 3000; seq 4000 >&2",
    "%%bounded --stderr separate\necho only out",
    "from boundcap_jupyter import run\nrun('echo out; echo err >&2', stderr='separate')",
    "%%bounded --stderr separate --no-raise-error --out failed\necho out; echo why >&2; exit 3",
    "print(failed.stderr)",
]


def test_both_texts_are_saved_and_nbval_accepts_them(tmp_path):
    notebook = _execute(SEPARATE)
    nbformat.write(notebook, tmp_path / "separate.ipynb")
    flood, silent, result, failed, printed = (cell.outputs for cell in notebook.cells[1:])
    (output,) = flood
    lines = output.data["text/plain"].splitlines()
    assert lines[0].startswith("[stdout] last 2,000 of 3,000 lines · complete output: ")
    assert lines[1:2001] == [str(n) for n in range(1001, 3001)]
    assert lines[2001].startswith("[stderr] last 2,000 of 4,000 lines · complete output: ")
    assert lines[2001].endswith("/stderr.log")
    assert lines[2002:4002] == [str(n) for n in range(2001, 4001)]
    (status,) = lines[4002:]
    assert status.startswith("exit 0 · stdout: 3,000 lines, 13,893 B · stderr: 4,000 lines, 18,893 B · ")
    assert output.data["text/html"].count("<pre") == 2
    assert re.fullmatch(r"only out\nexit 0 · 1 line · 9 B · \d.* · stderr: nothing", silent[0].data["text/plain"])
    assert result[0].data["text/plain"].startswith("[stdout]\nout\n[stderr]\nerr\nexit 0 · stdout: 1 line, 4 B · ")
    assert "\n[stderr]\nwhy\nfailed · exit 3 · " in failed[0].data["text/plain"]
    assert printed[0].text == "why\n\n"
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", f"--nbval-sanitize-with={nbval_sanitizer()}"]
    checked = subprocess.run(
        [*command, "-p", "no:cacheprovider", str(tmp_path / "separate.ipynb")], stdout=subprocess.PIPE, text=True
    )
    assert checked.returncode == 0, checked.stdout


def test_a_panel_of_both_becomes_the_result_of_both():
    both = RUN.replace("    display.closed(", "    display.take_stderr(publisher.finish(lines))\n    display.closed(")
    both = both.replace("duration=random() * 100), view())", "duration=random() * 100), view(), view())")
    (cell,) = _execute([both, "run(3, clears_cell=True, panel=True)"]).cells[1:]
    (output,) = cell.outputs
    assert output.data["text/plain"].count("line 2 took") == 2
    assert output.data["text/html"].count("<pre") == 2
