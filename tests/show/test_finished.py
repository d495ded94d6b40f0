"""Which panels of finished runs stay open."""

from __future__ import annotations

from itertools import count

import pytest

from boundcap_jupyter.show import finished as module
from boundcap_jupyter.show.finished import KEPT, KEPT_BYTES, NOWHERE, WAITING, WAITING_BYTES, Execution, FinishedPanels

_clock = count(1.0)


class Panel:
    def __init__(self, placed=True, size=1):
        self.placed = placed
        self.used = next(_clock)
        self.size = size
        self.retired = 0

    def held_bytes(self):
        return self.size

    def retire(self):
        self.retired += 1


@pytest.fixture
def finished():
    return FinishedPanels()


def fill(finished, number, **options):
    """Adds so many, each shown in a cell of its own."""
    panels = [Panel(**options) for _ in range(number)]
    for index, panel in enumerate(panels):
        finished.add(panel, {Execution(f"c{index}-{panel.used}", "1")})
    return panels


def retired(panels):
    return [bool(panel.retired) for panel in panels]


def test_the_newest_stay_open(finished):
    panels = fill(finished, KEPT + 5)
    assert retired(panels) == [True] * 5 + [False] * KEPT
    assert [panel.retired for panel in panels[:5]] == [1] * 5


def test_one_that_a_page_asked_something_of_counts_as_new(finished):
    panels = fill(finished, KEPT)
    panels[0].used = next(_clock)
    fill(finished, 1)
    assert retired(panels) == [False, True] + [False] * (KEPT - 2)


def test_their_texts_have_a_limit_but_the_last_run_stays(finished):
    third = KEPT_BYTES // 3
    panels = fill(finished, 5, size=third)
    assert retired(panels) == [True, True, False, False, False]
    (huge,) = fill(finished, 1, size=10 * KEPT_BYTES)
    assert retired([*panels, huge]) == [True] * 5 + [False]


def test_one_that_a_page_may_still_need_waits_for_it(finished):
    missed = fill(finished, WAITING, placed=False)
    placed = fill(finished, KEPT + 1)
    assert retired(missed) == [False] * WAITING
    assert retired(placed) == [True] + [False] * KEPT
    # A page came and put the results where they belong.
    for panel in missed:
        panel.placed = True
    fill(finished, 1)
    assert sum(retired(missed + placed)) == WAITING + 2
    assert retired(missed) == [True] * WAITING


def test_those_that_no_page_speaks_of_have_limits_too(finished):
    panels = fill(finished, WAITING + 3, placed=False)
    assert retired(panels) == [True] * 3 + [False] * WAITING
    large = fill(finished, 2, placed=False, size=WAITING_BYTES)
    assert retired([*panels, *large]) == [True] * (WAITING + 4) + [False]


def test_what_a_cell_showed_is_closed_when_it_runs_again(finished):
    first, second = Panel(), Panel()
    finished.add(first, {Execution("a", "1")})
    finished.add(second, {Execution("b", "1")})
    finished.runs(Execution("a", "2"))
    assert retired([first, second]) == [True, False]
    finished.runs(Execution("a", "3"))
    assert first.retired == 1


def test_runs_of_one_execution_leave_each_other(finished):
    panels = [Panel(), Panel()]
    for panel in panels:
        finished.runs(Execution("a", "1"))
        finished.add(panel, {Execution("a", "1")})
    assert retired(panels) == [False, False]
    finished.runs(Execution("a", "2"))
    assert retired(panels) == [True, True]


def test_one_that_stands_in_several_cells_goes_with_the_last_of_them(finished):
    panel = Panel()
    finished.add(panel, {Execution("a", "1"), Execution("b", "2")})
    finished.runs(Execution("c", "3"), panel)
    finished.runs(Execution("a", "4"))
    finished.runs(Execution("b", "5"))
    assert not panel.retired
    # The same cell shows it again.
    finished.runs(Execution("c", "6"), panel)
    assert not panel.retired
    finished.runs(Execution("c", "7"))
    assert panel.retired == 1


def test_where_cells_have_no_names_nothing_is_known_to_be_gone(finished):
    panel = Panel()
    finished.add(panel, {NOWHERE})
    finished.runs(NOWHERE)
    finished.runs(NOWHERE, Panel())
    assert not panel.retired


def test_one_that_fails_to_close_is_told_of_and_forgotten(finished):
    class Broken(Panel):
        def retire(self):
            raise OSError("no way to the page")

    finished.add(Broken(), {Execution("a", "1")})
    with pytest.raises(OSError, match="no way"):
        finished.runs(Execution("a", "2"))
    finished.runs(Execution("a", "3"))


def test_there_is_one_for_the_kernel():
    assert isinstance(module.FINISHED, FinishedPanels)
