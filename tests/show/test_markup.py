import html
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from boundcap_jupyter.core.text import plain
from boundcap_jupyter.show.markup import bytes_in_file, escaped, fit, isolated, plain_text
from boundcap_jupyter.show.palette import ANSI, FOREGROUND
from tests.show.examples import view_of, view_with
from tests.show.page import Page

ROOM = 10_000_000
#: What a hostile or merely odd program prints, in pieces.
PIECES = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "&lt;b&gt;",
    "&",
    "'\"><style>*{}</style>",
    "<!--",
    "]]>",
    "</pre></div>",
    "\x1b[31m",
    "\x1b[1;38;2;1;2;3;48;5;200m",
    "\x1b[0m",
    "\x1b]8;;https://example.org/?a=1&b='2'\x1b\\",
    "\x1b]8;;javascript:alert(1)\x1b\\",
    "\x1b]8;;\x1b\\",
    "\u202e",
    "\u2067",
    "\u2069",
    "\u2028",
    "é漢🎉",
    "\t",
    "\n",
    "\r",
    "\x00",
    "word ",
]
outputs = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=30).map("".join)


@given(outputs)
@example("".join(PIECES))
def test_whatever_is_printed_is_shown_as_text(output):
    view = view_of(output.encode("utf-8", "replace"))
    markup = fit(view, "tail", ROOM)
    page = Page(markup.html, inside_pre=True)
    assert page.text == plain(view.text)
    assert page.strangers() == []
    assert {tag for tag, _ in page.elements} <= {"span", "a", "br", "bdi"}
    assert markup.left_out == ""


@given(outputs, st.integers(0, 2000), st.sampled_from(["tail", "head"]))
def test_it_fits_and_shows_the_end_that_was_kept(output, budget, retain):
    view = view_of(output.encode("utf-8", "replace"), retain=retain)
    markup = fit(view, retain, budget)
    assert bytes_in_file(markup.html) <= max(budget, 2)
    shown, whole = Page(markup.html, inside_pre=True).text, plain(view.text)
    if retain == "head":
        assert whole.startswith(shown.removesuffix("\n"))
    else:
        # The newline at the end is the first thing that there may be no room for.
        assert (whole.removesuffix("\n") + "\n").endswith(shown) or whole.removesuffix("\n").endswith(shown)
    assert markup.left_out or markup == fit(view, retain, ROOM)


def test_colours_go_before_lines():
    view = view_of(b"".join(b"\x1b[31m%d\x1b[0m\n" % n for n in range(100)))
    whole = fit(view, "tail", ROOM)
    assert f"<span style='color:{ANSI[1]}'>99</span><br>" in whole.html
    bare = fit(view, "tail", bytes_in_file(whole.html) - 1)
    assert Page(bare.html, inside_pre=True).text == plain(view.text)
    assert "<span" not in bare.html
    assert bare.left_out == "without colours, to save space"
    cut = fit(view, "tail", 62)
    assert Page(cut.html, inside_pre=True).text == "".join(f"{n}\n" for n in range(90, 100))
    assert cut.left_out == "only the last 10 lines here, without colours, to save space"


def test_of_a_head_the_beginning_stays():
    view = view_of(b"".join(b"%d\n" % n for n in range(100)), retain="head")
    cut = fit(view, "head", 22)
    assert Page(cut.html, inside_pre=True).text == "0\n1\n2\n3\n"
    assert cut.left_out.startswith("only the first 4 lines here")


@pytest.mark.parametrize(("retain", "part"), [("tail", "&amp;&lt;"), ("head", "&lt;&amp;")])
def test_of_a_line_that_does_not_fit_a_part_is_there(retain, part):
    text = "<" + "&" * 100 + "<" if retain == "tail" else "<" + "&" * 100
    cut = fit(view_of(text.encode(), retain=retain), retain, 2 + len(part))
    assert cut.html == part
    assert cut.left_out.startswith("only the ")


def test_a_colour_that_is_already_on_is_used():
    view = view_of(b"\x1b[31m" + b"one\n" * 100 + b"two\n", max_lines=1)
    assert view.metadata.lead_sgr
    assert fit(view, "tail", ROOM).html.startswith(f"<span style='color:{ANSI[1]}'>two")


def test_a_link_opens_apart_and_reads():
    view = view_of(b"\x1b]8;;https://example.org/?a=1&b=2\x1b\\\x1b[31mhere\x1b[0m\x1b]8;;\x1b\\ there")
    (tag, attributes), *rest = Page(fit(view, "tail", ROOM).html, inside_pre=True).elements
    assert (tag, rest) == ("a", [])
    assert attributes["href"] == "https://example.org/?a=1&b=2"
    assert attributes["rel"] == "noopener noreferrer"
    assert attributes["style"] == f"color:{FOREGROUND};color:{ANSI[1]};text-decoration:underline"


def test_a_link_that_no_capture_has_seen_is_text_unless_it_is_safe():
    for address in ("javascript:alert(1)", "https://x' onclick='alert(1)", "data:text/html,x", "HTTPS://x\ny"):
        view = view_with(f"\x1b]8;;{address}\x1b\\here\x1b]8;;\x1b\\")
        assert fit(view, "tail", ROOM).html == "here"


@pytest.mark.parametrize("turn", "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
def test_what_turns_the_direction_of_text_turns_nothing(turn):
    assert escaped(f"user{turn}gnp.exe") == f"user<bdi>{turn}</bdi>gnp.exe"
    isolate = isolated(f"user{turn}gnp.exe").removeprefix("user").removesuffix("gnp.exe")
    assert (isolate[0], isolate[1]) == ("\u2068", turn)
    # Whatever it opens is closed, and the isolate around it too: what follows is on the level of what went before.
    opened = sum(character in "\u2066\u2067\u2068" for character in isolate)
    assert 1 <= opened <= isolate.count("\u2069")
    assert not set(isolate[2:]) - {"\u2069"}


def test_both_ends_stand_apart():
    view = view_with("last\n", head="\x1b[31mfirst", omitted_bytes=1234, omitted_lines=5)
    assert plain_text(view) == "first\n… 5 lines, 1,234 B not shown …\nlast\n"
    coloured = fit(view, "tail", ROOM).html
    assert Page(coloured, inside_pre=True).text == plain_text(view)
    assert coloured.startswith(f"<span style='color:{ANSI[1]}'>first</span><br>")


def test_both_ends_of_what_was_not_cut_are_one_text():
    assert plain_text(view_with("last\n", head="first\n")) == "first\nlast\n"


@given(st.text())
def test_the_size_in_the_file_is_that_of_json(text):
    clean = html.escape(text).encode("utf-8", "replace").decode()
    assert bytes_in_file(clean) == len(json.dumps(clean, ensure_ascii=False).encode())
