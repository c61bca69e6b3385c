"""When a port is busy."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pslab.runtime.transport.timeline import Timeline

asked = st.lists(st.tuples(st.integers(0, 100), st.integers(1, 10)), max_size=30)


@given(asked)
def test_a_moment_is_given_once_and_the_first_that_is_free(requests) -> None:
    timeline, busy = Timeline(), set()
    for earliest, duration in requests:
        free = (moment for moment in range(earliest, 10_000) if moment not in busy)
        taken = [next(free) for _ in range(duration)]
        assert timeline.reserve(earliest, duration) == (taken[0], taken[-1] + 1)
        busy.update(taken)


@given(asked, st.randoms())
def test_the_order_of_asking_does_not_change_when_it_is_busy(requests, random) -> None:
    """A message that is read late takes what it would have taken, had it been read in time."""
    ends = []
    for order in (requests, random.sample(requests, len(requests))):
        timeline = Timeline()
        for request in order:
            timeline.reserve(*request)
        ends.append(timeline.reserve(0, 1000)[1])
    assert ends[0] == ends[1]


def test_nothing_takes_no_time() -> None:
    timeline = Timeline()
    timeline.reserve(0, 10)
    assert timeline.reserve(5, 0) == (5, 5)


def test_the_far_past_is_forgotten_as_busy() -> None:
    timeline = Timeline()
    for i in range(1000):
        assert timeline.reserve(10 * i, 5) == (10 * i, 10 * i + 5)
    assert timeline.reserve(9995, 5) == (9995, 10_000)
    assert timeline.reserve(0, 5)[0] > 5
