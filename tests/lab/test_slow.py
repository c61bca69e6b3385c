"""Workers that are slow, from the lab: said, shown, remembered."""

from __future__ import annotations

import pytest

import pslab
from pslab.errors import NotFoundError, UsageError
from pslab.lab.display import show_cluster, show_status
from pslab.lab.lab import Lab


def test_a_worker_is_slow_until_it_is_told_otherwise() -> None:
    lab = Lab()
    lab.cluster.start(ps=1, workers=2, processes=False)
    try:
        lab.data(batch_size=8)
        lab.model(hidden=(8,))
        lab.mode(update=pslab.Sync())
        with pytest.raises(NotFoundError, match=r"there is no worker 'ps:0' to be slowed down\n.*worker:0, worker:1"):
            lab.cluster.slow("ps:0", pslab.Constant(0.01))
        with pytest.raises(UsageError, match="a delay is"):
            lab.cluster.slow("worker:1", 0.01)
        assert [t.delay for t in lab.cluster.status().tasks] == ["", "", "", ""]
        status = lab.cluster.slow("worker:1", pslab.Constant(0.01))  # before anything is trained
        assert [t.delay for t in status.tasks if t.name.startswith("worker")] == ["", "10 ms"]
        assert "10 ms" in repr(show_cluster(status))
        shown = lab.train(5, wait=True)
        assert "worker:1 is slow: 10 ms more in each step" in repr(show_status(shown))
        records = lab.records()
        assert (records["compute"][records["worker"] == 1] >= 0.01).all()
        lab.model(hidden=(4,))  # another training, on the same cluster
        lab.train(5, wait=True)
        records = lab.records()
        assert (records["compute"][records["worker"] == 1] >= 0.01).all()
        lab.cluster.slow("worker:1", None)
        assert lab.status().slow == {}
        before = lab.train(5, wait=True).global_step - 4
        records = lab.records()
        assert (records["compute"][(records["worker"] == 1) & (records["global_step"] > before)] < 0.01).any()
    finally:
        lab.cluster.stop()
