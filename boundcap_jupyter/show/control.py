"""The control channel as a way for the messages of a panel, where a busy kernel hears nothing else.

Comm messages wait for the end of the cell in ipykernel 6, which has no subshells, and in any kernel when they come from
a page that does not know of its subshells: one that was loaded while the cell ran. Messages of the control channel are
taken on a thread of their own. Comms are not heard there, so the panel has a message type of its own, with an address
for each widget. ipykernel offers no way to add a type but its table of handlers: where that is missing, messages take
the other way, late, and Stop interrupts the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4
from weakref import WeakMethod

from boundcap_jupyter.show.kernel import control_handlers

#: Twin of js/src/dom/control.ts.
MESSAGE_TYPE = "boundcap_request"

_addressees: dict[str, WeakMethod[Callable[[object], None]]] = {}


def control_address(take: Callable[[object], None]) -> str:
    """An address at which `take`, a method, gets messages on the control thread; "" where there is no way.

    A message may be anything. The address is forgotten with the object of the method.
    """
    handlers = control_handlers()
    if handlers is None:
        return ""
    handlers[MESSAGE_TYPE] = _take
    address = uuid4().hex
    _addressees[address] = WeakMethod(take, lambda _: _addressees.pop(address, None))
    return address


def _take(_stream: object, _identities: object, message: dict[str, Any]) -> None:
    """What ipykernel calls; the message may say anything."""
    content = message["content"]
    if not isinstance(content, dict):
        return
    address = content.get("address")
    reference = _addressees.get(address) if isinstance(address, str) else None
    take = reference() if reference is not None else None
    if take is not None:
        take(content.get("message"))
