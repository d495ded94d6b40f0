import gc
from types import SimpleNamespace

import IPython
import pytest

from boundcap_jupyter.show import control
from boundcap_jupyter.show.control import MESSAGE_TYPE, control_address


class Run:
    def __init__(self):
        self.stops = 0

    def stop(self):
        self.stops += 1


@pytest.fixture
def kernel(monkeypatch):
    """As of ipykernel 6: a control thread, no subshells."""
    kernel = SimpleNamespace(control_handlers={}, control_thread=object())
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=kernel))
    return kernel


def receive(kernel, content):
    kernel.control_handlers[MESSAGE_TYPE](None, [], {"content": content})


def test_a_message_stops_the_run_that_has_its_address_and_no_other(kernel):
    one, other = Run(), Run()
    address, _ = control_address(one.stop), control_address(other.stop)
    receive(kernel, {"address": address})
    assert (one.stops, other.stops) == (1, 0)


@pytest.mark.parametrize("content", [{}, {"address": None}, {"address": ["x"]}, {"address": "x"}, {"address": ""}])
def test_any_other_message_stops_nothing(kernel, content):
    run = Run()
    control_address(run.stop)
    receive(kernel, content)
    assert run.stops == 0


def test_an_address_goes_with_its_run(kernel):
    run = Run()
    address = control_address(run.stop)
    del run
    gc.collect()
    assert address not in control._addressees
    receive(kernel, {"address": address})


@pytest.mark.parametrize(
    "lack",
    [{"_supports_kernel_subshells": True}, {"control_thread": None}, {"control_handlers": None}],
    ids=["it has subshells", "it has no control thread", "it has no such table"],
)
def test_there_is_no_address_where_a_kernel_has_no_need_or_no_way(kernel, lack):
    vars(kernel).update(lack)
    assert control_address(Run().stop) == ""
    assert not kernel.control_handlers


def test_there_is_no_address_without_a_kernel(monkeypatch):
    monkeypatch.setattr(IPython, "get_ipython", lambda: None)
    assert control_address(Run().stop) == ""
