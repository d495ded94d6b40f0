"""A terminal is the judge: recorded output of real tools gives the lines and colours that pyte leaves on its screen.

`recordings/index.json` says of each recording which command of which version made it, and whether a pipe or a terminal
took its output. The screen is so tall that nothing scrolls and so wide that nothing wraps.

Where the design differs from a terminal on purpose, the rule is one of `RULES`: what the design does, done by pyte. A
recording that needs rules names them in `EXCEPTIONS` with the reason; it must be equal with them, and different as
soon as one is left out.

Not compared: blanks at the end of a line that have no colour. A terminal's row always has all of its columns, a view's
line ends where its text does, and nobody sees the difference. The same is true of empty lines at the end.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pyte
import pytest
from pyte.graphics import BG_AIXTERM, BG_ANSI, FG_AIXTERM, FG_ANSI, FG_BG_256
from pyte.modes import LNM

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.screen import Screen
from boundcap_jupyter.core.sgr import PLAIN, Colour, transition
from boundcap_jupyter.core.text import spans
from boundcap_jupyter.core.view import OutputView

RECORDINGS = Path(__file__).parent / "recordings"
INDEX: dict[str, dict[str, str]] = json.loads((RECORDINGS / "index.json").read_text())

#: Nothing is cut: what is judged are lines, not limits.
LIMITS = OutputLimits(max_bytes=1 << 20, max_lines=100_000)
#: Columns of the judge. That no recording gets there is asserted. pyte erases a row column by column: not too many.
WIDTH = 320

#: Places of a recording at which the live view is compared too.
LIVE = 8

#: What the design does other than a terminal, each by its name and the place that says so.
RULES = {
    "width": "wide and combining characters count one column: DESIGN section 4, a column is one code point",
    "TAB": "TAB is kept and counts one column: DESIGN section 4",
    "erased": "what was erased is gone and has no colour; terminals fill with the background: the table in screen.py",
    "down": "cursor-down makes no rows: the table in screen.py",
    "ESC[1J": "erasing above or all is removed: the table in screen.py",
    "ESC[H": "moves to a place of the screen are removed: FACTS section 6, by design different",
    "ESC7": "saving and restoring the cursor is removed: FACTS section 6, by design different",
}

#: The handlers of pyte that a rule silences.
SILENCED = {
    "ESC[H": ["cursor_position", "cursor_to_line", "set_margins"],
    "ESC7": ["save_cursor", "restore_cursor"],
}

#: Recording -> rule -> why the recording needs it.
EXCEPTIONS: dict[str, dict[str, str]] = {
    "docker-build": {
        "down": "BuildKit goes up and down one row before anything is written: a terminal has a row there"
    },
    "pytest": {"TAB": "a diff of strings with a TAB"},
    "pytest-xdist": {"TAB": "a diff of strings with a TAB"},
}


class Cell(NamedTuple):
    """A character as pyte knows it. Colours are RGB in hexadecimal, so that both ways to name one are equal."""

    text: str
    foreground: str = ""
    background: str = ""
    bold: bool = False
    underline: bool = False
    inverse: bool = False


BLANK = Cell(" ")
#: What is compared.
Line = tuple[Cell, ...]


class Terminal(pyte.Screen):
    """pyte with the rules that it is told to follow; `bottom` is the last row that a newline made."""

    def __init__(self, lines: int, rules: frozenset[str]) -> None:
        super().__init__(WIDTH, lines)
        # Programs write plain newlines into a pipe: each begins its line.
        self.set_mode(LNM)
        self.rules = rules
        self.bottom = 0
        self.cells: list[Line] = [()] * lines
        for rule in rules:
            for handler in SILENCED.get(rule, ()):
                setattr(self, handler, lambda *_parameters, **_options: None)

    def shown(self) -> list[Line]:
        """The lines. Only rows that changed since the last time are read."""
        for row in self.dirty:
            self.cells[row] = seen(cells_of_row(self.buffer[row]))
        self.dirty.clear()
        return without_empty_end(self.cells)

    def draw(self, data: str) -> None:
        assert self.cursor.x + len(data) < WIDTH, "the judge wraps: make it wider"
        if "width" not in self.rules:
            super().draw(data)
        else:
            line = self.buffer[self.cursor.y]
            self.dirty.add(self.cursor.y)
            for character in data:
                line[self.cursor.x] = self.cursor.attrs._replace(data=character)
                self.cursor.x += 1

    def tab(self) -> None:
        if "TAB" in self.rules:
            self.dirty.add(self.cursor.y)
            self.buffer[self.cursor.y][self.cursor.x] = self.cursor.attrs._replace(data="\t")
            self.cursor.x += 1
        else:
            super().tab()

    def linefeed(self) -> None:
        # First, since pyte moves down for a newline too.
        self.bottom = max(self.bottom, self.cursor.y + 1)
        super().linefeed()

    def cursor_down(self, count: int | None = None) -> None:
        super().cursor_down(count)
        if "down" in self.rules:
            self.cursor.y = min(self.cursor.y, self.bottom)

    def erase_in_display(self, how: int = 0, *parameters: Any, **options: Any) -> None:
        if how and "ESC[1J" in self.rules:
            return
        with self.erasing_plainly():
            super().erase_in_display(how, *parameters, **options)

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        with self.erasing_plainly():
            super().erase_in_line(how, private)

    @contextmanager
    def erasing_plainly(self) -> Iterator[None]:
        """Erase with the default pen, if the rule says so."""
        pen = self.cursor.attrs
        if "erased" in self.rules:
            self.cursor.attrs = self.default_char
        yield
        self.cursor.attrs = pen


def judged(data: bytes, rules: frozenset[str] = frozenset(), edges: Sequence[int] = ()) -> list[list[Line]]:
    """The lines that a terminal shows at each of `edges` and after all of `data`."""
    terminal = Terminal(data.count(b"\n") + 20, rules)
    stream = pyte.ByteStream(terminal)
    screens = []
    for chunk in cut(data, edges):
        stream.feed(chunk)
        screens.append(terminal.shown())
    return screens


def shown(data: bytes, edges: Sequence[int] = ()) -> list[list[Line]]:
    """The lines of the views at each of `edges` and after all of `data`."""
    return [lines_of(view) for view in captured(data, edges)]


def captured(data: bytes, edges: Sequence[int] = ()) -> list[OutputView]:
    """The views at each of `edges` and the final one. A view interprets what came since the last: each chunk alone."""
    capture = OutputCapture(LIMITS)
    views = []
    for chunk in cut(data, edges):
        capture.feed(chunk)
        views.append(capture.view())
    capture.finish()
    return [*views[:-1], capture.view()]


def cut(data: bytes, edges: Sequence[int]) -> list[bytes]:
    return [data[begin:end] for begin, end in pairwise([0, *edges, len(data)])]


def cells_of_row(row: Any) -> Iterator[Cell]:
    for column in range(max(row, default=-1) + 1):
        character = row[column]
        # The second column of a wide character is empty.
        if character.data:
            yield Cell(
                character.data,
                hexadecimal(character.fg),
                hexadecimal(character.bg),
                character.bold,
                character.underscore,
                character.reverse,
            )


_NAMES = {
    name: FG_BG_256[code % 10 + bright]
    for table, bright in ((FG_ANSI, 0), (BG_ANSI, 0), (FG_AIXTERM, 8), (BG_AIXTERM, 8))
    for code, name in table.items()
    if name != "default"
}


def hexadecimal(colour: str) -> str:
    return "" if colour == "default" else _NAMES.get(colour, colour)


def lines_of(view: OutputView) -> list[Line]:
    """The lines of a view."""
    lines, lead = [], view.metadata.lead_sgr
    for text in view.text.split("\n"):
        line, lead = line_of(text, lead)
        lines.append(line)
    return without_empty_end(lines)


@lru_cache(maxsize=10_000)
def line_of(text: str, lead: str) -> tuple[Line, str]:
    """A line of a view that begins in the colour `lead`, and the colour in which it ends. Most stay as they are."""
    cells = []
    # One character more shows in which style the line ends.
    for span in spans(text + "|", lead):
        style = span.style
        look = (rgb(style.foreground), rgb(style.background), style.bold, style.underline, style.inverse)
        cells += [Cell(character, *look) for character in span.text]
    return seen(cells[:-1]), transition(PLAIN, style)


def rgb(colour: Colour | None) -> str:
    if colour is None:
        return ""
    return FG_BG_256[colour] if isinstance(colour, int) else "{:02x}{:02x}{:02x}".format(*colour)


def seen(cells: Iterable[Cell]) -> Line:
    """A line without what nobody sees: the colour of a blank without background, and such blanks at the end."""
    line = [
        cell._replace(foreground="", bold=False) if cell.text == " " and not cell.inverse else cell for cell in cells
    ]
    while line and line[-1] == BLANK:
        line.pop()
    return tuple(line)


def without_empty_end(lines: list[Line]) -> list[Line]:
    size = len(lines)
    while size and not lines[size - 1]:
        size -= 1
    return lines[:size]


@cache
def recording(name: str) -> bytes:
    return gzip.decompress((RECORDINGS / f"{name}.gz").read_bytes())


def texts(lines: list[Line]) -> list[str]:
    return ["".join(cell.text for cell in line) for line in lines]


def same(views: list[list[Line]], screens: list[list[Line]]) -> bool:
    # The text first: it says more than the looks of all its characters.
    for view, screen in zip(views, screens, strict=True):
        assert texts(view) == texts(screen)
        assert view == screen
    return True


@pytest.mark.parametrize("name", INDEX)
def test_a_recording_gives_the_lines_of_a_terminal_while_it_runs_and_at_its_end(name: str) -> None:
    data = recording(name)
    edges = sorted(random.Random(name).sample(range(1, len(data)), LIVE))
    assert same(shown(data, edges), judged(data, frozenset(EXCEPTIONS.get(name, ())), edges))


@pytest.mark.parametrize("name", INDEX)
def test_a_recording_cut_anywhere_gives_the_same_view(name: str) -> None:
    data = recording(name)
    view = captured(data)[-1]
    assert not view.metadata.truncation.truncated
    dice = random.Random(name)
    for edges in (
        range(509, len(data), 509),
        sorted(dice.sample(range(1, len(data)), 60)),
        # Byte by byte here and there.
        sorted({place + step for place in dice.sample(range(1, len(data) - 8), 8) for step in range(8)}),
    ):
        assert captured(data, edges)[-1].text == view.text


@pytest.mark.parametrize("name", INDEX)
def test_a_recording_read_byte_by_byte_gives_the_same_rows(name: str) -> None:
    data = recording(name)
    whole, single = Screen(), Screen()
    whole.feed(data)
    for place in range(len(data)):
        single.feed(data[place : place + 1])
    for screen in (whole, single):
        screen.finish()
    assert [row.text for row in single.rows] == [row.text for row in whole.rows]


@pytest.mark.parametrize(("name", "rule"), [(name, rule) for name, rules in EXCEPTIONS.items() for rule in rules])
def test_no_exception_is_listed_that_is_not_needed(name: str, rule: str) -> None:
    data = recording(name)
    edges = sorted(random.Random(name).sample(range(1, len(data)), LIVE))
    assert shown(data, edges) != judged(data, frozenset(EXCEPTIONS[name]) - {rule}, edges)


#: Rule -> the shortest stream that shows it.
SHOWN_BY = {
    "width": "日本\x1b[3Gx",
    "TAB": "a\tb",
    "erased": "a\x1b[41m\x1b[K",
    "down": "a\x1b[Bb",
    "ESC[1J": "a\x1b[2J",
    "ESC[H": "a\nb\x1b[Hc",
    "ESC7": "a\x1b7b\x1b8c",
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_says_what_the_design_does_and_a_terminal_does_not(rule: str) -> None:
    data = SHOWN_BY[rule].encode()
    assert same(shown(data), judged(data, frozenset([rule])))
    assert shown(data) != judged(data)


def test_exceptions_name_recordings_and_rules() -> None:
    assert set(EXCEPTIONS) <= set(INDEX)
    assert {rule for rules in EXCEPTIONS.values() for rule in rules} <= set(RULES)


def test_the_index_names_every_recording_and_how_it_was_made() -> None:
    assert sorted(path.name for path in RECORDINGS.glob("*.gz")) == sorted(f"{name}.gz" for name in INDEX)
    for name, entry in INDEX.items():
        assert set(entry) == {"command", "version", "through"}
        assert entry["through"] in ("pipe", "terminal of 100 columns")
        assert len(recording(name)) >= 10_000


#: What streams are made of that no rule but these two is about.
RANDOM_RULES = frozenset({"down", "erased"})
PIECES = (
    *(
        "a",
        "bc",
        "word ",
        "é",
        "─█",
        "x" * 20,
        "\n",
        "\n",
        "\r\n",
        "\r",
        "\b",
        "\x1b[m",
        "\x1b[0;1;31m",
        "\x1b[4;44m",
        "\x1b[7m",
    ),
    *(
        "\x1b[22;24;27;39;49m",
        "\x1b[38;5;208m",
        "\x1b[48;2;1;20;255m",
        "\x1b[97m",
        "\x1b[105m",
        "\x1b[K",
        "\x1b[0K",
        "\x1b[1K",
    ),
    *(
        "\x1b[2K",
        "\x1b[A",
        "\x1b[2A",
        "\x1b[9A",
        "\x1b[B",
        "\x1b[3B",
        "\x1b[C",
        "\x1b[7C",
        "\x1b[D",
        "\x1b[4D",
        "\x1b[G",
    ),
    *(
        "\x1b[6G",
        "\x1b[J",
        "\x1b[0J",
        "\x1b[2F",
        "\x1b[E",
        "\x1b[?25l",
        "\x1b(B",
        "\x1b]0;title\x07",
        "\x1b]8;;https://example.org\x1b\\",
        "\x1b]8;;\x1b\\",
        "\x07",
    ),
)


@pytest.mark.parametrize("seed", range(15))
def test_random_streams_give_the_lines_of_a_terminal(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(100):
        data = "".join(dice.choices(PIECES, k=dice.randint(1, 60))).encode()
        edges = sorted({dice.randrange(1, len(data) + 1) for _ in range(3)})
        assert same(shown(data, edges), judged(data, RANDOM_RULES, edges)), data
