import re

import nbformat
import pytest

from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.show import static
from boundcap_jupyter.show.markup import plain_text
from boundcap_jupyter.show.palette import BACKGROUND, READABLE, contrast, from_hex
from boundcap_jupyter.show.static import FRAME, LEAST_TEXT, MAX_RATIO, static_bundle
from boundcap_jupyter.show.summary import status_line
from tests.show.examples import FAILED, NUMBERS, Ended, spilled, view_of, view_with
from tests.show.page import Page

RED = b"".join(b"\x1b[31merror\x1b[0m: line %d of a build that says a lot\n" % n for n in range(3000))
RAINBOW = b"".join(b"\x1b[38;5;%d;48;5;%d;1;4mx\x1b[0m" % (n % 256, n * 7 % 256) for n in range(3000))


def _in_file(bundle):
    def size(data):
        output = nbformat.v4.new_output("display_data", data)
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", id="a", outputs=[output])])
        return len(nbformat.writes(notebook).encode())

    return size(bundle) - size({})


def test_plain_text_ends_with_the_status_line():
    ended = Ended(view_of(b"\x1b[31mone\x1b[0m\n"))
    assert static_bundle(ended)["text/plain"] == "one\nexit 0 · 1 line · 13 B · 0.4 s"


def test_a_last_line_without_newline_does_not_run_into_the_status_line():
    assert static_bundle(Ended(view_of(b"no newline")))["text/plain"].startswith("no newline\nexit 0 · 1 line")


def test_nothing_turns_the_direction_of_plain_text_and_nothing_is_lost():
    outcome = Ended(view_of("user\u202egnp.exe\n".encode()))
    assert static_bundle(outcome)["text/plain"].startswith("user\u2068\u202e\u2069\u2069gnp.exe\nexit 0")


def test_a_run_that_printed_nothing_is_its_status_line():
    ended = Ended(view_of(b""))
    bundle = static_bundle(ended)
    assert bundle["text/plain"] == status_line(ended.status, ended.view)
    assert "<pre" not in bundle["text/html"]
    assert Page(bundle["text/html"]).words == "|done|0.4 s|0 B|0 lines"


def test_html_shows_state_totals_text_and_what_is_left_out(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    page = Page(static_bundle(Ended(spilled(view_of(NUMBERS), "/home/ada/<b>/output.log"), FAILED))["text/html"])
    assert page.words == (
        "|failed · exit 3|0.4 s|13,893 B|3,000 lines|last 2,000 of 3,000 lines|complete output: |~/<b>/output.log"
    )
    assert page.text == "".join(f"{n}\n" for n in range(1001, 3001))
    assert page.strangers() == []


def test_html_says_that_others_could_still_print():
    status = RunStatus(RunState.EXITED, 0, pipe_held=2)
    words = Page(static_bundle(Ended(view_of(b"x\n"), status))["text/html"]).words
    assert words.endswith("|2 processes still hold the output")


def test_html_says_why_a_run_failed():
    status = RunStatus(RunState.SPILL_ERROR, detail="no space left on <disk>")
    page = Page(static_bundle(Ended(view_of(b"x\n"), status))["text/html"])
    assert page.words == "|failed · output could not be kept|0.0 s|2 B|1 line|no space left on <disk>"


def test_a_tail_starts_at_its_end_and_a_head_at_its_beginning():
    assert "flex-direction:column-reverse'" in static_bundle(Ended(view_of(b"x")))["text/html"]
    assert "flex-direction:column'" in static_bundle(Ended(view_of(b"x", retain="head")), "head")["text/html"]


def test_a_head_is_called_a_head_in_both():
    bundle = static_bundle(Ended(view_of(NUMBERS, retain="head")), "head")
    assert "first 2,000 lines shown" in bundle["text/plain"]
    assert "first 2,000 of 3,000 lines" in bundle["text/html"]


def test_only_duration_and_path_differ_between_two_runs_that_print_the_same():
    def bundle(duration, path):
        return static_bundle(Ended(spilled(view_of(RED), path), RunStatus(RunState.EXITED, 0, duration=duration)))

    one, other = bundle(0.4, "/x/output.log"), bundle(7260, "/a/much/longer/" + "path/" * 40 + "output.log")
    assert one != other
    for mime in one:
        shortened = other[mime].replace("2 h 01 min", "0.4 s").replace("/a/much/longer/" + "path/" * 40, "/x/")
        assert shortened == one[mime]


@pytest.mark.parametrize(
    "data",
    [
        b"".join(b"%d\n" % n for n in range(198_001, 200_001)),
        NUMBERS,
        RED,
        RAINBOW,
        b"&<>" * 30_000,
        b'"\\\t' * 30_000,
        b"\xe2\x80\xae" * 20_000,
        "漢字 🎉 über\n".encode() * 3000,
        b"plain words, as a log has them, sixty or so in every line\n" * 3000,
        b"\x1b]8;;https://example.org/\x1b\\x\x1b]8;;\x1b\\ " * 3000,
    ],
    ids=["seq", "numbers", "red", "rainbow", "html", "json", "bidi", "wide", "log", "links"],
)
def test_in_the_file_it_takes_at_most_six_times_the_view(data):
    view = view_of(data)
    bundle = static_bundle(Ended(spilled(view, "/x/output.log")))
    assert _in_file(bundle) <= MAX_RATIO * len(view.text.encode())
    page = Page(bundle["text/html"])
    assert page.strangers() == []
    assert page.text
    assert page.text == plain_text(view) or "to save space" in page.words


@pytest.mark.parametrize(
    "data", [b"\n" * 3000, b"y\n" * 3000, b"x\n", RAINBOW[:2000]], ids=["empty", "yes", "x", "small"]
)
def test_where_lines_are_too_short_for_that_the_html_is_small(data):
    bundle = static_bundle(Ended(view_of(data)))
    assert _in_file({"text/html": bundle["text/html"]}) <= LEAST_TEXT + FRAME


def test_the_frame_is_as_large_as_is_said():
    path = "/" + "p" * 199
    status = RunStatus(RunState.SPILL_ERROR, 143, "SIGTERM", 360_000, "no space left on the disk of the home directory")
    view = view_with("x", spill_path=path, spill_state="incomplete", spill_bytes=10**12, truncated=True)
    assert _in_file({"text/html": static_bundle(Ended(view, status), token="f" * 16)["text/html"]}) <= FRAME


def test_without_its_styles_its_words_stand_apart():
    html = static_bundle(Ended(spilled(view_of(NUMBERS), "/x/output.log")))["text/html"]
    bare = re.sub(r"<[^>]*>", "", re.sub(r"<pre.*</pre>", "\n", html))
    assert bare == "done 0.4 s 13,893 B 3,000 lines\nlast 2,000 of 3,000 lines complete output: /x/output.log"


def test_it_has_no_class_no_id_no_style_sheet_and_no_colour_but_hex():
    html = static_bundle(Ended(spilled(view_of(RED), "/x"), FAILED))["text/html"]
    assert not re.search(r"<style|<script|class=|id=|var\(|calc\(|rgb|hsl|oklch|url", html)
    assert '"' not in html
    assert "\n" not in html


def test_its_own_words_read_on_their_ground():
    for colour in [*static._OUTCOMES.values(), static.QUIET]:
        for ground in (BACKGROUND, static._BAR):
            assert contrast(from_hex(colour), from_hex(ground)) >= READABLE


# --- a standard error that is kept apart


def _separate(out, errors, status=FAILED):
    return Ended(view_of(out) if isinstance(out, bytes) else out, status, view_of(errors))


def test_two_texts_stand_under_their_headings_and_the_status_line_is_the_last():
    ended = _separate(b"\x1b[31mone\x1b[0m", b"two\nthree\n")
    assert static_bundle(ended)["text/plain"] == (
        "[stdout]\none\n[stderr]\ntwo\nthree\nfailed · exit 3 · stdout: 1 line, 12 B · stderr: 2 lines, 10 B · 0.4 s"
    )


def test_each_text_says_what_is_shown_and_has_its_own_spill(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    out = spilled(view_of(NUMBERS), "/home/ada/output.log")
    ended = Ended(out, FAILED, spilled(view_of(RED), "/home/ada/stderr.log"))
    bundle = static_bundle(ended)
    lines = bundle["text/plain"].splitlines()
    assert lines[0] == "[stdout] last 2,000 of 3,000 lines · complete output: ~/output.log"
    (second,) = [line for line in lines if line.startswith("[stderr]")]
    assert second.endswith(" of 3,000 lines · complete output: ~/stderr.log")
    page = Page(bundle["text/html"])
    assert page.words.startswith(
        "|failed · exit 3|0.4 s"
        "|stdout|13,893 B|3,000 lines|last 2,000 of 3,000 lines|complete output: |~/output.log"
        f"|stderr|{len(RED):,} B|3,000 lines|last "
    )
    assert page.words.endswith("|complete output: |~/stderr.log")
    assert page.text == plain_text(ended.view) + plain_text(ended.stderr_view)
    assert page.strangers() == []


def test_a_standard_error_without_text_is_only_named():
    bundle = static_bundle(_separate(b"one\n", b""))
    assert bundle["text/plain"] == "one\nfailed · exit 3 · 1 line · 4 B · 0.4 s · stderr: nothing"
    assert Page(bundle["text/html"]).words == "|failed · exit 3|0.4 s|4 B|1 line|stderr: nothing"


def test_a_standard_error_alone_is_named_as_such():
    bundle = static_bundle(_separate(b"", b"two\n"))
    assert bundle["text/plain"] == "[stderr]\ntwo\nfailed · exit 3 · stdout: nothing · stderr: 1 line, 4 B · 0.4 s"
    page = Page(bundle["text/html"])
    assert page.words == "|failed · exit 3|0.4 s|stdout|nothing|stderr|4 B|1 line"
    assert page.text == "two\n"


def test_the_standard_error_is_no_failure():
    html = static_bundle(_separate(b"one\n", b"error!\n", RunStatus(RunState.EXITED, 0)))["text/html"]
    assert static._OUTCOMES["bad"] not in html
    assert Page(html).words.startswith("|done|")


def test_why_a_run_failed_is_said_once():
    status = RunStatus(RunState.SPILL_ERROR, detail="no space left")
    words = Page(static_bundle(_separate(b"one\n", b"two\n", status))["text/html"]).words
    assert words.count("no space left") == 1
    assert words.endswith("|no space left")


@pytest.mark.parametrize("errors", [NUMBERS, RED, RAINBOW, b"&<>" * 30_000], ids=["numbers", "red", "rainbow", "html"])
@pytest.mark.parametrize("out", [NUMBERS, RED, RAINBOW], ids=["numbers", "red", "rainbow"])
def test_two_views_take_at_most_six_times_each_of_them(out, errors):
    views = [spilled(view_of(data), "/x/output.log") for data in (out, errors)]
    bundle = static_bundle(Ended(views[0], FAILED, views[1]))
    assert _in_file(bundle) <= sum(MAX_RATIO * len(view.text.encode()) for view in views)
    page = Page(bundle["text/html"])
    assert page.text == plain_text(views[0]) + plain_text(views[1]) or "to save space" in page.words


def test_a_large_view_takes_nothing_from_the_room_of_a_small_one():
    html = static_bundle(_separate(RAINBOW * 5, b"\x1b[31mred\x1b[0m\n"))["text/html"]
    assert "red</span>" in html.rpartition("<pre")[2]


def test_two_frames_are_as_large_as_is_said():
    path = "/" + "p" * 199
    status = RunStatus(RunState.SPILL_ERROR, 143, "SIGTERM", 360_000, "no space left on the disk of the home directory")
    view = view_with("x", spill_path=path, spill_state="incomplete", spill_bytes=10**12, truncated=True)
    assert _in_file({"text/html": static_bundle(Ended(view, status, view), token="f" * 16)["text/html"]}) <= 2 * FRAME


def test_without_its_styles_the_words_of_both_stand_apart():
    html = static_bundle(_separate(NUMBERS, b"two\n"))["text/html"]
    # Blocks stand on lines of their own.
    bare = re.sub(r"<[^>]*>", "", re.sub(r"<pre.*?</pre>|</?(div|details|summary)\b[^>]*>", "\n", html))
    assert re.findall(r".+", bare) == [
        "failed · exit 3 0.4 s",
        "stdout 13,893 B 3,000 lines",
        "last 2,000 of 3,000 lines the rest was not kept",
        "stderr 4 B 1 line",
    ]


def test_the_root_is_marked_with_the_token_of_a_run_that_has_a_panel_and_nothing_else_is():
    ended = Ended(view_of(NUMBERS))
    marked, bare = static_bundle(ended, token="0123456789abcdef"), static_bundle(ended)
    assert marked["text/plain"] == bare["text/plain"]
    mark = "class='boundcap-result boundcap-run-0123456789abcdef' "
    assert marked["text/html"].replace(f"<div {mark}style=", "<div style=", 1) == bare["text/html"]
    assert "class=" not in bare["text/html"]
