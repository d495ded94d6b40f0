"""What is measured together: which programs, on which input, and what is read from what they took."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from random import Random

import psutil

from tests.benchmarks import inputs, table
from tests.benchmarks.peers import HOW, PI_VERSION, PYTHON_PACKAGES, Peers
from tests.benchmarks.programs import CHILDREN
from tests.benchmarks.rounds import Entrant, Samples, run_rounds
from tests.benchmarks.table import Table

GIB = 1024**3

#: Names of the entrants that others are compared with.
OURS, NO_FILE = "**`run`, complete output in a file**", "**`run`, no file**"
BARE, BARE_NO_FILE = "bare loop in Python: read, count, write", "bare loop in Python: read, count"
TEE, FLOOR, DISCARD = "`cat F | tee FILE | tail -c 51200`", "`cat F | cat >FILE`", "`cat F | cat >/dev/null`"


@dataclass(frozen=True)
class Setting:
    """How to measure. `size` scales all inputs, 1 GiB is the real one; `seconds` is how long a flood lasts."""

    rounds: int
    size: int
    seconds: float
    peers: Peers
    scratch: Path
    tell: Callable[[str], None]

    def run(self, entrants: Sequence[Entrant]) -> Mapping[str, Samples]:
        return run_rounds(entrants, self.rounds, self.scratch, self.tell)

    @contextmanager
    def inputs(self) -> Iterator[Path]:
        """A directory for input files, removed afterwards."""
        directory = self.scratch / "inputs"
        directory.mkdir()
        try:
            yield directory
        finally:
            shutil.rmtree(directory)


@dataclass(frozen=True)
class Goal:
    work: str
    goal: str
    reached: str


@dataclass
class Findings:
    tables: list[Table] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)


def ours(name: str, script: str, *, spill: bool) -> Entrant:
    return Entrant(name, "ours", (script, "spill" if spill else "no-spill"))


def shell(name: str, script: str) -> Entrant:
    return Entrant(name, "shell", (script,))


def cat(*files: Path) -> str:
    return shlex.join(["cat", *map(str, files)])


def grown(samples: Samples) -> str:
    return table.megabytes(samples.median(lambda measurement: measurement.grown))


def fact(samples: Samples, name: str) -> float:
    """The median of a fact that all of the measurements have."""
    value = samples.median(lambda measurement: float(measurement.facts[name]))
    assert value is not None
    return value


# --- one flood of log lines, and everybody who can take it

#: Part of the input for those who read it in small pieces: the whole would take them minutes.
SMALL_SHARE = 8


def log(setting: Setting) -> Findings:
    size = table.binary_size(setting.size)
    with setting.inputs() as directory:
        whole = inputs.make(directory / "whole", inputs.log_lines, setting.size)
        part = inputs.make(directory / "part", inputs.log_lines, max(1, setting.size // SMALL_SHARE))
        peers, missing = _peers(setting, cat(whole), cat(part))
        own = [
            ours(OURS, cat(whole), spill=True),
            shell(TEE, f"{cat(whole)} | tee FILE | tail -c 51200"),
            shell(FLOOR, f"{cat(whole)} | cat >FILE"),
            ours(NO_FILE, cat(whole), spill=False),
            shell(DISCARD, f"{cat(whole)} | cat >/dev/null"),
            Entrant(BARE, "bare", (cat(whole), "FILE")),
            Entrant(BARE_NO_FILE, "bare", (cat(whole), "")),
        ]
        found = setting.run([*own, *peers])
    main = Table(
        f"{size} of log lines",
        ("", "wall", "÷ tee", "÷ floor", "CPU", "memory grew", "updates", "update bytes"),
    )
    for name, samples in found.items():
        share = samples.entrant.share
        cells = [
            table.seconds(samples.wall),
            table.ratio(samples.ratio(found[TEE])),
            table.ratio(samples.ratio(found[FLOOR])),
            table.seconds(samples.cpu),
            grown(samples),
            table.count(samples.median(lambda measurement: measurement.updates)),
            table.kilobytes(samples.median(lambda measurement: measurement.update_bytes)),
        ]
        main.rows.append((name if share == 1 else f"{name} [1/{share}]", *cells))
    main.rows += [(name, reason, *[table.NOTHING] * 6) for name, reason in missing]
    main.notes.append(
        "`cat F | cat >FILE` is the floor. CPU is user and system, of the program and its children. Memory is by how "
        "much the peak of the capturing process grew. Updates are what was handed on to be shown, for those who print "
        f"their writes. [1/{SMALL_SHARE}]: measured with that part of the input, its times multiplied, the rest as it "
        "was. `%%bash` ran without a kernel, where each write is a message as well. The bare loop is the least that a "
        "capture in Python can do."
    )
    return Findings([main], _log_goals(found, size))


def _log_goals(found: Mapping[str, Samples], size: str) -> list[Goal]:
    def beside(own: str, bare: str, other: str) -> str:
        """The ratio, and the one of the bare loop: what a machine lets nobody reach is no fault of ours."""
        own_ratio, bare_ratio = (table.ratio(found[name].ratio(found[other])) for name in (own, bare))
        return f"{own_ratio} × (bare loop {bare_ratio} ×)"

    work = f"{size} of log lines, complete output in a file"
    goals = [
        Goal(work, "≤ 0.6 × tee", beside(OURS, BARE, TEE)),
        Goal(work, "≤ 1.5 × floor", beside(OURS, BARE, FLOOR)),
    ]
    if PI_NAME in found:
        goals.append(Goal(work, "≤ 0.33 × pi-agent-core", beside(OURS, BARE, PI_NAME)))
    goals.append(Goal(work, "memory ≤ 8 MB", grown(found[OURS])))
    goals.append(Goal("the same, no file", f"≤ 1.0 × {DISCARD}", beside(NO_FILE, BARE_NO_FILE, DISCARD)))
    return goals


PI_NAME = f"pi-agent-core {PI_VERSION} `NodeExecutionEnv.exec`"


def _peers(setting: Setting, whole: str, part: str) -> tuple[list[Entrant], list[tuple[str, str]]]:
    """(those that are there, names of the others with the reason); by the scripts that print the input or a part."""
    there = [Entrant(f"IPython {version('ipython')} `%%bash`", "bash_magic", (part,), share=SMALL_SHARE)]
    missing: list[tuple[str, str]] = []
    name, needed = "`subprocess.run(capture_output=True)`", 3 * setting.size
    if psutil.virtual_memory().available > needed:
        there.append(Entrant(name, "subprocess_run", (whole,)))
    else:
        missing.append((name, f"not measured: would need {table.binary_size(needed)} of memory"))
    for package, label, program, script, share in (
        ("subprocess-tee", "`run`", "subprocess_tee", part, SMALL_SHARE),
        ("agentfield", "`run_cli`", "agentfield", whole, 1),
    ):
        name = f"{package} {PYTHON_PACKAGES[package]} {label}"
        if python := setting.peers.python_with(package):
            there.append(Entrant(name, program, (script,), python=python, share=share))
        else:
            missing.append((name, f"not there: {HOW}"))
    if launcher := setting.peers.pi():
        there.append(Entrant(PI_NAME, "pi", (whole,), launcher=launcher))
    else:
        missing.append((PI_NAME, f"not there: {HOW}"))
    return there, missing


# --- what else commands print


@dataclass(frozen=True)
class Kind:
    """`part` of the size, so that each takes about a second; `goal`: the speed that a prototype had reached."""

    name: str
    pieces: Callable[[Random], Iterator[bytes]]
    part: float
    goal: float


#: Speeds are multiples of the speed at plain lines.
KINDS = (
    Kind("plain lines", inputs.log_lines, 1 / 2, 1.0),
    Kind("UTF-8 lines", inputs.utf8_lines, 1 / 4, 0.95),
    Kind("CRLF lines", inputs.crlf_lines, 1 / 4, 0.77),
    Kind("SGR on every line", inputs.sgr_lines, 1 / 4, 0.48),
    Kind("one line", inputs.one_line, 1, 0.76),
    Kind("`\\r` frames", inputs.frames, 1 / 8, 0.18),
    Kind("`\\r` frames with ESC[K", inputs.erased_frames, 1 / 8, 0.40),
    Kind("`\\r` frames with SGR", inputs.coloured_frames, 1 / 16, 0.056),
    Kind("nested bars, cursor up", inputs.nested_bars, 1 / 64, 0.012),
    Kind("random bytes", inputs.random_bytes, 1 / 32, 0.042),
)


def kinds(setting: Setting) -> Findings:
    sizes = {kind.name: max(1, int(setting.size * kind.part)) for kind in KINDS}
    with setting.inputs() as directory:
        entrants = []
        for number, kind in enumerate(KINDS):
            path = inputs.make(directory / str(number), kind.pieces, sizes[kind.name])
            entrants.append(ours(kind.name, cat(path), spill=False))
        found = setting.run(entrants)
    result = Table(
        "Kinds of output, no file", ("", "size", "MB/s", "speed ÷ plain lines", "goal", "memory grew", "goal")
    )
    plain = KINDS[0].name
    for kind in KINDS:
        samples, size = found[kind.name], sizes[kind.name]
        relative = size / sizes[plain] / samples.ratio(found[plain])
        speed = size / samples.wall / 1e6
        goal = table.NOTHING if kind.name == plain else f"≥ {table.ratio(kind.goal)}"
        cells = (table.binary_size(size), table.count(speed), table.ratio(relative), goal, grown(samples), "≤ 8 MB")
        result.rows.append((kind.name, *cells))
    return Findings([result])


# --- longer, smaller, more of them

LONG = 4


def long(setting: Setting) -> Findings:
    with setting.inputs() as directory:
        whole = inputs.make(directory / "whole", inputs.log_lines, setting.size)
        found = setting.run(
            [
                ours("ours", cat(whole), spill=True),
                ours("ours, long", cat(*[whole] * LONG), spill=True),
                shell("floor", f"{cat(whole)} | cat >FILE"),
                shell("floor, long", f"{cat(*[whole] * LONG)} | cat >FILE"),
            ]
        )
    size, long_size = table.binary_size(setting.size), table.binary_size(LONG * setting.size)
    times = found["ours, long"].ratio(found["ours"])
    floor = found["floor, long"].ratio(found["floor"])
    work = f"{long_size} instead of {size}"
    return Findings(
        goals=[
            Goal(work, f"time × {LONG} (± 10 %)", f"× {times:.2f}; the floor × {floor:.2f}"),
            Goal(work, "memory the same", f"{grown(found['ours, long'])} and {grown(found['ours'])}"),
        ]
    )


def writes(setting: Setting) -> Findings:
    number = max(1, round(10_000_000 * setting.size / GIB))
    script = _small_writes(number)
    found = setting.run(
        [ours("ours", script, spill=True), shell("tee", f"{script} | tee FILE | tail -c 51200")],
    )
    reached = f"{table.ratio(found['ours'].ratio(found['tee']))} ×"
    return Findings(goals=[Goal(f"{number:,} writes of 8 bytes", "≤ 1.5 × tee", reached)])


def _small_writes(number: int) -> str:
    """The fastest writer without a compiler: Perl; then Python, which takes half as long again."""
    if shutil.which("perl"):
        return f"perl -e '$line = qq(1234567\\n); syswrite(STDOUT, $line) for 1..{number}'"
    return shlex.join([sys.executable, "-I", "-S", str(CHILDREN / "small_writes.py"), str(number)])


CROWD = 64


def crowd(setting: Setting) -> Findings:
    samples = setting.run([Entrant("crowd", "crowd", (str(CROWD), str(setting.seconds)))])["crowd"]
    work = f"{CROWD} floods at once for {setting.seconds:g} s"
    exact = min(int(measurement.facts["exact"]) for measurement in samples.taken)
    return Findings(
        goals=[
            Goal(work, "memory ≤ 64 MB in all", grown(samples)),
            Goal(work, "every total exact", f"{exact} of {CROWD}, {table.megabytes(fact(samples, 'bytes'))} in sum"),
            Goal(work, "≤ 150 messages/s in sum", f"{fact(samples, 'rate'):.0f}/s"),
        ]
    )


def view(setting: Setting) -> Findings:
    seconds = (str(setting.seconds),)
    found = setting.run([Entrant(name, name, seconds) for name in ("turnover", "trickle")])
    turnover, trickle = found["turnover"], found["trickle"]
    kinds: Mapping[str, int] = trickle.taken[-1].facts["kinds"]
    listed = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items(), key=lambda item: -item[1]))
    turned = f"{fact(turnover, 'rate'):.1f}/s, {table.kilobytes(fact(turnover, 'bytes_rate'))}/s"
    slid = f"each {1000 * fact(trickle, 'interval'):.0f} ms ({listed})"
    return Findings(
        goals=[
            Goal("a 50 KB view that turns over completely", "about 2 updates/s, ≤ 110 KB/s", turned),
            Goal("one new line each 10 ms", "a slide each 100 ms", slid),
        ]
    )


#: Pairs of short runs within a round.
STARTS = 50


def start(setting: Setting) -> Findings:
    found = setting.run([Entrant("start", "start", (str(STARTS),)), Entrant("import", "importing")])
    importing = found["import"]
    loaded = any(measurement.facts["ipywidgets"] for measurement in importing.taken)
    wall = table.milliseconds(importing.median(lambda measurement: measurement.wall))
    with_run = table.milliseconds(fact(importing, "with_run"))
    return Findings(
        goals=[
            Goal('`run("true")`', '≤ 15 ms above `subprocess.run(["true"])`', _longer(fact(found["start"], "longer"))),
            Goal("`import boundcap_jupyter`", "≤ 60 ms", f"{wall}; {with_run} with `run`"),
            Goal("`import boundcap_jupyter`", "ipywidgets not loaded", "loaded" if loaded else "not loaded"),
        ]
    )


def _longer(value: float) -> str:
    return f"{table.milliseconds(value)} above"


@dataclass(frozen=True)
class Section:
    """`disk`: space that the inputs and the largest output take at once, as a multiple of the size."""

    measure: Callable[[Setting], Findings]
    disk: float

    @property
    def name(self) -> str:
        return self.measure.__name__


SECTIONS = (
    Section(log, 2 + 1 / SMALL_SHARE),
    Section(kinds, sum(kind.part for kind in KINDS)),
    Section(long, 1 + LONG),
    Section(writes, 10_000_000 * 8 / GIB),
    Section(crowd, 0),
    Section(view, 0),
    Section(start, 0),
)
