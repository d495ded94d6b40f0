"""What the tests of the notebook side share."""

import pytest

from boundcap_jupyter.show import background
from boundcap_jupyter.show import display as displays
from boundcap_jupyter.show.finished import FinishedPanels


@pytest.fixture
def finished(monkeypatch):
    """The panels of finished runs that one test has, and no other."""
    panels = FinishedPanels()
    for module in (displays, background):
        monkeypatch.setattr(module, "FINISHED", panels)
    return panels
