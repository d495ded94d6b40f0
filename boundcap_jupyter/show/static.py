"""What stays in the notebook when a run is over: text/plain and text/html, good without a kernel on any page.

The HTML looks as the panel did (js/src/dom/panel.css), but with inline styles alone: JupyterLab's sanitiser strips
`<style>`, `<script>` and ids, has a list of properties and of the values of each, and knows colours by hex, rgb and
name only. It sets its own background, so that the colours of the text read on white and on black.
"""

from __future__ import annotations

from typing import Protocol

from boundcap_jupyter.core.limits import Retain
from boundcap_jupyter.core.status import RunStatus
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.show import summary
from boundcap_jupyter.show.markup import QUIET, bytes_in_file, escaped, fit, plain_text
from boundcap_jupyter.show.palette import BACKGROUND, FOREGROUND

#: Bytes in the notebook file for each byte of the view's text.
MAX_RATIO = 6
#: Bytes of text in the HTML that are always allowed: below, a file is small whatever the ratio.
LEAST_TEXT = 16 * 1024
#: Bytes that the HTML takes beside the text: 2.2 KB with a path of 200 characters. A constant, so that neither the path
#: nor the duration decides what is shown.
FRAME = 2560
#: Bytes that nbformat writes for a line beside its text: seven spaces, two quotes, a comma and a newline.
LINE_IN_FILE = 11

#: The colours of panel.css.
_EDGE, _BAR = "#39424f", "#242a34"
_OUTCOMES: dict[summary.Outcome, str] = {"running": "#6fa8f0", "good": "#7fc98a", "bad": "#f2777a", "ended": "#e0b25e"}

#: JupyterLab's own choice of fonts, by names without quotes, which an attribute could not hold.
_FONT = "font-family:Menlo,Consolas,DejaVu Sans Mono,monospace;font-size:13px;line-height:1.45"
_ROOT = (
    f"margin:2px 0;border:1px solid {_EDGE};border-radius:6px;overflow:hidden;background:{BACKGROUND};"
    f"color:{FOREGROUND};{_FONT};text-align:left;direction:ltr"
)
_BAR_STYLE = f"display:flex;flex-wrap:wrap;align-items:center;background:{_BAR};color:{QUIET};font-size:12px"
#: As high as the panel's with its Stop button.
_HEADER = f"{_BAR_STYLE};box-sizing:border-box;min-height:34px;padding:4px 12px"
_FOOTER = f"{_BAR_STYLE};padding:4px 12px"
#: Seen only where a host takes the styles away, as code hosts do in Markdown: a flex box does not show it.
_GAP = " "
_DOT = "flex:none;width:8px;height:8px;border-radius:50%"
#: 24 rows of text and the padding. Where `color-scheme` is not stripped, the scroll bar is dark too.
_BOX = "color-scheme:dark;display:flex;max-height:468px;padding:8px 12px;overflow:auto;box-sizing:border-box"
#: A page may give `pre` colours, and an overflow that would let it shrink within its box.
_PRE = (
    f"flex:none;margin:0;padding:0;border:0;overflow:visible;background:{BACKGROUND};color:{FOREGROUND};{_FONT};"
    "white-space:pre-wrap;overflow-wrap:break-word"
)


class Outcome(Protocol):
    """What a run came to; an ExecResult is one."""

    @property
    def status(self) -> RunStatus: ...

    @property
    def view(self) -> OutputView: ...


def static_bundle(outcome: Outcome, retain: Retain = "tail") -> dict[str, str]:
    """The result by mime type: text/plain and text/html.

    In the notebook file both together take at most `MAX_RATIO` times the bytes of the view's text, or what text/plain
    takes and `LEAST_TEXT` and `FRAME` more where that is more: the text of 2,000 short lines alone may exceed the
    ratio. To fit, the HTML goes without colours and links, then without far lines, and says so; text/plain never does.

    The same status and view give the same bundle; two runs that print the same differ in the duration and in the path
    of the spill. Costs a few passes over the text.
    """
    text = static_text(outcome, retain)
    view = outcome.view
    in_file = bytes_in_file(text) + LINE_IN_FILE * (text.count("\n") + 1)
    allowed = MAX_RATIO * (len(view.text.encode()) + len(view.head.encode()))
    markup = fit(view, retain, max(allowed - in_file - FRAME, LEAST_TEXT))
    header, footer = _header(outcome), _footer(outcome, retain, markup.left_out)
    return {"text/plain": text, "text/html": _block(header, markup.html, footer, retain)}


def static_text(outcome: Outcome, retain: Retain = "tail") -> str:
    """The bounded text without colours, and the status line as its last line."""
    text = plain_text(outcome.view)
    newline = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{newline}{summary.status_line(outcome.status, outcome.view, retain)}"


def _block(header: str, body: str, footer: str, retain: Retain) -> str:
    if not body:
        return f"<div style='{_ROOT}'><div style='{_HEADER}'>{header}</div>{footer}</div>"
    # The bar folds the text away, without a script; a box of reversed direction starts at its end, likewise.
    direction = "column" if retain == "head" else "column-reverse"
    return (
        f"<div style='{_ROOT}'><details open><summary style='{_HEADER};cursor:pointer'>{header}</summary>"
        f"<div style='{_BOX};flex-direction:{direction}'><pre style='{_PRE}'>{body}</pre></div></details>{footer}</div>"
    )


def _header(outcome: Outcome) -> str:
    status, truncation = outcome.status, outcome.view.metadata.truncation
    colour = _OUTCOMES[summary.outcome(status)]
    figures = (
        summary.duration(status.duration),
        summary.size(truncation.total_bytes),
        summary.lines(truncation.total_lines),
    )
    return (
        f"<span style='{_DOT};background:{colour}'></span>"
        f"<b style='margin-left:8px;color:{colour}'>{escaped(summary.state_label(status))}</b>"
        + "".join(f"{_GAP}<span style='margin-left:16px'>{figure}</span>" for figure in figures)
    )


def _footer(outcome: Outcome, retain: Retain, left_out: str) -> str:
    metadata = outcome.view.metadata
    why = escaped(summary.detail(outcome.status))
    place = escaped(summary.spill_words(metadata))
    if metadata.spill_path is not None:
        path = escaped(summary.display_path(metadata.spill_path))
        place = f"{place} <span style='color:{FOREGROUND};word-break:break-all'>{path}</span>".lstrip()
    items = [part for part in (escaped(summary.shown(outcome.view, retain)), escaped(left_out), place) if part]
    content = (f"<div style='flex:none;width:100%;color:{_OUTCOMES['bad']}'>{why}</div>" if why else "") + _GAP.join(
        f"<span style='margin-right:16px'>{item}</span>" for item in items
    )
    return f"<div style='{_FOOTER}'>{content}</div>" if content else ""
