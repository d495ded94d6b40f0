"""Time is a number here: nothing waits."""

from collections import Counter

from boundcap_jupyter.running.budget import BYTES, MESSAGES, SLACK, WORK, Budget


def publish_all(runs: int, seconds: float, size: int = 0, work: float = 0.0) -> list[tuple[float, int]]:
    """(time, run) of each message of runs that always have something to say."""
    budget = Budget()
    sent = []
    places = {run: budget.take_place(0.0) for run in range(runs)}
    while True:
        run = min(places, key=lambda run: places[run])
        now = max(0.0, places[run])
        if now > seconds:
            return sent
        sent.append((now, run))
        budget.charge(size, work)
        places[run] = budget.take_place(now)


def test_a_run_that_is_alone_does_not_wait():
    budget = Budget()
    for tenth in range(100):
        assert budget.take_place(tenth / 10) <= tenth / 10


def test_many_runs_together_send_no_more_than_the_budget():
    sent = publish_all(64, 5.0)
    assert len(sent) <= MESSAGES * (5.0 + SLACK) + 1
    # And they use it.
    assert len(sent) >= MESSAGES * 5.0 - 1


def test_runs_that_all_have_something_to_say_take_turns():
    counts = Counter(run for _, run in publish_all(64, 5.0))
    assert len(counts) == 64
    assert max(counts.values()) - min(counts.values()) <= 1


def test_large_updates_are_charged_by_their_bytes():
    size = 50 * 1024
    sent = publish_all(16, 10.0, size)
    # A place that was given before the size was known is kept: one for each run.
    assert len(sent) * size <= BYTES * (10.0 + SLACK) + 16 * size


def test_the_work_of_making_updates_is_a_part_of_the_time():
    sent = publish_all(64, 10.0, work=0.020)
    assert len(sent) * 0.020 <= WORK * (10.0 + SLACK) + 64 * 0.020


def test_small_updates_cost_no_more_than_their_message():
    assert len(publish_all(64, 5.0, size=100, work=0.001)) == len(publish_all(64, 5.0))


def test_what_was_not_used_is_not_saved_up():
    budget = Budget()
    waiting = [budget.take_place(1000.0) - 1000.0 for _ in range(MESSAGES)]
    at_once = sum(wait <= 0 for wait in waiting)
    assert at_once <= MESSAGES * SLACK + 2
