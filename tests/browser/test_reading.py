"""What a reader of a loud cell sees stay where it is, in a notebook.

test_panel.py looks at the panel alone, update by update; here a command prints, and the notebook scrolls as well.
"""

from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, in_both

#: The first line that is wholly in sight.
TOP_LINE = """area => {
    const top = area.getBoundingClientRect().top;
    return [...area.querySelectorAll('.boundcap-line')].find(
        (line) => line.getBoundingClientRect().top >= top).textContent;
}"""

#: Where the line of this text begins in the page; null when there is none.
PLACE = """(area, text) => [...area.querySelectorAll('.boundcap-line')].find(
    (line) => line.textContent === text)?.getBoundingClientRect().top ?? null"""

#: Whether that is near a height: of fractions of a pixel the browser is free.
IS_NEAR = f"([area, text, top]) => Math.abs((({PLACE})(area, text) ?? Infinity) - top) < 2"


@in_both
def test_a_place_is_kept_while_lines_come_below_and_go_above_and_the_end_is_found_again(notebook, tmp_path):
    go_on, over = tmp_path / "go-on", tmp_path / "over"
    # More than are shown: from here on each line that comes drops one. Of the 2,000 the reader's is not among the 900
    # that are dropped next.
    script = f"""\
seq -f 'line %.0f' 2500; until [ -e {go_on} ]; do sleep 0.05; done
for n in $(seq 2501 10 3391); do seq -f 'line %.0f' $n $((n + 9)); sleep 0.03; done
until [ -e {over} ]; do sleep 0.05; done"""
    page = notebook([f"%%bounded\n{script}", *["'below'"] * 30])
    page.run(0)
    panel = page.start(1).locator(".boundcap-panel")
    text = panel.locator(".boundcap-text")
    expect(text).to_contain_text("line 2500\n", timeout=PATIENCE)
    text.hover()
    page.page.mouse.wheel(0, -1500)
    latest = panel.locator(".boundcap-latest")
    expect(latest).to_be_visible(timeout=PATIENCE)
    # A wheel scrolls on for a few frames.
    before = None
    while (now := text.evaluate(TOP_LINE)) != before:
        before = now
        page.page.wait_for_timeout(500)
    line, top = now, text.evaluate(PLACE, now)
    assert 2300 < int(line.split()[1]) < 2500
    go_on.touch()
    seen = set()
    while "line 3400\n" not in seen:
        # Others read the layout, too, and at any time: it is then that Chromium loses the line.
        for _ in range(3):
            text.evaluate(TOP_LINE)
        # A line that the browser let go of is put back with the second frame after it.
        page.page.wait_for_function(IS_NEAR, arg=[text.element_handle(), line, top], timeout=PATIENCE, polling=100)
        seen.add(text.evaluate("area => [...area.querySelectorAll('.boundcap-line')].at(-1).textContent"))
        # A page that is asked for its layout all the time is none that anyone reads.
        page.page.wait_for_timeout(100)
    assert len(seen) > 10, "they came at once: nothing was scrolled past the reader"
    # For good.
    page.page.wait_for_timeout(500)
    assert abs(text.evaluate(PLACE, line) - top) < 2
    latest.click()
    expect(latest).to_be_hidden()
    assert text.evaluate("area => area.scrollHeight - area.scrollTop - area.clientHeight") <= 1
    over.touch()
    page.wait(1)
