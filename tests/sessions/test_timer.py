from __future__ import annotations

import pytest

from pslab.errors import UsageError
from pslab.sessions import timer as module
from pslab.sessions.timer import SecondOrStepTimer


@pytest.mark.parametrize("arguments", [{}, {"every_secs": 1.0, "every_steps": 2}])
def test_it_is_one_of_the_two(arguments: dict) -> None:
    with pytest.raises(UsageError, match="exactly one of every_secs and every_steps"):
        SecondOrStepTimer(**arguments)


def test_by_steps() -> None:
    timer = SecondOrStepTimer(every_steps=3)
    assert timer.should_trigger_for_step(0)
    assert timer.update_last_triggered_step(0) == (None, None)
    assert [s for s in range(6) if timer.should_trigger_for_step(s)] == [3, 4, 5]
    seconds, steps = timer.update_last_triggered_step(4)
    assert steps == 4 and seconds >= 0
    assert timer.last_triggered_step() == 4


def test_by_seconds_and_never_twice_at_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(module, "monotonic", lambda: now)
    timer = SecondOrStepTimer(every_secs=2.0)
    timer.update_last_triggered_step(7)
    now = 101.0
    assert not timer.should_trigger_for_step(8)
    now = 102.5
    assert not timer.should_trigger_for_step(7)
    assert timer.should_trigger_for_step(8)
    assert timer.update_last_triggered_step(9) == (2.5, 2)
    timer.reset()
    assert timer.should_trigger_for_step(9)
