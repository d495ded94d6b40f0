"""Pages that are loaded while the kernel is busy: reloaded ones, and second ones.

Such a page asks the kernel for the widgets that its notebook shows, on the shell channel, where it is heard when the
cell is over; until then it shows "Loading widget…". So it is told without having asked. Whenever a client comes, which
the control channel tells, a widget is opened that is never shown: its state has the state of each panel that a page may
lack, and its code (js/src/dom/reopen.ts) hands these to the widget manager of a page that lacks them. Pages that have
them take no notice.

A page has the static result of most runs that are over, and is told of their panels only if it would have to wait.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import traitlets
from anywidget import AnyWidget
from ipywidgets import Widget
from ipywidgets.widgets import widget as widget_module

from boundcap_jupyter.show.kernel import control_handlers, main_loop

_log = logging.getLogger(__name__)

#: Seconds before each telling, since a client was heard. A page on a slow machine gets the second.
WAITS = (0.5, 3.0)
#: Seconds that what was told stays open, for a page that has yet to load its code.
STAYS = 10.0
#: Bytes of code and text, roughly, beyond which panels of runs that are over are left out; running ones never are.
MOST_BYTES = 1024 * 1024

#: How a client that comes is heard of. The server asks for the kernel's info when a page connects, a moment before that
#: is ready to hear; not if it knows that the kernel is busy, which it does not always. JupyterLab and Notebook 7 ask a
#: kernel with a debugger, as ipykernel's is, for the state of that, 3 s after they asked for its info in vain.
_FIRST_WORDS: dict[str, Callable[[object], bool]] = {
    "kernel_info_request": lambda _: True,
    "debug_request": lambda content: isinstance(content, dict) and content.get("command") == "debugInfo",
}
#: Traits that are the same for all panels, and for the widget that tells of them.
_CODE = ("_esm", "_css")


class Reopening(AnyWidget):
    """The widget that is never shown: tells pages of others that they may lack."""

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)
    #: The state of each panel but for these two, by the id of its model.
    panels = traitlets.Dict().tag(sync=True)
    #: What the panels refer to, what contains them, and what that refers to.
    others = traitlets.Dict().tag(sync=True)


class Panel(Protocol):
    """What is used of a BoundedOutput."""

    #: A page has the static result in its notebook.
    placed: bool
    comm: Any
    model_id: str

    @property
    def running(self) -> bool:
        """No end is known of the run."""
        ...

    def get_state(self) -> dict[str, Any]:
        """The traits that a page is told of, by their names."""
        ...


class Latecomers:
    """Knows the panels that a page may lack, and tells those that come. Any thread may call it."""

    def __init__(self) -> None:
        # Again on the same thread: a widget that is collected as garbage closes itself, wherever that happens.
        self._lock = threading.RLock()
        #: Oldest first.
        self._panels: dict[Panel, None] = {}
        self._telling = False
        #: The waits that are left, since a client was last heard.
        self._waits: list[float] = []
        self._told: Reopening | None = None

    def expect(self, panel: Panel) -> None:
        """Tell pages of this panel from now on. Does nothing where there is no kernel, or it has no control channel."""
        handlers = control_handlers()
        if handlers is None:
            return
        with self._lock:
            for name, is_first in _FIRST_WORDS.items():
                handler = handlers.get(name)
                if handler is not None and not isinstance(handler, _Overheard):
                    handlers[name] = _Overheard(handler, is_first, self._heard)
            self._panels[panel] = None

    def forget(self, panel: Panel) -> None:
        """No page needs to be told of it any more."""
        with self._lock:
            self._panels.pop(panel, None)

    def _heard(self) -> None:
        with self._lock:
            if not self._panels:
                return
            # Again from the first: one that comes while others are told may not be ready to hear what they are told.
            self._waits = [*WAITS]
            if self._telling:
                return
            self._telling = True
        threading.Thread(target=self._tell_all, name="boundcap-latecomers", daemon=True).start()

    def _tell_all(self) -> None:
        told = None
        try:
            while (wait := self._next_wait()) is not None:
                idle = threading.Event()
                if (loop := main_loop()) is not None:
                    loop.add_callback(idle.set)
                time.sleep(wait)
                told = self._tell(busy=not idle.is_set())
        except BaseException:
            with self._lock:
                self._telling = False
            raise
        time.sleep(STAYS)
        with self._lock:
            if self._told is told:
                self._told = None
        _close(told)

    def _next_wait(self) -> float | None:
        """Seconds; None when everyone was told, and then another thread tells those that come."""
        with self._lock:
            self._telling = bool(self._waits)
            return self._waits.pop(0) if self._waits else None

    def _tell(self, *, busy: bool) -> Reopening | None:
        """Open a widget that tells of the panels, in place of the last one; None if there is nothing to tell.

        `busy`: the kernel answers no page by itself.
        """
        with self._lock:
            before, self._told = self._told, None
            needed = [panel for panel in reversed(self._panels) if busy or not panel.placed]
        _close(before)
        running = [panel for panel in needed if panel.running]
        code: dict[str, str] = {}
        panels: dict[Panel, dict[str, Any]] = {}
        size = 0
        for panel in (*running, *(panel for panel in needed if panel not in running)):
            state = panel.get_state()
            code = {name: state.pop(name) for name in _CODE}
            size += len(repr(state))
            if size > MOST_BYTES and panel not in running:
                break
            panels[panel] = state
        if not panels:
            return None
        told = Reopening(**code, panels=_by_id(panels), others=_by_id(_states_around([*panels])))
        with self._lock:
            self._told = told
        return told


class _Overheard:
    """A handler of the control channel, as it was, that lets somebody know."""

    def __init__(
        self,
        handler: Callable[..., Any],
        is_first: Callable[[object], bool],
        heard: Callable[[], None],
    ) -> None:
        self._handler = handler
        self._is_first = is_first
        self._heard = heard

    def __call__(self, stream: object, identities: object, message: dict[str, Any]) -> Any:
        if self._is_first(message["content"]):
            self._heard()
        return self._handler(stream, identities, message)


LATECOMERS = Latecomers()


def _states_around(panels: list[Any]) -> dict[Widget, dict[str, Any]]:
    """The states of what panels cannot be shown without: their layouts, the boxes around them, what else is there."""
    containers: dict[Widget, list[Widget]] = {}
    # All open widgets: a private table that ipywidgets has no other way to. Without it a box is left out.
    for widget in dict(getattr(widget_module, "_instances", {})).values():
        try:
            for child in _widgets_in(getattr(widget, "children", ())):
                containers.setdefault(child, []).append(widget)
        except Exception:  # noqa: BLE001 - somebody else's code; most likely it has nothing to do with a panel
            _log.debug("what is in a %s is not known", type(widget).__name__, exc_info=True)
    states: dict[Widget, dict[str, Any]] = {}
    seen = set(panels)
    left = [*panels]
    while left:
        widget = left.pop()
        try:
            around = {*containers.get(widget, ()), *_widgets_in([getattr(widget, name) for name in widget.keys])}
            if widget not in panels:
                states[widget] = widget.get_state()
        except Exception:  # noqa: BLE001 - somebody else's code, on a thread that it may not expect; said, and left out
            _log.warning("a page that was reloaded may have to wait for %s", type(widget).__name__, exc_info=True)
            continue
        left += around - seen
        seen |= around
    return states


def _by_id(states: Mapping[Any, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Without those that were closed meanwhile."""
    return {widget.model_id: state for widget, state in states.items() if widget.comm is not None}


def _widgets_in(value: object) -> Iterable[Widget]:
    if isinstance(value, Widget):
        yield value
    elif isinstance(value, list | tuple | set):
        for part in value:
            yield from _widgets_in(part)
    elif isinstance(value, dict):
        yield from _widgets_in([*value.values()])


def _close(told: Reopening | None) -> None:
    if told is not None:
        told.close()
        told.layout.close()
