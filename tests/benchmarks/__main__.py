"""`python -m tests.benchmarks`: measure, and print the tables as Markdown; what it does meanwhile goes to stderr."""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import psutil

from tests.benchmarks import peers, table
from tests.benchmarks.sections import GIB, SECTIONS, Goal, Section, Setting

#: Bytes of the disk that are left alone.
RESERVE = GIB // 2


def size_of(text: str) -> int:
    """Bytes: 500000, 64M, 1G."""
    found = re.fullmatch(r"(\d+)([KMG]?)", text.strip(), re.IGNORECASE)
    if found is None or int(found[1]) < 1:
        raise argparse.ArgumentTypeError(f"must be a size such as 1G or 64M, not {text!r}")
    number: int = int(found[1]) * 1024 ** " KMG".index(found[2].upper() or " ")
    return number


def size_option(size: int) -> str:
    """The text that `size_of` takes."""
    for exponent, unit in ((3, "G"), (2, "M"), (1, "K")):
        if size % 1024**exponent == 0:
            return f"{size // 1024**exponent}{unit}"
    return str(size)


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number from 1, not {text!r}")
    return int(text)


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    names = [section.name for section in SECTIONS]
    parser = argparse.ArgumentParser("python -m tests.benchmarks", description="Measure and print tables as Markdown.")
    parser.add_argument("--rounds", type=positive, default=5, help="how often each is measured (default: %(default)s)")
    parser.add_argument("--size", type=size_of, default=GIB, help="bytes of the main input; scales the others too (1G)")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long timed floods last (default: %(default)s)")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--directory", default=None, help="where inputs and outputs go (default: a temporary one)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables between the marks in FILE as well")
    peers.add_option(parser)
    return parser.parse_args(argv)


def report(chosen: argparse.Namespace) -> tuple[str, bool]:
    """Measure what was chosen; (the tables as Markdown, whether all went well).

    A section that fails is left out and named: ten minutes of the others are not lost with it.
    """
    tables: list[table.Table] = []
    goals: list[Goal] = []
    left_out: list[str] = []
    well = True
    with tempfile.TemporaryDirectory(prefix="boundcap-benchmarks-", dir=chosen.directory) as scratch:
        setting = Setting(chosen.rounds, chosen.size, chosen.seconds, chosen.peers, Path(scratch).resolve(), _tell)
        for section in SECTIONS:
            if section.name not in chosen.only:
                continue
            _tell(f"--- {section.name}")
            if lacking := _lacking(section, setting):
                left_out.append(lacking)
                _tell(lacking)
                continue
            try:
                found = section.measure(setting)
            except (OSError, RuntimeError) as error:
                well = False
                left_out.append(f"Failed: `{section.name}`: {error}")
                _tell(left_out[-1])
                continue
            tables += found.tables
            goals += found.goals
    if goals:
        tables.append(table.Table("Goals", ("work", "goal", "measured"), [(g.work, g.goal, g.reached) for g in goals]))
    return "\n".join([_circumstances(chosen), "", *(t.markdown() for t in tables), *left_out]), well


def _lacking(section: Section, setting: Setting) -> str:
    """Why there is no room for the section, or nothing."""
    needed = int(section.disk * setting.size) + RESERVE
    if shutil.disk_usage(setting.scratch).free >= needed:
        return ""
    return f"Not measured: `{section.name}`, which needs {needed / 1e9:.1f} GB of disk."


def _circumstances(chosen: argparse.Namespace) -> str:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    machine = (
        f"{cores} cores ({platform.machine()}), {psutil.virtual_memory().total / 1e9:.0f} GB of memory, "
        f"{platform.system()}, {platform.python_implementation()} {platform.python_version()}"
    )
    of = f"medians of {chosen.rounds} rounds" if chosen.rounds > 1 else "one round"
    return f"`{_command(chosen)}` on {machine}; {of}, everything in turn in each. Ratios are of wall times."


def _command(chosen: argparse.Namespace) -> str:
    """What gives these tables again; not where things were put."""
    usual, words = arguments([]), ["python -m tests.benchmarks"]
    for name, written in (("rounds", str), ("size", size_option), ("seconds", "{:g}".format), ("only", " ".join)):
        value = getattr(chosen, name)
        if value != getattr(usual, name):
            words.append(f"--{name} {written(value)}")
    return " ".join(words)


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(argv: Sequence[str]) -> int:
    """Returns the exit code: 1 if a section failed. Then nothing is written into a document."""
    chosen = arguments(argv)
    if chosen.write is not None:
        # A file without the marks is found before ten minutes have passed.
        table.around(chosen.write)
    text, well = report(chosen)
    print(text)
    if chosen.write is not None and well:
        table.write_between(chosen.write, text)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
