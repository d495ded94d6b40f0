"""The benchmarks run, whole and tiny, and say what they must; nothing here depends on how fast anything is."""

import shutil
import subprocess
import sys
from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from tests.benchmarks import inputs, table
from tests.benchmarks.__main__ import main, size_of, size_option
from tests.benchmarks.peers import Peers
from tests.benchmarks.rounds import ROOT, Entrant, Samples, run_rounds
from tests.benchmarks.sections import KINDS
from tests.benchmarks.stopwatch import Measurement, measure


def rows(text: str, title: str) -> dict[str, list[str]]:
    """The cells of a table below its head, by the first one of each row; each row is as wide as the head."""
    lines = text.split(f"### {title}\n")[1].split("###")[0].splitlines()
    split = [
        [cell.replace("\0", "|").strip() for cell in line.replace("\\|", "\0").split("|")[1:-1]]
        for line in lines
        if line.startswith("|")
    ]
    head, _, *body = split
    assert {len(row) for row in body} == {len(head)}
    return {" / ".join(row[:2]) if title == "Goals" else row[0]: row[1:] for row in body}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> tuple[str, Path]:
    """(what was printed, the document that it was written into): one round of everything, no peer is installed."""
    directory = tmp_path_factory.mktemp("benchmarks")
    document, scratch = directory / "document.md", directory / "scratch"
    document.write_text(f"before\n{table.BEGIN}\nthe last one\n{table.END}\nafter\n")
    scratch.mkdir()
    options = "--rounds 1 --size 64K --seconds 0.5".split()
    places = ["--peers", str(directory / "none"), "--directory", str(scratch), "--write", str(document)]
    command = [sys.executable, "-m", "tests.benchmarks", *options, *places]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert list(scratch.iterdir()) == []
    return done.stdout, document


def test_a_flood_is_measured_beside_all_others_and_says_who_is_not_there(tiny):
    found = rows(tiny[0], "64 KiB of log lines")
    names = " ".join(found)
    for name in ("tee FILE", "cat >FILE", "cat >/dev/null", "capture_output", "%%bash", "subprocess-tee", "agentfield"):
        assert name in names
    missing = {name for name, cells in found.items() if "python -m tests.benchmarks.peers" in cells[0]}
    assert {name.split()[0] for name in missing} == {"subprocess-tee", "agentfield", "pi-agent-core"}
    for name, (wall, to_tee, to_floor, cpu, *_) in found.items():
        if name not in missing:
            assert wall.endswith(" s"), name
            assert cpu.endswith(" s"), name
            assert float(to_tee.replace(",", "")) > 0
            assert float(to_floor.replace(",", "")) > 0
    for name in ("**`run`, complete output in a file**", "**`run`, no file**"):
        *_, grown, updates, update_bytes = found[name]
        assert grown.endswith(" MB")
        assert int(updates) >= 1
        # The view is 50 KB; metadata and escapes in JSON come on top.
        assert int(update_bytes.removesuffix(" kB").replace(",", "")) >= 50
    assert found["`cat F | tee FILE | tail -c 51200`"][1] == "1.00"
    assert found["`cat F | cat >FILE`"][2] == "1.00"


def test_every_kind_of_output_is_measured_beside_plain_lines(tiny):
    found = rows(tiny[0], "Kinds of output, no file")
    assert list(found) == [kind.name for kind in KINDS]
    assert found["one line"][0] == "64 KiB"
    assert found["plain lines"][2] == "1.00"


def test_every_goal_stands_beside_what_was_measured(tiny):
    found = {name: measured for name, [_, measured] in rows(tiny[0], "Goals").items()}
    flood = "64 KiB of log lines, complete output in a file"
    # Without pi-agent-core there is nothing to say of it.
    assert {name for name in found if name.startswith(flood)} == {
        f"{flood} / {goal}" for goal in ("≤ 0.6 × tee", "≤ 1.5 × floor", "memory ≤ 8 MB")
    }
    assert found["64 floods at once for 0.5 s / every total exact"].startswith("64 of 64, ")
    assert found["`import boundcap_jupyter` / ipywidgets not loaded"] == "not loaded"
    for beginning in (
        "the same, no file",
        "256 KiB instead of 64 KiB",
        "610 writes of 8 bytes",
        "a 50 KB view",
        "`run(",
    ):
        assert any(name.startswith(beginning) for name in found), beginning
    # How many there are depends on the machine; the last one always replaces.
    assert " replace" in found["one new line each 10 ms / a slide each 100 ms"]


def test_the_tables_are_put_between_the_marks_and_say_how_to_make_them_again(tiny):
    printed, document = tiny
    assert document.read_text() == f"before\n{table.BEGIN}\n\n{printed.strip()}\n\n{table.END}\nafter\n"
    assert printed.startswith("`python -m tests.benchmarks --rounds 1 --size 64K --seconds 0.5` on ")


def test_the_readme_has_the_marks():
    table.around(ROOT / "README.md")


def test_a_document_without_the_marks_is_refused_before_anything_is_measured(tmp_path, capsys):
    document = tmp_path / "document.md"
    document.write_text(f"{table.END} before {table.BEGIN}")
    with pytest.raises(ValueError, match="must have a line"):
        main(["--write", str(document)])
    assert capsys.readouterr().err == ""
    assert document.read_text() == f"{table.END} before {table.BEGIN}"


def test_what_the_disk_has_no_room_for_is_left_out_and_named(tmp_path, capsys):
    free = shutil.disk_usage(tmp_path).free
    options = ["--only", "long", "--size", str(free), "--directory", str(tmp_path)]
    assert main(options) == 0
    assert "Not measured: `long`, which needs " in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "size"), [("500001", 500_001), ("3K", 3072), ("64m", 64 * 1024**2), ("2G", 2 * 1024**3)]
)
def test_a_size_is_read_and_written_again(text, size):
    assert size_of(text) == size
    assert size_of(size_option(size)) == size


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5G", "1T", "G"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ArgumentTypeError, match="must be a size"):
        size_of(text)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_an_input_has_its_size_and_is_the_same_each_time(tmp_path, kind):
    size = inputs.BLOCK + 1_000_001
    first = inputs.make(tmp_path / "first", kind.pieces, size).read_bytes()
    assert len(first) == size
    assert inputs.make(tmp_path / "second", kind.pieces, size).read_bytes() == first


def test_the_inputs_are_what_their_names_say(tmp_path):
    def block(pieces) -> bytes:
        return inputs.make(tmp_path / "input", pieces, 100_000).read_bytes()

    plain = block(inputs.log_lines)
    assert not set(plain) - {10, *range(32, 127)}
    assert 50 < len(plain) / plain.count(b"\n") < 120
    assert block(inputs.crlf_lines).count(b"\r\n") == block(inputs.crlf_lines).count(b"\n") > 500
    assert b"\n" not in block(inputs.one_line)
    assert block(inputs.frames).count(b"\r") > 10 * block(inputs.frames).count(b"\n") > 0
    assert block(inputs.erased_frames).count(b"\r\x1b[K") == block(inputs.erased_frames).count(b"\r")
    assert block(inputs.nested_bars).count(b"\x1b[A") > 500
    assert len(set(block(inputs.random_bytes))) == 256
    assert any(byte > 127 for byte in block(inputs.utf8_lines))
    assert block(inputs.sgr_lines).count(b"\x1b[0m") >= block(inputs.sgr_lines).count(b"\n") > 500


def test_a_ratio_is_the_median_of_those_within_rounds_for_the_whole_input():
    slow = Samples(Entrant("slow", "", share=4), [Measurement(wall, 1.0) for wall in (1, 10, 3)])
    fast = Samples(Entrant("fast", ""), [Measurement(wall, 1.0) for wall in (2, 10, 3)])
    assert slow.ratio(fast) == 4
    assert (slow.wall, slow.cpu) == (12, 4)


def test_memory_that_was_had_before_does_not_count_and_what_comes_does():
    # In a process that has had no peak yet, as each measured program is.
    work = """
from tests.benchmarks.stopwatch import measure
kept = bytearray(b"x") * 50_000_000
print(measure(lambda: bytearray(b"x") * 200_000_000).grown, measure(lambda: None).grown)
"""
    done = subprocess.run([sys.executable, "-c", work], cwd=ROOT, capture_output=True, text=True, check=True)
    grown, nothing = map(int, done.stdout.split())
    assert 190_000_000 < grown < 215_000_000
    assert nothing == 0


def test_cpu_of_children_counts(tmp_path):
    spin = "import time\nwhile time.process_time() < 0.3: pass"
    assert measure(lambda: subprocess.run([sys.executable, "-c", spin], check=True)).cpu >= 0.3


def test_a_program_that_fails_is_named_with_what_it_said_and_leaves_nothing(tmp_path):
    failing = Entrant("failing", "ours", ("true",))
    with pytest.raises(RuntimeError, match=r"(?s)failing failed \(exit code 1\).*spill"):
        run_rounds([failing], 1, tmp_path, lambda text: None)
    assert list(tmp_path.iterdir()) == []


def test_peers_are_there_when_they_are_installed_and_of_the_version_that_is_compared_with(tmp_path):
    peers = Peers(tmp_path)
    assert (peers.python_with("subprocess-tee"), peers.pi()) == (None, None)
    packages = tmp_path / "venv/lib/python3.99/site-packages"
    (packages / "subprocess_tee-0.0.1.dist-info").mkdir(parents=True)
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir()
    python.touch()
    assert peers.python_with("subprocess-tee") is None
    (packages / "subprocess_tee-0.4.2.dist-info").mkdir()
    assert peers.python_with("subprocess-tee") == [str(python)]
    assert peers.python_with("agentfield") is None


def test_numbers_read_as_people_write_them():
    assert [table.seconds(1.234), table.milliseconds(0.0123), table.seconds(None)] == ["1.23 s", "12.3 ms", "–"]
    assert [table.megabytes(2_340_000), table.megabytes(3_100_000_000)] == ["2.3 MB", "3,100 MB"]
    assert [table.ratio(0.514), table.ratio(0.0123), table.ratio(12)] == ["0.51", "0.012", "12.00"]
    assert [table.binary_size(1024**3), table.binary_size(1536 * 1024), table.binary_size(777)] == [
        "1 GiB",
        "1,536 KiB",
        "777 bytes",
    ]
