"""Strangers' text is text: whatever a command prints, nothing of it acts in the page, live or in the result."""

import random
import re

import pytest

from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.text import plain
from boundcap_jupyter.show.static import static_bundle
from tests.show.examples import Ended, view_of
from tests.show.page import ALLOWED

SEED = 20_260_101
ROUNDS = 40

#: In the order of what they try: elements, handlers, styles, links, colours, other sequences, directions, broken bytes.
PIECES = [
    b"<script>hacked()</script>",
    b"<img src=/x onerror=hacked()>",
    b"<svg/onload=hacked()>",
    b"<iframe srcdoc='<script>parent.hacked()</script>'>",
    b"</div></pre></details><b onmouseover=hacked()>",
    b"<style>*{display:none}</style>",
    b"<!--",
    b"-->",
    b"]]>",
    b"&lt;img src=x onerror=hacked()&gt;",
    b"&#60;script&#62;",
    b"' onclick='hacked()' x='",
    b'" onclick="hacked()" x="',
    b"`${hacked()}`{{constructor.constructor('hacked()')()}}",
    b"\x1b]8;;javascript:hacked()\x1b\\press\x1b]8;;\x1b\\",
    b"\x1b]8;;JaVaScRiPt:hacked()\x07press\x1b]8;;\x07",
    b"\x1b]8;;data:text/html,<script>hacked()</script>\x1b\\press\x1b]8;;\x1b\\",
    b"\x1b]8;;https://example.org/'onclick='hacked()\x1b\\press\x1b]8;;\x1b\\",
    b'\x1b]8;;https://example.org/"><img src=/x onerror=hacked()>\x1b\\press\x1b]8;;\x1b\\',
    b"\x1b]8;;https://example.org/safe\x1b\\safe",
    b"\x1b]8;;\x1b\\",
    b"\x1b[31m",
    b"\x1b[1;4;7m",
    b"\x1b[38;2;300;0;0m",
    b"\x1b[38;5;999999999999m",
    b"\x1b[38;2;1;2;3;url(//x)m",
    b"\x1b[0m",
    b"\x1b[2K",
    b"\x1b[A",
    b"\x1b]0;<script>hacked()</script>\x07",
    b"\x1bP<script>hacked()</script>\x1b\\",
    b"\x1b",
    b"\x9b31m",
    b"\r",
    b"\b\b",
    b"\n",
    b"\n",
    b"\t",
    b"\x00",
    *(chr(code).encode() for code in (0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069)),
    *(chr(code).encode() for code in (0x200E, 0x200F, 0x061C, 0x05D0, 0x2028, 0x0300, 0xFEFF, 0x1F389)),
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"plain words ",
    b"more of them",
]

#: What the panel is made of.
TAGS = {"progress", "div", "span", "button", "code", "svg", "path", "a", "bdi"}
ATTRIBUTES = {
    *("class", "style", "hidden", "type", "title", "role", "tabindex", "disabled", "d", "viewBox"),
    *("href", "target", "rel", "data-state", "data-link", "data-outcome", "data-stream"),
    *("aria-label", "aria-live", "aria-hidden", "aria-pressed", "aria-expanded"),
}

_ELEMENTS = """root => [...root.querySelectorAll('*')].map(
    (element) => [element.localName, Object.fromEntries([...element.attributes].map(({name, value}) => [name, value]))]
)"""

#: Left edges of the characters of a text, in the order in which they were printed.
_EDGES = """root => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const edges = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (let at = 0; at < node.length; at += 1) {
            const range = document.createRange();
            range.setStart(node, at);
            range.setEnd(node, at + 1);
            if (/[a-z]/.test(range.toString())) edges.push(range.getBoundingClientRect().left);
        }
    }
    return edges;
}"""


def watch(page):
    """What the page was made to do: calls of `hacked`, and requests other than for the panel itself."""
    page.evaluate("window.hacks = 0; window.hacked = () => { window.hacks += 1; }; undefined")
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    return lambda: [page.evaluate("window.hacks"), requests]


def check_links(elements):
    for _, attributes in elements:
        if "href" in attributes:
            assert re.fullmatch(r"https?://[^\s\"<>`]+", attributes["href"])
        assert set(re.findall(r"url|expression|import", attributes.get("style", ""))) == set()


def test_nothing_that_a_command_prints_makes_an_element_or_a_handler_in_the_panel(panel):
    generator = random.Random(SEED)
    it = panel()
    did = watch(it.page)
    for _ in range(ROUNDS):
        it.feed(b"".join(generator.choices(PIECES, k=60)))
        elements = it.panel.evaluate(_ELEMENTS)
        for name, attributes in elements:
            assert name in TAGS
            assert attributes.keys() <= ATTRIBUTES
        check_links(elements)
        # And all of it is there, as text.
        assert it.text.evaluate("area => area.textContent") == plain(it.view().text)
    assert did() == [0, []]


def test_what_is_told_beside_the_text_is_text_too(panel):
    it = panel()
    did = watch(it.page)
    markup = "".join(piece.decode(errors="replace") for piece in PIECES[:14])
    it.feed(b"x\n")
    it.end(RunStatus(RunState.SPILL_ERROR, detail=markup))
    assert it.page.locator(".boundcap-detail").inner_text() == markup
    assert {name for name, _ in it.panel.evaluate(_ELEMENTS)} <= TAGS
    assert did() == [0, []]


def test_nothing_that_a_command_prints_makes_an_element_or_a_handler_in_the_result(panel):
    generator = random.Random(SEED)
    it = panel()
    did = watch(it.page)
    for _ in range(ROUNDS):
        view = view_of(b"".join(generator.choices(PIECES, k=60)))
        html = static_bundle(Ended(view))["text/html"]
        # Without a sanitiser, as in a notebook that is trusted.
        it.page.evaluate("html => { document.querySelector('p').innerHTML = html; }", html)
        elements = it.page.locator("p").first.evaluate(_ELEMENTS)
        for name, attributes in elements:
            assert attributes.keys() <= ALLOWED[name]
        check_links(elements)
    assert did() == [0, []]


@pytest.mark.parametrize("turn", [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C], ids=hex)
def test_a_character_that_turns_the_direction_turns_nothing(panel, turn):
    it = panel()
    line = f"abc{chr(turn)}def{chr(turn)}ghi\n"
    data = line.encode() + b"next\n"
    it.feed(data)
    shown = it.page.locator(".boundcap-line").first
    edges = shown.evaluate(_EDGES)
    assert len(edges) == 9
    assert edges == sorted(edges)
    assert shown.evaluate("line => line.textContent") == line
    html = static_bundle(Ended(view_of(data)))["text/html"]
    it.page.evaluate("html => { document.querySelector('p').innerHTML = html; }", html)
    edges = it.page.locator("p pre").evaluate(_EDGES)
    assert edges[:9] == sorted(edges[:9])
