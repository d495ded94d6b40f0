import gc
from types import SimpleNamespace

import IPython
import pytest

from boundcap_jupyter.show import control
from boundcap_jupyter.show.control import MESSAGE_TYPE, control_address


class Panel:
    def __init__(self):
        self.messages = []

    def take(self, message):
        self.messages.append(message)


@pytest.fixture
def kernel(monkeypatch):
    """As of ipykernel: a control thread, and a table of what it calls."""
    kernel = SimpleNamespace(control_handlers={}, control_thread=object())
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=kernel))
    return kernel


def receive(kernel, content):
    kernel.control_handlers[MESSAGE_TYPE](None, [], {"content": content})


def test_a_message_reaches_the_panel_that_has_its_address_and_no_other(kernel):
    one, other = Panel(), Panel()
    address, _ = control_address(one.take), control_address(other.take)
    receive(kernel, {"address": address, "message": {"type": "stop"}})
    # What it says is for the panel to judge.
    receive(kernel, {"address": address})
    assert (one.messages, other.messages) == ([{"type": "stop"}, None], [])


@pytest.mark.parametrize("content", [{}, {"address": None}, {"address": ["x"]}, {"address": "x"}, {"address": ""}])
def test_a_message_with_any_other_address_reaches_none(kernel, content):
    panel = Panel()
    control_address(panel.take)
    receive(kernel, {**content, "message": {"type": "stop"}})
    assert panel.messages == []


@pytest.mark.parametrize("content", [None, [], "address", 1], ids=repr)
def test_a_message_that_is_no_object_is_passed_over(kernel, content):
    control_address(Panel().take)
    receive(kernel, content)


def test_an_address_goes_with_its_panel(kernel):
    panel = Panel()
    address = control_address(panel.take)
    del panel
    gc.collect()
    assert address not in control._addressees
    receive(kernel, {"address": address})


@pytest.mark.parametrize(
    "lack",
    [{"control_thread": None}, {"control_handlers": None}],
    ids=["it has no control thread", "it has no such table"],
)
def test_there_is_no_address_where_a_kernel_has_no_way(kernel, lack):
    vars(kernel).update(lack)
    assert control_address(Panel().take) == ""
    assert not kernel.control_handlers


def test_there_is_no_address_without_a_kernel(monkeypatch):
    monkeypatch.setattr(IPython, "get_ipython", lambda: None)
    assert control_address(Panel().take) == ""
