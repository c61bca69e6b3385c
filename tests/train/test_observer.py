"""The observer: looking costs no more than its share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.train.observer import FIRST_INTERVAL_S, SHARE, Observer


def test_the_first_step_is_observed_and_then_not_before_the_interval_is_over() -> None:
    observer = Observer(10.0)
    assert observer.due(10.0)
    observer.note(10.0, 10.001, observed=True)
    observer.note(10.001, 10.002, observed=False)
    assert not observer.due(10.002)
    assert observer.due(10.001 + FIRST_INTERVAL_S)


def test_however_slow_steps_are_no_two_in_a_row_are_observed() -> None:
    observer, now, seen = Observer(0.0), 0.0, []
    for _ in range(20):
        seen.append(observer.due(now))
        observer.note(now, now + 10.0, seen[-1])
        now += 10.0
    assert seen == [True, False] * 10


@given(usual=st.floats(1e-5, 0.1), extra=st.floats(0, 0.5))
def test_over_a_long_time_looking_takes_no_more_than_its_share(usual: float, extra: float) -> None:
    observer = Observer(0.0)
    now = spent = 0.0
    looks = 0
    while looks < 50:
        observed = observer.due(now)
        took = usual + (extra if observed else 0.0)
        observer.note(now, now + took, observed)
        now += took if observed else max(took, FIRST_INTERVAL_S / 10)  # skip the dull stretches
        spent += extra if observed else 0.0
        looks += observed
    assert spent <= 1.5 * SHARE * now + 2 * extra


@pytest.mark.parametrize("observers", [1, 8])
def test_where_steps_vary_by_more_than_a_look_takes_it_still_has_no_more_than_its_share(observers: int) -> None:
    rng = np.random.default_rng(0)
    observer = Observer(0.0, observers)
    now = spent = 0.0
    for took in rng.gamma(4.0, 0.1 / 4, 20_000):  # 0.1 s on average, half of that up or down
        observed = observer.due(now)
        extra = 0.02 if observed else 0.0
        observer.note(now, now + took + extra, observed)
        now, spent = now + took + extra, spent + extra
    assert 0 < spent <= SHARE / observers * now
