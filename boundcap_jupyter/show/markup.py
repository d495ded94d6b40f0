"""The text of a view as HTML that fits into a given number of bytes of a notebook file.

Everything is text: characters with a meaning in HTML are escaped, links are those that `core.text` knows as safe, and
the only elements are `span`, `a`, `br` and `bdi` with styles from here.

| in the HTML                      | because                                                                       |
|----------------------------------|-------------------------------------------------------------------------------|
| single quotes round attributes   | JSON escapes double ones: two bytes for each in the file                      |
| `<br>`, not a newline            | a line in a notebook file costs 11 bytes beside its text, and in Markdown the |
|                                  | first blank line ends the HTML                                                |
| `<bdi>` round a single character | what turns the direction of text then turns nothing, and is still copied      |
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, takewhile

from boundcap_jupyter.core.limits import Retain
from boundcap_jupyter.core.sgr import Style
from boundcap_jupyter.core.text import plain, safe_link, spans
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.show.palette import FOREGROUND, ink
from boundcap_jupyter.show.summary import lines, omission

#: Of what is said beside the text, not by the command: 8.2:1 on the background, 6.4:1 on a bar.
QUIET = "#a4adbb"

#: Characters that turn the direction of what follows (Unicode Standard Annex 9, 2.1 to 2.6).
_TURNS = re.compile("([\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069])")

_SAVED = "without colours, to save space"


@dataclass(frozen=True, slots=True)
class Markup:
    """`html` is the text, `left_out` says in words what is missing in it to save space, or ""."""

    html: str
    left_out: str = ""


def fit(view: OutputView, retain: Retain, budget: int) -> Markup:
    """The text of the view in at most `budget` bytes of the file: in colours, else without, else the end that was kept.

    Where not one line fits, a part of one is there. Costs a pass over the text for each of these attempts.
    """
    coloured = _coloured(view.head, "") + _marker(view) + _coloured(view.text, view.metadata.lead_sgr)
    if bytes_in_file(coloured) <= budget:
        return Markup(coloured)
    text = plain_text(view)
    bare = escaped(text)
    if bytes_in_file(bare) <= budget:
        return Markup(bare, _SAVED)
    side = "first" if retain == "head" else "last"
    rows = text.removesuffix("\n").split("\n")
    if kept := _fitting([row + "\n" for row in rows], side, budget):
        return Markup(escaped("".join(kept)), f"only the {side} {lines(len(kept))} here, {_SAVED}")
    row, part = (rows[0], "beginning of the first") if side == "first" else (rows[-1], "end of the last")
    return Markup(escaped("".join(_fitting(list(row), side, budget))), f"only the {part} line here, {_SAVED}")


def plain_text(view: OutputView) -> str:
    """The bounded text without colours; where both ends are kept, a line between them says what is missing."""
    if not view.head:
        return plain(view.text)
    head = plain(view.head)
    marker = omission(view.metadata) + "\n" if view.metadata.omitted_bytes else ""
    return f"{head}{_missing_newline(head)}{marker}{plain(view.text)}"


def escaped(text: str) -> str:
    """The text as HTML that shows exactly it, within an element that keeps white space."""
    safe = html.escape(text, quote=False).replace("\n", "<br>")
    return safe if safe.isascii() else _TURNS.sub(r"<bdi>\1</bdi>", safe)


def isolated(text: str) -> str:
    """The text as text in which nothing turns the direction of what follows, and all of it is still there.

    Each such character stands in an isolate of its own (Unicode Standard Annex 9, 2.4), as in a `<bdi>`; the second
    end is for those that begin an isolate themselves, and is the end of nothing for all others.
    """
    return text if text.isascii() else _TURNS.sub("\u2068\\1\u2069\u2069", text)


def bytes_in_file(text: str) -> int:
    """Bytes of a text without newlines in a notebook file: JSON in UTF-8."""
    return len(json.dumps(text, ensure_ascii=False).encode())


def _marker(view: OutputView) -> str:
    if not view.head or not view.metadata.omitted_bytes:
        return ""
    newline = _missing_newline(plain(view.head))
    return f"{escaped(newline)}<span style='color:{QUIET}'>{escaped(omission(view.metadata))}</span><br>"


def _missing_newline(text: str) -> str:
    return "" if text.endswith("\n") else "\n"


def _fitting(pieces: list[str], side: str, budget: int) -> list[str]:
    """The first or last pieces, as many as fit."""
    ordered = pieces if side == "first" else pieces[::-1]
    # Two quotes stand round the whole, not round each piece.
    sizes = accumulate(bytes_in_file(escaped(piece)) - 2 for piece in ordered)
    count = sum(1 for _ in takewhile(lambda total: total + 2 <= budget, sizes))
    kept = ordered[:count]
    return kept if side == "first" else kept[::-1]


def _coloured(text: str, lead_sgr: str) -> str:
    return "".join(_element(span.text, _css(span.style), span.link) for span in spans(text, lead_sgr))


def _element(text: str, css: str, link: str) -> str:
    body = escaped(text)
    # Once more: a view may have come from anywhere.
    if link and (address := safe_link(link)):
        # The text's colour, since a page has one of its own for links. What comes later in a style wins.
        style = ";".join(filter(None, (f"color:{FOREGROUND}", css, "text-decoration:underline")))
        href = html.escape(address, quote=True)
        return f"<a href='{href}' target='_blank' rel='noopener noreferrer' style='{style}'>{body}</a>"
    return f"<span style='{css}'>{body}</span>" if css else body


@lru_cache(maxsize=1024)
def _css(style: Style) -> str:
    colour, background = ink(style)
    lines_ = [name for name, on in (("underline", style.underline), ("line-through", style.strike)) if on]
    declarations = {
        "color": colour,
        "background": background,
        "font-weight": "bold" if style.bold else None,
        "font-style": "italic" if style.italic else None,
        "text-decoration": " ".join(lines_) or None,
    }
    return ";".join(f"{name}:{value}" for name, value in declarations.items() if value is not None)
