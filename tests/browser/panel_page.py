"""One panel in a page of its own, fed as a kernel feeds it: what depends on a browser, without a notebook round it."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

from playwright.sync_api import Locator, Page, Route

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.publisher import AdaptivePublisher
from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.show import wire

#: A secure context, as a notebook on this machine is one; nothing listens there, the test answers.
ORIGIN = "http://localhost:1"

_PAGE = """<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="/panel.css">
<body style="margin: 8px; font: 14px sans-serif">
<p style="height: 200px">before</p><div id="panel" style="width: 800px"></div><p style="height: 1500px">after</p>
<script type="module">
import define from "/panel.js";
const listeners = {};
window.sent = [];
const model = {
    traits: { snapshot: SNAPSHOT, command: "make", foreground: true, retain: "tail" },
    get: (name) => model.traits[name],
    on: (event, listener) => (listeners[event] ??= new Set()).add(listener),
    off: (event, listener) => listeners[event]?.delete(listener),
    send: (message) => window.sent.push(message),
};
window.receive = (message) => listeners["msg:custom"].forEach((listener) => listener(message));
// When all that was received is drawn, and laid out.
window.drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
const widget = define();
widget.initialize({ model });
widget.render({ model, el: document.getElementById("panel") });
window.ready = true;
</script>"""


class PanelPage:
    """`feed` is what the command prints; each call is one update at least `pause` seconds after the one before."""

    def __init__(self, page: Page, *, retain: str = "tail", **limits: Any) -> None:
        self.page = page
        self._capture = OutputCapture(OutputLimits(retain=retain, **limits))
        self._publisher = AdaptivePublisher(self._capture.view)
        self._seq = 0
        self._now = 0.0
        nothing = wire.snapshot_to_wire(0, None, None, RunStatus(RunState.RUNNING))
        html = _PAGE.replace("SNAPSHOT", json.dumps(nothing))
        answers = {"": ("text/html", html)}
        for name, kind in (("panel.js", "text/javascript"), ("panel.css", "text/css")):
            answers[name] = (kind, files("boundcap_jupyter").joinpath("static", name).read_text("utf-8"))

        def answer(route: Route) -> None:
            kind, body = answers[route.request.url.removeprefix(f"{ORIGIN}/")]
            route.fulfill(body=body, content_type=f"{kind}; charset=utf-8")

        page.route(f"{ORIGIN}/*", answer)
        page.goto(f"{ORIGIN}/")
        page.wait_for_function("window.ready")
        self.panel: Locator = page.locator(".boundcap-panel")
        self.text: Locator = page.locator(".boundcap-text")

    def view(self) -> OutputView:
        return self._capture.view()

    def feed(self, data: bytes, pause: float = 0.1) -> None:
        self._capture.feed(data)
        self._publisher.mark()
        due = self._publisher.due
        assert due is not None
        self._now = max(self._now + pause, due)
        update = self._publisher.poll(self._now)
        if update is not None:
            self._seq += 1
            self.receive(wire.update_message(self._seq, "output", update))

    def end(self, status: RunStatus) -> None:
        self._capture.finish()
        self._seq += 1
        self.receive(wire.update_message(self._seq, "output", self._publisher.finish(self._now)))
        self.receive(wire.status_message(replace(status, duration=self._now)))

    def receive(self, message: dict[str, Any]) -> None:
        self.page.evaluate("async (message) => { window.receive(message); await window.drawn(); }", message)

    def settle(self) -> None:
        self.page.evaluate("window.drawn()")

    @property
    def from_end(self) -> float:
        """Pixels between the end of the text and the lower edge of the area."""
        return self.text.evaluate("area => area.scrollHeight - area.scrollTop - area.clientHeight")

    @property
    def top_line(self) -> tuple[str, float]:
        """The first line in sight, and how far it begins above the upper edge of the area."""
        line, offset = self.text.evaluate(
            """area => {
                const top = area.getBoundingClientRect().top;
                for (const line of area.querySelectorAll('.boundcap-line')) {
                    const box = line.getBoundingClientRect();
                    if (box.bottom > top + 1) return [line.textContent, box.top - top];
                }
            }"""
        )
        return line, offset
