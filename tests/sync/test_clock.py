"""The clock of bounded staleness: who is held, and who is let go by whose step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.sync.clock import StalenessClock


def test_with_no_slack_all_go_when_the_last_has_come() -> None:
    clock = StalenessClock(range(3), 0)
    assert clock.tick(1) == []
    assert clock.holds(1)
    assert clock.tick(0) == []
    assert clock.tick(2) == [0, 1, 2]
    assert not any(clock.holds(w) for w in range(3))


def test_one_may_be_so_many_steps_ahead_and_no_more() -> None:
    clock = StalenessClock(range(2), 2)
    assert [clock.tick(0), clock.tick(0), clock.tick(0)] == [[0], [0], []]
    assert clock.ahead(0) == 3
    assert clock.tick(1) == [0, 1]


def test_nobody_waits_for_one_that_has_left() -> None:
    clock = StalenessClock(range(3), 0)
    clock.tick(0)
    clock.tick(1)
    assert clock.leave(2) == [0, 1]
    assert clock.leave(2) == []
    clock.tick(0)
    assert clock.leave(1) == [0]


def test_an_open_clock_holds_nobody_from_then_on() -> None:
    clock = StalenessClock(range(2), 0)
    clock.tick(0)
    assert clock.open() == [0]
    assert clock.tick(0) == [0]


@given(st.integers(1, 5), st.integers(0, 4), st.lists(st.integers(0, 4), max_size=60), st.data())
@pytest.mark.filterwarnings("ignore")
def test_nobody_begins_a_step_too_far_ahead_and_somebody_always_may(workers, staleness, choices, drawn) -> None:
    clock = StalenessClock(range(workers), staleness)
    steps = dict.fromkeys(range(workers), 0)
    for choice in choices:
        free = [w for w in steps if not clock.holds(w)]
        assert free
        worker = free[choice % len(free)]
        assert steps[worker] - min(steps.values()) <= staleness
        if len(steps) > 1 and drawn.draw(st.integers(0, 9)) == 0:
            released = clock.leave(worker)
            del steps[worker]
        else:
            steps[worker] += 1
            released = clock.tick(worker)
        assert all(not clock.holds(w) for w in released)
        for w, made in steps.items():
            assert clock.holds(w) == (made - min(steps.values()) > staleness)


@given(st.lists(st.integers(0, 3), max_size=50))
def test_without_a_bound_in_reach_it_holds_nobody(ticks) -> None:
    clock = StalenessClock(range(4), 10**9)
    assert all(clock.tick(worker) == [worker] for worker in ticks)
