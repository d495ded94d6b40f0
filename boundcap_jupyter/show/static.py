"""What stays in the notebook when a run is over: text/plain and text/html, good without a kernel on any page.

The HTML looks as the panel did (js/src/dom/panel.css), but with inline styles alone: JupyterLab's sanitiser strips
`<style>`, `<script>` and ids, has a list of properties and of the values of each, and knows colours by hex, rgb and
name only. It sets its own background, so that the colours of the text read on white and on black.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from boundcap_jupyter.core.limits import Retain
from boundcap_jupyter.core.status import RunStatus
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.show import summary
from boundcap_jupyter.show.markup import QUIET, bytes_in_file, escaped, fit, isolated, plain_text
from boundcap_jupyter.show.palette import BACKGROUND, FOREGROUND

#: Bytes in the notebook file for each byte of the view's text.
MAX_RATIO = 6
#: Bytes of text in the HTML that are always allowed: below, a file is small whatever the ratio.
LEAST_TEXT = 16 * 1024
#: Bytes that the HTML takes beside each text: 2.2 KB with a path of 200 characters. A constant, so that neither the
#: path nor the duration decides what is shown.
FRAME = 2560
#: Bytes that nbformat writes for a line beside its text: seven spaces, two quotes, a comma and a newline.
LINE_IN_FILE = 11

#: Classes of the root of a result whose run has a panel; the second ends with the token. Twin of js/src/dom/results.ts.
RESULT_CLASS, RUN_CLASS = "boundcap-result", "boundcap-run-"

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
_HEADING = f"{_BAR_STYLE};padding:2px 12px;border-top:1px solid {_EDGE}"
#: Seen only where a host takes the styles away, as code hosts do in Markdown: a flex box does not show it.
_GAP = " "
_DOT = "flex:none;width:8px;height:8px;border-radius:50%"
#: Where `color-scheme` is not stripped, the scroll bar is dark too.
#: The border does not scroll away, so that of the text whole rows are seen.
_BOX = (
    f"color-scheme:dark;display:flex;max-height:{{height}};border-top:8px solid {BACKGROUND};"
    f"border-bottom:8px solid {BACKGROUND};padding:0 12px;overflow:auto;box-sizing:border-box"
)
#: 24 rows of text and the border; two texts share the rows, 16 and 8, as in the panel.
_HEIGHTS = {"": "468px", "stdout": "318px", "stderr": "167px"}
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

    @property
    def stderr_view(self) -> OutputView | None:
        """The standard error where it was kept apart, else None."""


def static_bundle(outcome: Outcome, retain: Retain = "tail", token: str = "") -> dict[str, str]:
    """The result by mime type: text/plain and text/html.

    `token` is that of the widget which showed the run, if one did: a page that still has its model shows the panel in
    the place of the HTML, which it finds by a class (js/src/dom/results.ts). Classes are all that the sanitiser of
    JupyterLab leaves of such a mark.

    In the notebook file both together take at most `MAX_RATIO` times the bytes of the view's text, or what text/plain
    takes and `LEAST_TEXT` and `FRAME` more where that is more: the text of 2,000 short lines alone may exceed the
    ratio. To fit, the HTML goes without colours and links, then without far lines, and says so; text/plain never does.
    Where the standard error has a view of its own, all of this is true of each of the two.

    The same status, view and token give the same bundle; two runs that print the same differ in the duration, in the
    path of the spill and in the token. Costs a few passes over the text.
    """
    status_line, texts = _lines(outcome, retain, plain_text)
    named = summary.sections(outcome.view, outcome.stderr_view)
    parts = []
    for (name, view), text in zip(named, texts, strict=True):
        lines = text + status_line
        in_file = bytes_in_file(lines) + LINE_IN_FILE * (lines.count("\n") + 1)
        allowed = MAX_RATIO * (len(view.text.encode()) + len(view.head.encode()))
        markup = fit(view, retain, max(allowed - in_file - FRAME, LEAST_TEXT))
        bar, bar_style = (_heading(name, view), _HEADING) if name else (_header(outcome), _HEADER)
        body = _body(markup.html, retain, _HEIGHTS[name])
        parts.append(_foldable(bar_style, bar, body) + _footer(view, retain, markup.left_out))
    header = f"<div style='{_HEADER}'>{_header(outcome)}</div>" if len(named) > 1 else ""
    mark = f"class='{RESULT_CLASS} {RUN_CLASS}{token}' " if token else ""
    html = f"<div {mark}style='{_ROOT}'>{header}{''.join(parts)}{_why(outcome.status)}</div>"
    return {"text/plain": "".join(texts) + status_line, "text/html": html}


def static_text(outcome: Outcome, retain: Retain, text_of: Callable[[OutputView], str]) -> str:
    """The result as lines: what `text_of` makes of a view, or of each of two under a heading, and the status line."""
    status_line, texts = _lines(outcome, retain, text_of)
    return "".join(texts) + status_line


def _lines(outcome: Outcome, retain: Retain, text_of: Callable[[OutputView], str]) -> tuple[str, list[str]]:
    """(status line, the text above it: one for each section, whole lines)"""
    texts = []
    for name, view in summary.sections(outcome.view, outcome.stderr_view):
        text = isolated(text_of(view))
        newline = "" if not text or text.endswith("\n") else "\n"
        # What printed nothing is in the totals.
        heading = f"{summary.heading(name, view, retain)}\n" if name and text else ""
        texts.append(f"{heading}{text}{newline}")
    return summary.status_line(outcome.status, outcome.view, retain, outcome.stderr_view), texts


def _foldable(bar_style: str, bar: str, body: str) -> str:
    """A bar, and below it what it folds away, without a script."""
    if not body:
        return f"<div style='{bar_style}'>{bar}</div>"
    return f"<details open><summary style='{bar_style};cursor:pointer'>{bar}</summary>{body}</details>"


def _body(html: str, retain: Retain, height: str) -> str:
    if not html:
        return ""
    # A box of reversed direction starts at its end, without a script.
    direction = "column" if retain == "head" else "column-reverse"
    box = f"{_BOX.format(height=height)};flex-direction:{direction}"
    return f"<div style='{box}'><pre style='{_PRE}'>{html}</pre></div>"


def _header(outcome: Outcome) -> str:
    status = outcome.status
    colour = _OUTCOMES[summary.outcome(status)]
    figures = [took] if (took := summary.took(status)) else []
    if len(summary.sections(outcome.view, outcome.stderr_view)) == 1:
        figures += _totals(outcome.view)
        if outcome.stderr_view is not None:
            figures.append(summary.NO_STDERR)
    return (
        f"<span style='{_DOT};background:{colour}'></span>"
        f"<b style='margin-left:8px;color:{colour}'>{escaped(summary.state_label(status))}</b>{_figures(figures)}"
    )


def _heading(name: str, view: OutputView) -> str:
    """The bar above one of two texts. Both look the same: what is written to the standard error is no failure."""
    figures = _totals(view) if view.metadata.truncation.total_bytes else ["nothing"]
    return f"<b style='color:{FOREGROUND}'>{name}</b>{_figures(figures)}"


def _totals(view: OutputView) -> list[str]:
    return [*reversed(summary.totals(view.metadata))]


def _figures(figures: list[str]) -> str:
    return "".join(f"{_GAP}<span style='margin-left:16px'>{figure}</span>" for figure in figures)


def _footer(view: OutputView, retain: Retain, left_out: str) -> str:
    metadata = view.metadata
    place = escaped(summary.spill_words(metadata))
    if metadata.spill_path is not None:
        path = escaped(summary.display_path(metadata.spill_path))
        place = f"{place} <span style='color:{FOREGROUND};word-break:break-all'>{path}</span>".lstrip()
    items = [part for part in (escaped(summary.shown(view, retain)), escaped(left_out), place) if part]
    content = _GAP.join(f"<span style='margin-right:16px'>{item}</span>" for item in items)
    return f"<div style='{_FOOTER}'>{content}</div>" if content else ""


def _why(status: RunStatus) -> str:
    said = ((summary.held(status), _OUTCOMES["ended"]), (escaped(summary.detail(status)), _OUTCOMES["bad"]))
    return "".join(f"<div style='{_FOOTER};color:{colour}'>{text}</div>" for text, colour in said if text)
