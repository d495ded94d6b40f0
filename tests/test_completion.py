"""What could stand at the cursor on the line of a magic."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from boundcap_jupyter.completion import MAX_NAMES, Candidates, complete
from boundcap_jupyter.options import OPTIONS, parse

ALL = tuple(option.name for option in OPTIONS)


# fmt: off
OPTION_CASES: list[tuple[Any, ...]] = [
    (" ",                            Candidates("", ALL)),
    (" -",                           Candidates("-", ALL)),
    (" --",                          Candidates("--", ALL)),
    (" --by",                        Candidates("--by", ("--bytes",))),
    (" --bytes",                     Candidates("--bytes", ("--bytes",))),
    (" --no-",                       Candidates("--no-", ("--no-spill", "--no-raise-error"))),
    (" --zz",                        Candidates("--zz", ())),
    (" --bytes 5 --li",              Candidates("--li", ("--lines",))),
    (" --env 'A=b c' --li",          Candidates("--li", ("--lines",))),
    (" --cwd=/x --no-spill --li",    Candidates("--li", ("--lines",))),
    (" --retain ",                   Candidates("", ("tail", "head", "both"))),
    (" --retain h",                  Candidates("h", ("head",))),
    (" --retain=t",                  Candidates("t", ("tail",))),
    (" --stderr ",                   Candidates("", ("merge", "separate"))),
]
# fmt: on


@pytest.mark.parametrize(("line", "candidates"), OPTION_CASES)
def test_options_and_fixed_values_are_proposed(line: str, candidates: Candidates) -> None:
    assert complete(line) == candidates


@pytest.mark.parametrize(
    "line",
    ["", "x", " make", " make --by", " -- --by", " --bytes 5", " --bytes ", " --out ", " --foo --by", " --foo=", " 'a"],
)
def test_nothing_is_proposed_in_the_command_or_in_free_text(line: str) -> None:
    assert complete(line) is None


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("plain", "my dir", "it's", ".hidden", "plain/inner"):
        (tmp_path / name).mkdir()
    (tmp_path / "plain.txt").touch()
    (tmp_path / "plain-link").symlink_to(tmp_path / "plain")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


# fmt: off
DIRECTORY_CASES: list[tuple[Any, ...]] = [
    ("",            ["it\\'s/", "my\\ dir/", "plain/", "plain-link/"]),
    ("pl",          ["plain/", "plain-link/"]),
    ("plain/",      ["plain/inner/"]),
    ("my\\ d",      ["my\\ dir/"]),
    ("'my d",       ["'my dir/"]),
    ('"my d',       ['"my dir/']),
    ("'i",          []),
    ('"i',          ['"it\'s/']),
    ("~/pl",        ["~/plain/", "~/plain-link/"]),
    ("'~/pl",       []),
    ("$HERE/.h",    ["$HERE/.hidden/"]),
    ('"$HERE/.h',   ['"$HERE/.hidden/']),
    ("'$HERE/.h",   []),
    (".",           [".hidden/"]),
    ("none/",       []),
    ("plain.txt/",  []),
    ("'plain'/",    []),
    ("a\0/",        []),
]
# fmt: on


@pytest.mark.parametrize(("typed", "texts"), DIRECTORY_CASES)
@pytest.mark.parametrize("form", [" --cwd ", " --cwd="])
def test_directories_are_proposed_as_they_are_typed(tree: Path, form: str, typed: str, texts: list[str]) -> None:
    found = complete(form + typed, lambda text: text.replace("$HERE", str(tree)))
    assert found == Candidates(typed, tuple(texts))


# fmt: off
FILE_CASES: list[tuple[Any, ...]] = [
    (" --stdin ",     "pl",          ["plain/", "plain-link/", "plain.txt"]),
    (" --stdin=",     "plain.",      ["plain.txt"]),
    (" --stdin ",     "~/plain.",    ["~/plain.txt"]),
    (" --stdin ",     "'plain.",     ["'plain.txt"]),
    (" --shell ",     "./plain",     ["./plain/", "./plain-link/", "./plain.txt"]),
    (" --shell ",     "~/plain.",    ["~/plain.txt"]),
]
# fmt: on


@pytest.mark.parametrize(("form", "typed", "texts"), FILE_CASES)
@pytest.mark.usefixtures("tree")
def test_files_are_proposed_where_one_is_meant(form: str, typed: str, texts: list[str]) -> None:
    assert complete(form + typed) == Candidates(typed, tuple(texts))


@pytest.mark.usefixtures("tree")
def test_an_interpreter_on_the_path_is_not_looked_for_here() -> None:
    assert complete(" --shell pl") is None


def test_a_proposed_directory_is_one_that_the_parser_takes(tree: Path) -> None:
    (tree / 'a{b} $c"d\\e').mkdir()
    found = complete(" --cwd ")
    assert found is not None
    assert len(found.texts) == 5
    for text in found.texts:
        cwd = parse(f"--cwd {text} x")[0].cwd
        assert cwd is not None
        assert os.path.isdir(cwd)


def test_a_full_directory_gives_a_bounded_list(tmp_path: Path) -> None:
    for number in range(MAX_NAMES + 10):
        (tmp_path / f"d{number}").mkdir()
    found = complete(f" --cwd {tmp_path}/")
    assert found is not None
    assert len(found.texts) == MAX_NAMES
