"""The last steps of each worker."""

from __future__ import annotations

import numpy as np

from pslab.lab.panel.timeline import AWAY_S, FIELDS, KEPT, SHOWN, Timeline
from tests.trace.steps import steps


def rows(timeline: Timeline) -> dict[str, np.ndarray]:
    return dict(zip(FIELDS, timeline.rows().T, strict=True))


def test_a_row_is_a_step_with_its_times() -> None:
    timeline = Timeline(1)
    timeline.add(steps([7], compute=0.004, push=0.001, wait=0.002, pull=0.003, step=5))
    (row,) = timeline.rows()
    np.testing.assert_allclose(row, [0.01, 0.01, 0.004, 0.001, 0.002, 0.003, 0, 5], rtol=1e-4)


def test_nothing_is_said_before_the_first_step() -> None:
    assert Timeline(2).rows().shape == (0, len(FIELDS))


def test_it_keeps_no_more_than_it_may_and_shows_the_last() -> None:
    timeline = Timeline(2)
    for begin in range(0, 4000, 100):
        numbers = np.arange(begin, begin + 100)
        timeline.add(steps(numbers, worker=numbers % 2, step=numbers, time=numbers * 0.01))
    assert all(len(last) == KEPT for last in timeline._last.values())
    shown = rows(timeline)
    assert [int((shown["worker"] == k).sum()) for k in (0, 1)] == [SHOWN, SHOWN]
    assert shown["step"].max() == 3999


def test_workers_are_shown_up_to_when_all_are_known() -> None:
    timeline = Timeline(2)
    timeline.add(steps(np.arange(200), worker=0, time=np.arange(200) * 0.01))
    timeline.add(steps([1, 2], worker=1, time=[0.8, 0.81]))
    shown = rows(timeline)
    assert shown["end"][shown["worker"] == 0].max() < 0.84
    assert (shown["worker"] == 0).sum() == SHOWN


def test_nobody_waits_for_a_worker_that_is_away() -> None:
    timeline = Timeline(2)
    timeline.add(steps([1], worker=1, time=[1.0]))
    timeline.add(steps([2], worker=0, time=[1.0 + 2 * AWAY_S]))
    assert set(rows(timeline)["worker"]) == {0, 1}
    assert rows(timeline)["end"].max() > 2 * AWAY_S
