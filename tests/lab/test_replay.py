"""Replay in a lab: a race of real processes, once more in one."""

from __future__ import annotations

import numpy as np

from pslab.lab.lab import Lab


def test_a_race_of_processes_is_replayed_bit_for_bit_and_the_training_is_left_alone() -> None:
    lab = Lab()
    lab.cluster.start(ps=2, workers=2, processes=True)
    try:
        lab.model("mlp", hidden=(16,), optimizer="momentum", learning_rate=0.05)
        lab.train(60, wait=True)
        found = lab.replay()
        for name, value in lab._training().parameters().items():
            np.testing.assert_array_equal(found[name], value, err_msg=name)
        assert lab.status().global_step == 60
    finally:
        lab.cluster.stop()
