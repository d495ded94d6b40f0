"""The control channel as a way for Stop, in kernels that hear nothing else while a cell runs.

Comm messages wait for the end of the cell in ipykernel 6, which has no subshells; messages of the control channel are
taken on a thread of their own. Comms are not heard there, so Stop has a message type of its own, with an address for
each widget. ipykernel offers no way to add a type but its table of handlers: where that is missing, Stop takes the
other way, a comm message and then an interrupt of the kernel.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any
from uuid import uuid4
from weakref import WeakMethod

#: Twin of js/src/dom/control.ts.
MESSAGE_TYPE = "boundcap_stop_request"

_addressees: dict[str, WeakMethod[Callable[[], None]]] = {}


def control_address(stop: Callable[[], None]) -> str:
    """An address at which `stop`, a method, is called on the control thread; "" where there is no need or no way.

    It is forgotten with the object of the method.
    """
    kernel = _kernel()
    handlers = getattr(kernel, "control_handlers", None)
    in_need = getattr(kernel, "control_thread", None) and not getattr(kernel, "_supports_kernel_subshells", False)
    if not in_need or not isinstance(handlers, dict):
        return ""
    handlers[MESSAGE_TYPE] = _take
    address = uuid4().hex
    _addressees[address] = WeakMethod(stop, lambda _: _addressees.pop(address, None))
    return address


def _take(_stream: object, _identities: object, message: dict[str, Any]) -> None:
    """What ipykernel calls; the message may say anything."""
    address = message["content"].get("address")
    reference = _addressees.get(address) if isinstance(address, str) else None
    stop = reference() if reference is not None else None
    if stop is not None:
        stop()


def _kernel() -> Any:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None)
