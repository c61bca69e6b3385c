"""What may be spent on looking: by arithmetic."""

from __future__ import annotations

import pytest

from pslab.lab.parameter_view.budget import Budget


def test_the_credit_may_be_spent_at_once_and_is_made_up_for() -> None:
    budget = Budget(0.1, 2.0, 0.0)
    assert budget.affords(0.0)
    budget.spend(3.0)
    assert not budget.affords(9.9)
    assert budget.affords(10.1)


def test_over_a_long_time_no_more_than_the_share_is_spent_beyond_the_credit() -> None:
    budget, spent = Budget(0.02, 1.0, 0.0), 0.0
    for tick in range(100_000):
        now = tick / 100
        if budget.affords(now):
            budget.spend(0.3)
            spent += 0.3
    assert spent == pytest.approx(0.02 * 1000 + 1.0, abs=0.4)


def test_a_rest_saves_no_more_than_the_credit() -> None:
    budget = Budget(0.5, 1.0, 0.0)
    budget.spend(0.5)
    assert budget.affords(1000.0)
    budget.spend(1.0)
    assert not budget.affords(1000.0)
