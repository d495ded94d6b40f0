"""`run_with_capture`: which update gives which chunk, and what a program sees of a real run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundcap_jupyter import CommandFailed, ExecutionError, Result, RunState, run_with_capture
from boundcap_jupyter.chunks import Chunks
from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.publisher import AdaptivePublisher
from boundcap_jupyter.core.update import Append, Metadata, Replace, Rewrite, Slide
from tests.show.examples import view_of, view_with

FACTS = view_with("").metadata


def chunks_of(*updates):
    chunks = []
    sink = Chunks(chunks.append)
    for update in updates:
        sink(update)
    return chunks


# --- the rules, update by update


def test_the_first_replace_gives_its_text_and_metadata_gives_nothing():
    assert chunks_of(Replace(view_of(b"one\n")), Metadata(FACTS)) == ["one\n"]


def test_appends_and_slides_give_their_text():
    updates = [Replace(view_of(b"one\n")), Append("two\n", FACTS), Slide(4, "three\n", FACTS), Slide(4, "", FACTS)]
    assert chunks_of(*updates) == ["one\n", "two\n", "three\n"]


def test_an_empty_first_replace_gives_nothing_and_the_next_text_is_the_first():
    assert chunks_of(Replace(view_of(b""))) == []
    assert chunks_of(Replace(view_of(b"")), Append("one\n", FACTS)) == ["one\n"]
    assert chunks_of(Replace(view_with("")), Replace(view_of(b"one\n"))) == ["one\n"]


def test_a_later_replace_repeats_nothing():
    view = view_of(b"one\ntwo\n")
    assert chunks_of(Replace(view), Replace(view), Replace(view_of(b"one\ntwo\n"))) == ["one\ntwo\n"]


def test_a_later_replace_gives_what_an_append_or_a_slide_in_its_place_would_have_given():
    append = Replace(view_of(b"1\n2\n3\n"))
    assert chunks_of(Replace(view_of(b"1\n")), Append("2\n", FACTS), append) == ["1\n", "2\n", "3\n"]
    slide = Replace(view_of(b"1\n2\n3\n4\n", max_lines=2))
    assert chunks_of(Replace(view_of(b"1\n2\n", max_lines=2)), Slide(2, "3\n", FACTS), slide) == [
        "1\n2\n",
        "3\n",
        "4\n",
    ]


def test_a_later_replace_by_something_else_gives_nothing_and_the_slide_after_that_gap_goes_on():
    numbers = b"".join(b"%d\n" % n for n in range(100))
    jump, after = view_of(numbers[:-3], max_lines=2), view_of(numbers, max_lines=2)
    assert after.text == "98\n99\n"
    updates = [Replace(view_of(b"0\n1\n", max_lines=2)), Replace(jump), Slide(3, "99\n", after.metadata)]
    assert chunks_of(*updates) == ["0\n1\n", "99\n"]


def test_text_behind_a_gap_starts_on_a_line_of_its_own():
    assert chunks_of(Replace(view_of(b"open")), Replace(view_of(b"other")), Append("!\n", FACTS)) == ["open", "\n!\n"]


def test_a_rewrite_gives_the_lines_as_they_now_read_below_those_that_they_replace():
    start = Replace(view_of(b"a\n10 %"))
    assert chunks_of(start, Rewrite(0, 4, "20 %", FACTS), Append("!\n", FACTS)) == ["a\n10 %", "\n20 %", "!\n"]
    assert chunks_of(Replace(view_of(b"a\nb\n")), Rewrite(0, 2, "B\n", FACTS)) == ["a\nb\n", "B\n"]


def test_a_rewrite_that_only_erases_gives_nothing_and_what_follows_has_a_line_of_its_own():
    assert chunks_of(Replace(view_of(b"10 %")), Rewrite(0, 4, "", FACTS), Append("done\n", FACTS)) == [
        "10 %",
        "\ndone\n",
    ]


def test_chunks_have_no_colours_and_are_never_empty():
    updates = [Replace(view_of(b"\x1b[31mred")), Append("\x1b[0m", FACTS), Append(" plain\n", FACTS)]
    assert chunks_of(*updates) == ["red", " plain\n"]


def test_the_first_replace_of_both_ends_says_what_is_missing_between_them():
    view = view_of(b"".join(b"%d\n" % n for n in range(100)), max_lines=4, retain="both")
    assert chunks_of(Replace(view)) == ["0\n… 96 lines, 279 B not shown …\n97\n98\n99\n"]


# --- whatever a publisher makes of it

lines = st.lists(st.text("ab🎉\t ", max_size=6), min_size=1, max_size=60)


@given(lines, st.sampled_from(["tail", "head", "both"]), st.integers(1, 12), st.integers(1, 4))
def test_joined_they_are_the_output_if_the_view_misses_nothing(texts, retain, max_lines, seconds):
    data = [f"{number} {text}\n".encode() for number, text in enumerate(texts)]
    capture = OutputCapture(OutputLimits(max_lines=max(max_lines, 8), retain=retain))
    chunks, publisher = [], AdaptivePublisher(capture.view)
    sink = Chunks(chunks.append)
    for number, line in enumerate(data):
        capture.feed(line)
        publisher.mark()
        # Now and then a replace takes the place of a step.
        if (update := publisher.poll(number * seconds)) is not None:
            sink(update)
    capture.finish()
    sink(publisher.finish(len(data) * seconds))
    whole = b"".join(data).decode()
    joined = "".join(chunks)
    assert joined == (capture.view().text if retain == "head" else whole)


# --- a run


def test_it_returns_one_bounded_result_and_gives_the_text_while_it_runs(tmp_path):
    chunks = []

    def receive(text):
        chunks.append(text)
        # The command waits for this file: it goes on only if its first line is given before its end.
        go.touch()

    go = tmp_path / "go"
    script = f"echo one; while [ ! -e {go} ]; do sleep 0.01; done; echo two; echo error >&2"
    result = run_with_capture(script, on_chunk=receive, max_lines=100)
    assert isinstance(result, Result)
    assert result.text == "one\ntwo\nerror\n"
    assert result.truncation.total_lines == 3
    assert "".join(chunks) == "one\ntwo\nerror\n"


def test_what_is_printed_just_before_the_end_is_given_too():
    chunks = []
    run_with_capture("echo one; sleep 0.02; echo two; sleep 0.02; printf three", chunks.append)
    assert "".join(chunks) == "one\ntwo\nthree"


def test_a_progress_bar_is_a_log_of_its_states():
    chunks = []
    script = r"echo job; for i in 1 2 3; do printf '\rstep %s' $i; sleep 1; done; echo"
    result = run_with_capture(script, chunks.append)
    assert result.text == "job\nstep 3\n"
    states = "".join(chunks).splitlines()
    # A machine that is busy may let one pass unseen; the last is always there.
    assert states[0] == "job"
    assert states[-1] == "step 3"
    assert set(states[1:]) <= {"step 1", "step 2", "step 3"}
    assert len(states[1:]) == len(set(states[1:]))


def test_a_progress_bar_without_company_changes_all_of_the_view_and_gives_its_first_state():
    updates = [Replace(view_of(b"1 %")), Replace(view_of(b"1 %\r2 %")), Append("\n", FACTS), Append("end\n", FACTS)]
    assert chunks_of(*updates) == ["1 %", "\n", "end\n"]


def test_a_command_that_prints_nothing_gives_no_chunk():
    chunks = []
    assert run_with_capture("true", on_chunk=chunks.append).text == ""
    assert chunks == []


def test_a_flood_gives_bounded_chunks():
    chunks = []
    result = run_with_capture("seq 1 2000000", on_chunk=chunks.append)
    assert result.truncation.total_lines == 2_000_000
    assert max(len(chunk) for chunk in chunks) <= 51200 + 1


def test_a_receiver_that_raises_ends_the_command_and_the_output_is_kept():
    given_ = []

    def broken(text):
        given_.append(text)
        raise LookupError("no")

    with pytest.raises(ExecutionError) as caught:
        run_with_capture("echo kept; sleep 60", on_chunk=broken)
    assert caught.value.state is RunState.CALLBACK_ERROR
    assert isinstance(caught.value.__cause__, LookupError)
    assert caught.value.result.text == "kept\n"
    assert given_ == ["kept\n"]


def test_it_takes_the_arguments_of_run_and_raises_as_run_does(tmp_path):
    result = run_with_capture(
        ["sh", "-c", "pwd; echo $A; cat"],
        cwd=tmp_path,
        env={"A": "x"},
        stdin="in\n",
        retain="head",
        max_bytes=1000,
        spill=False,
        encoding="latin-1",
    )
    assert result.text == f"{tmp_path}\nx\nin\n"
    with pytest.raises(CommandFailed):
        run_with_capture("exit 3", check=True)
    with pytest.raises(ExecutionError):
        run_with_capture("sleep 60", timeout=0.1)
    with pytest.raises(ValueError, match="max_lines"):
        run_with_capture("true", max_lines=0)
