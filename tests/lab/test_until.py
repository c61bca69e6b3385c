"""When a run ends."""

from __future__ import annotations

import math

import pytest

from pslab.errors import UsageError
from pslab.lab.until import LIMIT, Until


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, "nothing says when a run ends"),
        ({"every": 10}, "nothing says"),
        ({"steps": 0}, "steps=…"),
        ({"steps": 1.5}, "steps=…"),
        ({"steps": True}, "steps=…"),
        ({"steps": 5, "every": 0}, "every=…"),
        ({"accuracy": 95}, "accuracy=….* from 0 to 1, found 95"),
        ({"accuracy": "high"}, "found 'high'"),
        ({"seconds": -1}, "seconds=….* from 0 on"),
        ({"loss": math.nan}, "loss=…"),
    ],
)
def test_what_cannot_be_an_end_is_refused(wrong, said) -> None:
    with pytest.raises(UsageError, match=said):
        Until(**wrong)


def test_a_target_is_reached_at_it_and_beyond() -> None:
    until = Until(accuracy=0.9, loss=0.5)
    assert until.reached({"accuracy": 0.9, "loss": 1.0})
    assert until.reached({"accuracy": 0.1, "loss": 0.5})
    assert not until.reached({"accuracy": 0.899, "loss": 0.501})
    assert not Until(steps=5).reached({"loss": 0.0})


def test_a_run_is_over_at_its_limit_of_updates_or_seconds() -> None:
    assert Until(accuracy=0.9).limit == LIMIT
    until = Until(steps=100, seconds=2.0)
    assert [until.over(99, 1.9), until.over(100, 0.0), until.over(0, 2.0)] == [False, True, True]


def test_an_end_is_a_value_or_keywords_but_not_both() -> None:
    assert Until.of(None, {"accuracy": 0.9}) == Until(accuracy=0.9)
    assert Until.of(Until(steps=5), {}) == Until(steps=5)
    with pytest.raises(UsageError, match=r"found Until.* and steps"):
        Until.of(Until(steps=5), {"steps": 6})
    with pytest.raises(UsageError, match=r"no end 'accurcy'\n.*did you mean 'accuracy'"):
        Until.of(None, {"accurcy": 0.9})
    with pytest.raises(UsageError, match=r"must be one pslab\.Until"):
        Until.of(0.95, {})  # type: ignore[arg-type]


def test_an_accuracy_needs_a_model_that_has_one() -> None:
    Until(accuracy=0.9).check(("accuracy",))
    with pytest.raises(UsageError, match="no metric 'accuracy'; it has error"):
        Until(accuracy=0.9).check(("error",))
    Until(loss=0.9).check(())


def test_it_says_what_it_is() -> None:
    assert str(Until(accuracy=0.95, steps=200)) == "accuracy 0.95, steps 200"
    assert Until(loss=0.5, accuracy=0.9).target == "accuracy 0.9 or loss 0.5"
