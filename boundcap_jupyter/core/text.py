r"""The text of a view: what stays in it, and what it says without its colours and links.

A view's text holds printable characters, TAB, newline, SGR sequences and OSC 8 links to http(s), all well formed:

    ESC [ digits ; digits m              colours, as `sgr.transition` writes them
    ESC ] 8 ; ; address ESC \             a link begins; without an address it ends, at the latest with its line
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from boundcap_jupyter.core.sgr import PLAIN, Style, apply_sgr

_SEQUENCE = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\]8;;([^\x1b]*)\x1b\\")
#: An address that may become a link: http or https, visible ASCII alone, no quotes or brackets that could end an
#: attribute.
_LINK = re.compile(r"https?://[!#-;=?-\[\]_a-z~%]+", re.IGNORECASE)
#: Characters of an address. What browsers have always taken.
MAX_LINK = 2000


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text in one style, with the address of the link that it belongs to, or ""."""

    text: str
    style: Style
    link: str = ""


def spans(text: str, lead_sgr: str = "") -> Iterator[Span]:
    """The stretches of a view's text; `lead_sgr` is the colour at its start. One pass over the text."""
    style, link, position = PLAIN, "", 0
    whole = lead_sgr + text
    for match in _SEQUENCE.finditer(whole):
        if match.start() > position:
            yield Span(whole[position : match.start()], style, link)
        position = match.end()
        if match[1] is not None:
            style = apply_sgr(style, match[1])
        else:
            link = match[2]
    if position < len(whole):
        yield Span(whole[position:], style, link)


def plain(text: str) -> str:
    """The text without colours and links. One pass over it."""
    return _SEQUENCE.sub("", text) if "\x1b" in text else text


def safe_link(address: str) -> str:
    """The address if it may become a link, else ""."""
    return address if len(address) <= MAX_LINK and _LINK.fullmatch(address) else ""
