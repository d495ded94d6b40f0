"""The words on the line of a magic."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from boundcap_jupyter import options as module
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.options import OPTIONS, MagicOptions, OptionError, count, duration, next_word, parse, size

KIB = 1024


def limits(**fields: object) -> MagicOptions:
    return MagicOptions(limits=OutputLimits(**fields))  # type: ignore[arg-type]  # the point of the tables is brevity


# fmt: off
LINES: list[tuple[str, MagicOptions, str]] = [
    ("",                              MagicOptions(), ""),
    ("  \t ",                         MagicOptions(), ""),
    ("make",                          MagicOptions(), "make"),
    ("make -j8 --bytes 3",            MagicOptions(), "make -j8 --bytes 3"),
    ("  make  all  ",                 MagicOptions(), "make  all  "),
    ("--",                            MagicOptions(), ""),
    ("-- --version",                  MagicOptions(), "--version"),
    ("-- -- x",                       MagicOptions(), "-- x"),
    ("'--bytes' 5",                   MagicOptions(), "'--bytes' 5"),
    ("echo 'never closed",            MagicOptions(), "echo 'never closed"),
    ("--bytes 50k make",              limits(max_bytes=50 * KIB), "make"),
    ("--bytes=50k make",              limits(max_bytes=50 * KIB), "make"),
    ("--bytes\t'50k'\tmake",          limits(max_bytes=50 * KIB), "make"),
    ("--bytes 1k --bytes 2k",         limits(max_bytes=2 * KIB), ""),
    ("--lines 5 --retain head cat x", limits(max_lines=5, retain="head"), "cat x"),
    ("--lines=2k -- --x",             limits(max_lines=2000), "--x"),
    ("--no-spill true",               MagicOptions(spill=False), "true"),
    ("--no-raise-error --out r false", MagicOptions(raise_error=False, out="r"), "false"),
    ("--cwd / pwd",                   MagicOptions(cwd="/"), "pwd"),
    ("--env A=1 --env=B=2 --env A=3", MagicOptions(env={"A": "3", "B": "2"}), ""),
    ("--env A= x",                    MagicOptions(env={"A": ""}), "x"),
    ("--env A=b=c x",                 MagicOptions(env={"A": "b=c"}), "x"),
    ("--env 'A=b c' x",               MagicOptions(env={"A": "b c"}), "x"),
    ("--env A=\"b  c\"d\\ e x",       MagicOptions(env={"A": "b  cd e"}), "x"),
    ("--env A={1, 'b c'} x",          MagicOptions(env={"A": "{1, 'b c'}"}), "x"),
    ("--env A={ x",                   MagicOptions(env={"A": "{"}), "x"),
    ("--timeout 1h30m sleep 1",       MagicOptions(timeout=5400.0), "sleep 1"),
    ("--encoding KOI8-R cat x",       MagicOptions(encoding="koi8-r"), "cat x"),
    ("--timeout 60 --idle-timeout 2m x", MagicOptions(timeout=60.0, idle_timeout=120.0), "x"),
    ("--stdin /dev/null cat",         MagicOptions(stdin=Path("/dev/null")), "cat"),
    ("--shell python3 print(1)",      MagicOptions(shell="python3"), "print(1)"),
    ("--shell 'bash -e' false",       MagicOptions(shell="bash -e"), "false"),
    ("--pty top",                     MagicOptions(pty=True), "top"),
    ("--columns 132 --pty ls",        MagicOptions(pty=True, columns=132), "ls"),
    ("--stderr separate make",        MagicOptions(stderr="separate"), "make"),
    ("--stderr=merge make",           MagicOptions(), "make"),
    ("--held kill x",                 MagicOptions(on_held="kill"), "x"),
    ("--held=leave x",                MagicOptions(on_held="leave"), "x"),
    ("--help make",                   MagicOptions(help=True), "make"),
    ("\u00a0--bytes 5",               MagicOptions(), "\u00a0--bytes 5"),
]
# fmt: on


@pytest.mark.parametrize(("line", "options", "command"), LINES, ids=[line for line, _, _ in LINES])
def test_a_line_is_its_options_and_then_its_command(line: str, options: MagicOptions, command: str) -> None:
    assert parse(line) == (options, command)


# fmt: off
WRONG: list[tuple[str, str]] = [
    ("--bytes 0 x",           "--bytes must be a size of at least 64 bytes, such as 800, 50k or 2M, not '0'"),
    ("--bytes 63 x",          "not '63'"),
    ("--bytes -5 x",          "not '-5'"),
    ("--bytes 1.5 x",         "not '1.5'"),
    ("--bytes 50q x",         "not '50q'"),
    ("--bytes= x",            "not ''"),
    ("--bytes",               "--bytes needs a value: a size"),
    ("--bytes --lines 3",     "--bytes needs a value: a size"),
    ("--lines x",             "--lines must be a whole number of at least 1, such as 500 or 2k, not 'x'"),
    ("--lines 0 x",           "not '0'"),
    ("--lines 1__0 x",        "not '1__0'"),
    ("--lines \u0665 x",      "not '\u0665'"),
    ("--retain middle x",     "--retain must be tail, head or both, not 'middle'"),
    ("--cwd /nonexistent x",  "--cwd must be a directory that exists, not '/nonexistent'"),
    ("--cwd 'a\0b' x",        "--cwd must be a directory that exists, not 'a\\x00b'"),
    ("--cwd 'a\nb' x",        "not 'a\\nb'"),
    ("--cwd '/tmp x",         "--cwd has a quote or backslash that nothing closes: \"'/tmp x\""),
    ("--cwd /tmp\\",          "--cwd has a quote or backslash that nothing closes"),
    ("--env A x",             "--env must be NAME=VALUE, not 'A'"),
    ("--env =b x",            "--env must be NAME=VALUE, not '=b'"),
    ("--timeout 0 x",         "--timeout must be a time above zero, such as 90, 10m or 1h30m, not '0'"),
    ("--timeout 10m1h x",     "not '10m1h'"),
    ("--timeout soon x",      "not 'soon'"),
    ("--timeout 1e3 x",       "not '1e3'"),
    ("--idle-timeout 0 x",    "--idle-timeout must be a time above zero, such as 90, 10m or 1h30m, not '0'"),
    ("--stdin /nonexistent x", "--stdin must be a file that exists, not '/nonexistent'"),
    ("--stdin / x",           "not '/'"),
    ("--stdin 'a\0b' x",      "not 'a\\x00b'"),
    ("--shell '' x",          "--shell must be an interpreter such as python3 or 'bash -e', not ''"),
    ("--shell \"'bash\" x",   "not \"'bash\""),
    ("--pty --columns 0 x",   "--columns must be a whole number from 1 to 65535, not '0'"),
    ("--pty --columns 65536 x", "not '65536'"),
    ("--columns 132 x",       "--columns 132 needs --pty"),
    ("--pty=80 x",            "--pty takes no value"),
    ("--encoding utf-16 x",   "--encoding must be a charset that contains ASCII as it is, such as utf-8"),
    ("--encoding nope x",     "not 'nope'"),
    ("--stderr apart x",      "--stderr must be merge or separate, not 'apart'"),
    ("--held on x",           "--held must be leave or kill, not 'on'"),
    ("--out 1st x",           "--out must be a name for a variable, such as result, not '1st'"),
    ("--out class x",         "not 'class'"),
    ("--out a.b x",           "not 'a.b'"),
    ("--no-spill=yes x",      "--no-spill takes no value: write --no-spill alone, not '--no-spill=yes'"),
    ("--byts 5 x",            "there is no option '--byts': did you mean --bytes?"),
    ("-bytes 5 x",            "did you mean --bytes?"),
    ("--BYTES 5 x",           "did you mean --bytes?"),
    ("--no-raise x",          "did you mean --no-raise-error?"),
    ("--time-out 5 x",        "did you mean --timeout?"),
    ("--zzz x",               "there is no option '--zzz': write one of --bytes, --lines"),
    ("-x",                    "or -- before a command with a dash"),
    ("--bytes 1k --lines x y", "--lines must be"),
    ("--bytes x --bytes 1k y", "--bytes must be"),
]
# fmt: on


@pytest.mark.parametrize(("line", "message"), WRONG, ids=[line for line, _ in WRONG])
def test_an_error_is_one_line_that_names_the_option_and_the_value(line: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse(line)
    text = str(caught.value)
    assert message in text
    assert text.isprintable()


def test_an_error_stays_short_whatever_the_value_is() -> None:
    for line in (f"--bytes {'9' * 10_000} x", f"--{'x' * 10_000}", f"--no-spill={'x' * 10_000}"):
        with pytest.raises(OptionError) as caught:
            parse(line)
        assert len(str(caught.value)) < 500


# fmt: off
VALUES: list[tuple[Any, ...]] = [
    (size,     "800",     800),
    (size,     "800B",    800),
    (size,     "50k",     51_200),
    (size,     "50K",     51_200),
    (size,     "50kB",    51_200),
    (size,     "50KiB",   51_200),
    (size,     "1.5M",    3 * KIB * KIB // 2),
    (size,     "2MiB",    2 * KIB**2),
    (size,     "1G",      KIB**3),
    (size,     "64_000",  64_000),
    (count,    "1",       1),
    (count,    "2_000",   2000),
    (count,    "2k",      2000),
    (count,    "1.5k",    1500),
    (count,    "1M",      1_000_000),
    (duration, "90",      90.0),
    (duration, "0.25",    0.25),
    (duration, "90s",     90.0),
    (duration, "10m",     600.0),
    (duration, "1.5h",    5400.0),
    (duration, "1h30m",   5400.0),
    (duration, "1h2m3.5s", 3723.5),
]
# fmt: on


@pytest.mark.parametrize(("convert", "text", "value"), VALUES)
def test_sizes_counts_and_durations_are_read(convert: Callable[[str], float], text: str, value: float) -> None:
    assert convert(text) == value


@pytest.mark.parametrize("text", ["", " ", "k", "1 k", "1kk", "1t", "0x10", "1.", ".5k", "1_", "_1", "1._5k", "1e3"])
def test_a_size_that_could_be_misread_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(text) + "$"):
        size(text)


@pytest.mark.parametrize("text", ["", "s", "1h30", "1d", "1m1h", "1s1s", "1 h", "-1", "inf", "nan", "1h-1m"])
def test_a_duration_that_could_be_misread_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(text) + "$"):
        duration(text)


def test_the_default_is_what_the_help_says_it_is() -> None:
    assert parse("--bytes 50k --lines 2000 --retain tail") == parse("")


# fmt: off
EXPANSIONS: list[tuple[Any, ...]] = [
    ("$a",             "<$a>"),
    ("'$a'",           "$a"),
    ("\"$a b\"",       "<$a b>"),
    ("$a'$b'$c",       "<$a>$b<$c>"),
    ("$a\"$b\"{c}",    "<$a$b{c}>"),
    ("\\$a",           "$<a>"),
    ("\"\\$a\\\\\"",   "$<a>\\"),
    ("\"\\n\"",        "<\\n>"),
    ("x{a + 1}y z",    "<x{a + 1}y>"),
    ("{d['a b']} z",   "<{d['a b']}>"),
    ("${a} z",         "<${a}>"),
    ("{{a}} z",        "<{{a}}>"),
    ("{a z",           "<{a>"),
    ("'{a b}' z",      "{a b}"),
]
# fmt: on


@pytest.mark.parametrize(("value", "expanded"), EXPANSIONS)
def test_what_stands_outside_single_quotes_is_expanded(value: str, expanded: str) -> None:
    word = next_word(value, 0)
    assert word is not None
    assert word.value(lambda text: f"<{text}>") == expanded


def test_an_expanded_value_is_not_split_or_read_again() -> None:
    options, command = parse("--env A=$a make", lambda text: text.replace("$a", "x' --bytes 0 {b}"))
    assert (options.env, command) == ({"A": "x' --bytes 0 {b}"}, "make")


def test_a_tilde_that_was_typed_is_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub dir").mkdir()
    (tmp_path / "data").touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert parse("--stdin ~/data x")[0].stdin == tmp_path / "data"
    assert parse("--shell ~/venv/bin/python x")[0].shell == f"{tmp_path}/venv/bin/python"
    assert parse("--shell '~/python' x")[0].shell == "~/python"
    assert parse("--cwd ~ x")[0].cwd == str(tmp_path)
    assert parse("--cwd=~/'sub dir' x")[0].cwd == str(tmp_path / "sub dir")
    with pytest.raises(OptionError, match="not '~'"):
        parse("--cwd '~' x")


def test_a_relative_directory_is_one_of_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    assert parse("--cwd sub x")[0].cwd == "sub"


def test_every_option_has_a_line_of_help_and_says_what_its_value_must_be() -> None:
    for option in OPTIONS:
        assert option.help
        assert bool(option.metavar) == bool(option.must_be) == option.takes_value


def test_parsing_needs_no_ipython() -> None:
    names = {name for name, value in vars(module).items() if getattr(value, "__module__", "").startswith("IPython")}
    assert not names


PREFIXES = ["", "--bytes 50k ", "--no-spill  --env 'A=b c' ", "--lines=7 -- ", "-- "]


@given(st.sampled_from(PREFIXES), st.text())
@example("", "echo  'a'  \\\n\t \"b")
@example("-- ", "--bytes 0")
@example("", "\u00a0--bytes")
def test_the_rest_of_the_line_is_the_command_byte_for_byte(prefix: str, text: str) -> None:
    command = "x" + text
    assert parse(prefix + command)[1] == command
    assert parse(f"{prefix}  \t{command}")[1] == command


@given(st.text(st.sampled_from("ab \t'\"\\=~#*")))
def test_words_are_quoted_as_in_a_shell(text: str) -> None:
    try:
        expected = shlex.split(text)
    except ValueError:
        expected = None
    words, position = [], 0
    while (word := next_word(text, position)) is not None:
        words.append(word)
        position = word.end
    if expected is None:
        assert not all(word.complete for word in words)
    else:
        assert [word.value() for word in words] == expected


@given(st.text())
def test_any_text_is_parsed_or_refused_in_one_line(line: str) -> None:
    try:
        rest = parse(line)[1]
    except OptionError as error:
        rest = ""
        message = str(error)
    else:
        message = ""
    assert line.endswith(rest)
    assert "\n" not in message
