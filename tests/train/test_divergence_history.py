"""How often the replicas are looked at."""

from __future__ import annotations

import pytest

from pslab.train.distances import Distance
from pslab.train.divergence_history import SHARE, DivergenceHistory

SEEN = [Distance("worker:0", "ps", "all", 0.5, 1.0)]


@pytest.mark.parametrize("cost", [0.001, 0.1, 3.0])
def test_looking_takes_its_share_of_the_time_and_no_more(cost) -> None:
    now = 0.0
    history = DivergenceHistory(lambda: now)
    spent = 0.0

    def see():
        nonlocal now, spent
        now, spent = now + cost, spent + cost
        return int(now * 1000), SEEN

    while now < 1000 * cost / SHARE:
        history.look(0, see)
        now += 0.1
    assert len(history.looks) > 2
    assert spent / now < 1.2 * SHARE


def test_a_step_is_seen_once_in_a_mode_and_nothing_is_no_look() -> None:
    now = 0.0
    history = DivergenceHistory(lambda: now)
    for strategy, step, found in [(0, 3, SEEN), (0, 3, SEEN), (1, 3, SEEN), (1, 4, []), (1, 5, SEEN)]:
        history.look(strategy, lambda step=step, found=found: (step, found))
        now += 1
    assert [(look.strategy, look.global_step) for look in history.looks] == [(0, 3), (1, 3), (1, 5)]


def test_a_look_that_fails_is_not_tried_again_at_once() -> None:
    history, tried = DivergenceHistory(lambda: 0.0), []

    def see():
        tried.append(1)
        raise OSError

    with pytest.raises(OSError):
        history.look(0, see)
    history.look(0, see)
    assert len(tried) == 1
