"""Strangers' text in a cell: nothing of it acts in the notebook, live, in the result, or when that is opened again.

The panel alone has a fuzz test of its own, test_strangers.py; this is what a notebook makes of the same.
"""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, in_both
from tests.browser.test_strangers import PIECES

#: In a page: counts the calls of `hacked`.
WATCH = """() => {
    window.hacks = 0;
    window.hacked = () => { window.hacks += 1; };
}"""

#: Of an area of outputs, what only the text of a command could have put there.
FOREIGN = """area => [...area.querySelectorAll('*')].flatMap((element) => [
    ...(['img', 'script', 'iframe', 'style', 'object', 'form'].includes(element.localName) ? [element.localName] : []),
    ...[...element.attributes].filter(
        ({ name, value }) => name.startsWith('on') || (name === 'href' && !/^https?:/.test(value))
    ).map(({ name, value }) => `${name}=${value}`),
])"""


@in_both
def test_nothing_that_a_command_prints_acts_in_a_notebook(notebook, tmp_path):
    text, over = tmp_path / "text", tmp_path / "over"
    # Each piece at the beginning of a line, so that none hides in another's sequence, and then all in one.
    Path(text).write_bytes(b"".join(piece + b"\x1b[0m\n" for piece in PIECES) + b"".join(PIECES) + b"\n")
    page = notebook([f"%%bounded\ncat {text}; echo the end; until [ -e {over} ]; do sleep 0.05; done"])
    page.run(0)
    page.page.evaluate(WATCH)
    outputs = page.start(1)
    live = outputs.locator(".boundcap-text")
    expect(live).to_contain_text("the end", timeout=PATIENCE)
    expect(live).to_contain_text("<script>hacked()</script>")
    expect(live).to_contain_text("<img src=/x onerror=hacked()>")
    assert live.evaluate(FOREIGN) == []
    page.shot("strangers-running")
    over.touch()
    page.wait(1)
    expect(outputs).to_contain_text("done", timeout=PATIENCE)
    expect(outputs).to_contain_text("<script>hacked()</script>")
    assert outputs.evaluate(FOREIGN) == []
    assert page.page.evaluate("window.hacks") == 0
    page.saved()
    page.page.add_init_script(f"({WATCH})()")
    page.reload()
    expect(outputs).to_contain_text("<script>hacked()</script>", timeout=PATIENCE)
    page.wait_for_kernel()
    assert outputs.evaluate(FOREIGN) == []
    assert page.page.evaluate("window.hacks") == 0
