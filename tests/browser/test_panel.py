"""What a reader does with the text of a panel while a command prints."""

from playwright.sync_api import expect

from boundcap_jupyter.core.status import RunState, RunStatus


def lines(first, count):
    return b"".join(b"line %d\n" % n for n in range(first, first + count))


def wheel(panel, pixels):
    panel.text.hover()
    panel.page.mouse.wheel(0, pixels)
    # A wheel is heard asynchronously, and scrolls in a frame of its own.
    panel.page.wait_for_timeout(200)
    panel.settle()


def test_the_end_is_followed_until_the_reader_scrolls_up_and_again_at_the_end(panel):
    it = panel(max_lines=500)
    it.feed(lines(0, 400))
    assert it.from_end <= 1
    it.feed(lines(400, 5))
    assert it.from_end <= 1
    latest = it.page.locator(".boundcap-latest")
    expect(latest).to_be_hidden()
    wheel(it, -600)
    expect(latest).to_be_visible()
    place = it.top_line
    for round_ in range(10):
        it.feed(lines(405 + 5 * round_, 5))
    assert it.top_line == place
    latest.click()
    it.feed(lines(455, 5))
    assert it.from_end <= 1
    wheel(it, -600)
    it.feed(lines(460, 5))
    assert it.from_end > 100
    wheel(it, 10_000)
    it.feed(lines(465, 5))
    assert it.from_end <= 1


def test_a_place_is_kept_while_a_flood_drops_lines_above_it(panel):
    it = panel(max_lines=1000)
    it.feed(lines(0, 3000))
    wheel(it, -3000)
    line, offset = it.top_line
    # So many lines above it leave, some of them in complete replaces.
    above = int(line.split()[1]) - 2000
    assert above > 200
    sent = 3000
    for _ in range((above - 20) // 7):
        it.feed(lines(sent, 7), pause=0.7)
        sent += 7
        # Of fractions of a pixel the browser is free.
        now, moved = it.top_line
        assert (now, abs(moved - offset) < 2) == (line, True), (now, moved, offset)


def test_the_page_itself_never_moves(panel):
    it = panel(max_lines=300)
    it.feed(lines(0, 200))
    it.page.evaluate("window.scrollTo(0, 150)")
    top = it.panel.evaluate("panel => panel.getBoundingClientRect().top")
    for round_ in range(20):
        it.feed(lines(200 + 50 * round_, 50))
        assert it.page.evaluate("window.scrollY") == 150
        assert it.panel.evaluate("panel => panel.getBoundingClientRect().top") == top


def test_a_selection_stays_while_its_lines_are_shown(panel):
    it = panel(max_lines=300)
    it.feed(lines(0, 400))
    it.text.evaluate(
        """area => {
            const lines = [...area.querySelectorAll('.boundcap-line')];
            const find = (text) => lines.find((line) => line.textContent === text);
            const [first, last] = [find('line 250\\n').firstChild, find('line 252\\n').firstChild];
            getSelection().setBaseAndExtent(first, 5, last, 4);
        }"""
    )
    selected = "250\nline 251\nline"
    assert it.page.evaluate("getSelection().toString()") == selected
    for round_ in range(14):
        # Slides, and after five seconds a replace.
        it.feed(lines(400 + 10 * round_, 10), pause=0.6)
        assert it.page.evaluate("getSelection().toString()") == selected
    # The line that is still being printed, too.
    it.feed(b"10 %")
    it.text.evaluate("area => getSelection().selectAllChildren([...area.querySelectorAll('.boundcap-line')].at(-1))")
    it.feed(b" 20 %")
    assert it.page.evaluate("getSelection().toString()").startswith("10 %")


def test_what_is_copied_is_the_text_as_it_was_printed(panel):
    it = panel()
    long = "x" * 5000
    it.feed(f"\x1b[31mred\x1b[0m \u202eturned\n{long}\n".encode())
    it.page.get_by_role("button", name="copy the text shown").click()
    expect(it.page.get_by_role("button", name="copied")).to_be_visible()
    expected = f"red \u202eturned\n{long}\n"
    assert it.page.evaluate("navigator.clipboard.readText()") == expected
    # By hand: of a long line what is shown, and no word of the button.
    it.text.evaluate("area => getSelection().selectAllChildren(area)")
    assert it.page.evaluate("getSelection().toString()").rstrip("\n") == f"red \u202eturned\n{'x' * 4096}"
    it.page.get_by_role("button", name="+904").click()
    it.text.evaluate("area => getSelection().selectAllChildren(area)")
    assert it.page.evaluate("getSelection().toString()").rstrip("\n") == expected.rstrip("\n")


def test_it_is_copied_where_the_page_has_no_clipboard_to_offer(panel):
    it = panel()
    it.feed(b"one\ntwo\n")
    it.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')) }")
    it.page.get_by_role("button", name="copy the text shown").click()
    expect(it.page.get_by_role("button", name="copied")).to_be_visible()
    assert it.page.evaluate("navigator.clipboard.readText()") == "one\ntwo\n"
    expect(it.page.locator("textarea")).to_have_count(0)


def test_a_line_is_wrapped_or_scrolled_to_and_the_end_is_followed_either_way(panel):
    it = panel()
    it.feed(lines(0, 300) + b"w" * 3000 + b"\n" + lines(300, 5))
    assert it.text.evaluate("area => area.scrollWidth <= area.clientWidth")
    it.page.get_by_role("button", name="wrap long lines").click()
    it.settle()
    assert it.text.evaluate("area => area.scrollWidth > 3 * area.clientWidth")
    assert it.from_end <= 1
    it.feed(lines(305, 5))
    assert it.from_end <= 1
    # No chunk clips the line: it is as wide as the content.
    assert it.text.evaluate(
        """area => [...area.querySelectorAll('.boundcap-line')].every(
            (line) => line.scrollWidth <= line.closest('.boundcap-chunk').clientWidth)"""
    )
    it.page.get_by_role("button", name="wrap long lines").click()
    it.settle()
    assert it.text.evaluate("area => area.scrollWidth <= area.clientWidth")
    assert it.from_end <= 1


def test_the_height_changes_and_the_button_stays_under_the_pointer(panel):
    it = panel()
    it.feed(lines(0, 300))
    button = it.page.locator(".boundcap-header .boundcap-tool").last
    before = button.bounding_box()
    height = it.text.bounding_box()["height"]
    button.click()
    it.settle()
    assert it.text.bounding_box()["height"] > 1.3 * height
    assert button.bounding_box() == before
    assert it.from_end <= 1
    button.click()
    it.settle()
    assert it.text.bounding_box()["height"] == height
    assert it.from_end <= 1


def test_all_of_it_is_reached_by_the_keyboard(panel):
    it = panel()
    it.feed(lines(0, 300) + b"y" * 5000 + b"\n")
    it.page.locator("body").click(position={"x": 5, "y": 5})
    names = []
    for _ in range(6):
        it.page.keyboard.press("Tab")
        names.append(it.page.evaluate("document.activeElement.ariaLabel || document.activeElement.textContent"))
    assert names == ["copy the text shown", "wrap long lines", "show more rows", "Stop", "output of make", "+904"]
    it.page.keyboard.press("Enter")
    expect(it.page.get_by_role("button", name="less")).to_be_focused()
    it.text.focus()
    it.page.keyboard.press("PageUp")
    it.page.wait_for_timeout(300)
    assert it.from_end > 50
    it.page.keyboard.press("End")
    assert it.from_end <= 1


def test_only_a_new_state_is_announced(panel):
    it = panel()
    it.page.evaluate(
        """() => {
            window.announced = [];
            const live = [...document.querySelectorAll('[role=status], [aria-live]')].filter(
                (node) => node.ariaLive !== 'off');
            const changed = () => window.announced.push(live.map((node) => node.textContent).filter(Boolean).join());
            for (const node of live) {
                new MutationObserver(changed).observe(node, { subtree: true, childList: true, characterData: true });
            }
        }"""
    )
    for round_ in range(5):
        it.feed(lines(10 * round_, 10))
    it.page.wait_for_timeout(300)
    it.end(RunStatus(RunState.EXITED, 3))
    it.settle()
    assert it.page.evaluate("window.announced") == ["failed · exit 3"]
