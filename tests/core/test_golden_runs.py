"""Whole runs as they are published, which both languages fold; js/src/core/fold.test.ts reads the same file.

A case has the updates of a run in order, and the text that a terminal leaves in the limits, which the slow reference
says. `python -m tests.core.test_golden_runs` writes the file anew.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.publisher import AdaptivePublisher
from boundcap_jupyter.core.sgr import PLAIN, apply_sgr, transition
from boundcap_jupyter.core.text import safe_link
from boundcap_jupyter.core.update import apply_update
from boundcap_jupyter.show.wire import update_from_wire, update_to_wire, view_from_wire
from tests.core.reference import Terminal

GOLDEN = Path(__file__).parent.parent / "golden" / "runs.json"

#: What a run prints, 0.2 s apart. Astral characters stand where views are cut: at both ends of lines and alone in them.
STREAMS: dict[str, list[str]] = {
    "lines that begin and end in astral characters": [f"😀{number}🚀\n" for number in range(25)],
    "lines of nothing else": ["😀" * (number % 7) + "\n" for number in range(25)],
    "one line that grows by astral characters": ["🚀"] * 40,
    "a bar of them": [f"\r{'😀' * number}🚀" for number in range(20)],
    "rows that are redrawn": [f"\r🚀{number}\n\r😀{'🚀' * (number % 3)}\x1b[A" for number in range(20)],
    "colours between them": [f"\x1b[3{number % 8}m😀\x1b[0m🚀\x1b[1m\n" for number in range(25)],
    "pieces of lines": ["😀", "a\n🚀", "\n", "b😀", "🚀\rc", "\n😀\n"] * 6,
}


def published(pieces: list[str], limits: OutputLimits, *, seed: int) -> list[dict[str, Any]]:
    """The updates of a run whose bytes come in pieces that have nothing to do with characters."""
    capture = OutputCapture(limits)
    publisher = AdaptivePublisher(capture.view)
    updates = []
    cuts = random.Random(seed)
    rest = b""
    for number, piece in enumerate(pieces):
        rest += piece.encode()
        size = cuts.randint(0, len(rest))
        capture.feed(rest[:size])
        rest = rest[size:]
        publisher.mark()
        updates.append(publisher.poll(0.2 * number))
    capture.feed(rest)
    capture.finish()
    # Not `publisher.finish`, whose complete update would hide what those before it came to.
    publisher.mark()
    updates.append(publisher.poll(0.2 * len(pieces)))
    return [update_to_wire(update) for update in updates if update is not None]


def cases() -> list[dict[str, Any]]:
    found = []
    for seed, (name, pieces) in enumerate(STREAMS.items()):
        limits = OutputLimits(max_bytes=64 + seed, max_lines=6)
        data = "".join(pieces).encode()
        terminal = Terminal(data, (apply_sgr, transition, PLAIN), safe_link, max_width=65_536)
        right = terminal.tail(limits.max_bytes, limits.max_lines)["text"]
        found.append({"name": name, "updates": published(pieces, limits, seed=seed), "text": right})
    return found


CASES: list[dict[str, Any]] = json.loads(GOLDEN.read_text("utf-8")) if GOLDEN.exists() else []


def test_the_file_holds_what_is_published():
    assert CASES == cases()


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_all_updates_of_a_run_fold_to_what_a_terminal_leaves(case):
    first, *others = case["updates"]
    view = view_from_wire(first["output"])
    for update in others:
        view = apply_update(view, update_from_wire(update))
    assert view.text == case["text"]


def test_every_kind_of_update_is_among_them():
    kinds = {update["kind"] for case in CASES for update in case["updates"]}
    assert kinds == {"replace", "append", "slide", "rewrite", "metadata"}


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(cases(), ensure_ascii=False, indent=1) + "\n", "utf-8")
