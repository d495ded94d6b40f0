"""Sixteen panels in one page at once: every end right, and nothing that the server drops."""

import time

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE

RUNS = 16

#: What the server writes into its log when it drops messages of a kernel, and then drops them.
DROPPED = "rate exceeded"

#: In a kernel: what a server does not bear, to know that the log would tell.
TOO_MUCH = """
from boundcap_jupyter import BoundedOutput
panel = BoundedOutput()
for n in range(8000):
    panel.send({"type": "none"})
"""

#: Commands by kind: what run {n} prints, twice, and the totals of that once, in bytes and in lines.
KINDS = {
    # Each line is an update of its own as long as it is alone.
    "chatty": (
        "for i in $(seq 50); do echo run {n} line $i; sleep 0.03; done",
        lambda n: (sum(len(f"run {n} line {i}\n") for i in range(1, 51)), 50),
    ),
    # A view that turns over completely all the time. The number of lines tells the runs apart.
    "flooding": (
        "yes 'a line of a flood that is forty bytes on' | head -n $((500000 + {n})); echo run {n}",
        lambda n: (41 * (500_000 + n) + len(f"run {n}\n"), 500_001 + n),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_sixteen_panels_at_once_come_to_the_right_ends(notebook, log, kind, tmp_path):
    half, totals = KINDS[kind]
    go_on = tmp_path / "go-on"
    script = f"{half}; until [ -e {go_on} ]; do sleep 0.05; done; {half}; exit {{n}}"
    show = f"""
from boundcap_jupyter import start
jobs = [start({script!r}.replace("{{n}}", str(n))) for n in range({RUNS})]
display(*jobs)
"""
    page = notebook([show, "[job.wait().exit_code for job in jobs]", TOO_MUCH])
    page.run(0)
    outputs = page.run(1)
    shown = outputs.locator(".jp-OutputArea-child")
    expect(shown).to_have_count(RUNS, timeout=PATIENCE)
    for n in range(RUNS):
        bytes_, lines = totals(n)
        panel = shown.nth(n).locator(".boundcap-panel")
        expect(panel.locator(".boundcap-lines")).to_have_text(f"{lines:,} lines", timeout=PATIENCE)
        expect(panel.locator(".boundcap-bytes")).to_have_text(f"{bytes_:,} B")
        expect(panel.locator(".boundcap-text")).to_contain_text(f"run {n}")
        expect(panel.locator(".boundcap-state")).to_have_text("running")
    go_on.touch()
    waiting = page.run(2)
    expect(waiting).to_contain_text(str(list(range(RUNS))))
    for n in range(RUNS):
        bytes_, lines = totals(n)
        expect(shown.nth(n)).to_contain_text("done" if n == 0 else f"failed · exit {n}", timeout=PATIENCE)
        expect(shown.nth(n)).to_contain_text(f"{2 * lines:,} lines")
        expect(shown.nth(n)).to_contain_text(f"{2 * bytes_:,} B")
    saved = page.saved().cells[1].outputs
    for n, output in enumerate(saved):
        bytes_, lines = totals(n)
        end = "exit 0" if n == 0 else f"failed · exit {n}"
        assert (
            output.data["text/plain"].splitlines()[-1].startswith(f"{end} · {2 * lines:,} lines · {2 * bytes_:,} B · ")
        )
    assert DROPPED not in log()
    # Of this cell the server may drop the news that it is over, too.
    page.start(3)
    deadline = time.monotonic() + PATIENCE / 1000
    while DROPPED not in log():
        assert time.monotonic() < deadline, "the log does not tell of messages that were dropped"
        time.sleep(0.1)
