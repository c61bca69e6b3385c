"""What the tensors weigh that a task sends."""

from __future__ import annotations

import numpy as np

from pslab.runtime.tally import Tally, Weight, is_weighed


def test_runs_are_weighed_ever_less_often() -> None:
    assert [run for run in range(70) if is_weighed(run)] == [0, 1, 2, 4, 8, 16, 32, 64]


def test_arrays_are_weighed_by_receiver_and_tensor() -> None:
    tally = Tally()
    tally.weigh("ps:0", ["a:0", "b:0"], [np.zeros(3, np.float32), np.float64(1)])
    tally.weigh("ps:0", ["a:0"], [np.zeros(5, np.float32)])
    tally.weigh("ps:1", ["a:0"], [np.zeros((2, 2))])
    assert sorted(tally.weights()) == [Weight("ps:0", "a:0", 2, 32), Weight("ps:0", "b:0", 1, 8), Weight("ps:1", "a:0", 1, 32)]
    tally.begin_anew()
    assert tally.weights() == []
