import pytest

from boundcap_jupyter.core.sgr import PLAIN, Style
from boundcap_jupyter.core.text import Span, plain, safe_link, spans

LINKED = "see \x1b]8;;https://example.org/a\x1b\\the \x1b[1mpage\x1b]8;;\x1b\\\x1b[0m.\n"


def test_plain_text_has_neither_colours_nor_links():
    assert plain(LINKED) == "see the page.\n"
    assert plain("as it is\t\n") == "as it is\t\n"


def test_spans_carry_the_style_and_the_link_of_their_text():
    assert list(spans(LINKED)) == [
        Span("see ", PLAIN),
        Span("the ", PLAIN, "https://example.org/a"),
        Span("page", Style(bold=True), "https://example.org/a"),
        Span(".\n", PLAIN),
    ]


def test_spans_begin_in_the_style_that_leads_the_text():
    assert list(spans("red\x1b[0m no", "\x1b[31m")) == [Span("red", Style(foreground=1)), Span(" no", PLAIN)]
    assert list(spans("")) == []


@pytest.mark.parametrize(
    "address",
    ["http://example.org", "https://example.org:8/a_b/~c?d=e&f=%20#g", "HTTPS://EXAMPLE.ORG/(x)", "https://[::1]/"],
)
def test_a_web_address_may_become_a_link(address):
    assert safe_link(address) == address


@pytest.mark.parametrize(
    "address",
    [
        "",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//example.org",
        "https://",
        'https://example.org/"onclick="x',
        "https://example.org/<b>",
        "https://example.org/a b",
        "https://example.org/\u202e",
        "https://example.org/" + "x" * 2000,
        "xhttps://example.org",
    ],
)
def test_anything_else_does_not(address):
    assert safe_link(address) == ""
