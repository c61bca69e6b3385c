"""What averaging replicas does to the loss: on real replicas, and by Jensen's inequality."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pslab.data.datasets import digits
from pslab.errors import FailedPreconditionError
from pslab.train.commits import Differences
from pslab.train.distances import ALL, ReplicaParameters, mean_of
from pslab.train.merge_gap import MergeGap
from pslab.train.model import Model
from pslab.train.models import MLP, logistic
from pslab.train.strategy import Replication, Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Async, Sync
from tests.train import reference
from tests.train.tasks import LocalTasks
from tests.train.test_local import data
from tests.waiting import DEADLINE_S, until


def first_merge(workers: int, every: int, own_start: bool) -> MergeGap:
    strategy = Strategy(update=Sync(), commit_every=every, commit=Differences(own_start=own_start))
    with LocalTasks(1, workers) as tasks:
        trainer = Trainer(tasks, digits(), Model(MLP(10, [64]), learning_rate=0.1), strategy, 32)
        trainer.step()
        merged = trainer.merge_gap()
        trainer.close()
    return merged


def test_from_starts_of_their_own_merging_hurts_and_more_of_them_hurt_more() -> None:
    two, four = (first_merge(workers, 150, own_start=True) for workers in (2, 4))
    assert 0.05 < two.gap < four.gap
    assert set(two.steps.values()) == {1}


def test_from_one_start_merging_helps() -> None:
    assert first_merge(2, 150, own_start=False).gap <= 0


POINTS = st.lists(
    st.tuples(arrays(np.float64, (6, 3), elements=st.floats(-5, 5)), arrays(np.float64, 3, elements=st.floats(-5, 5))), min_size=2, max_size=4
)


@pytest.fixture(scope="module")
def convex():
    with LocalTasks(1, 1) as tasks:
        trainer = Trainer(tasks, data(), Model(logistic(3)))
        yield lambda points, x, y: tasks.call("worker:0", "ask", method="losses", points=points, x=x, y=y, chunk=7), list(trainer.parameters())
        trainer.close()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(POINTS)
def test_on_a_convex_loss_the_gap_is_never_positive(convex, points) -> None:
    losses, names = convex
    replicas = [ReplicaParameters(f"worker:{i}", 0, {}, dict(zip(names, point, strict=True))) for i, point in enumerate(points)]
    test = data().x_test, data().y_test
    *each, average = losses([*(r.arrived for r in replicas), mean_of(replicas)], *test)
    gap = MergeGap({"worker:0": 0}, {r.worker: loss for r, loss in zip(replicas, each, strict=True)}, average).gap
    assert gap <= 1e-9
    logits = test[0] @ points[0][0] + points[0][1]
    wanted = np.mean(np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(logits)), test[1]])
    assert each[0] == pytest.approx(wanted)


@pytest.mark.parametrize("replication", list(Replication))
@pytest.mark.parametrize("update", [Sync(), Async()])
def test_in_every_mode_there_are_replicas_to_compare(replication, update) -> None:
    with LocalTasks(2, 2) as tasks:
        trainer = Trainer(tasks, data(), Model(MLP(3, [10])), Strategy(replication, update), 8)
        with pytest.raises(FailedPreconditionError, match="no replica"):
            trainer.replicas()
        trainer.train(50)
        trainer.wait(timeout=60)
        assert [r.worker for r in trainer.replicas()] == ["worker:0", "worker:1"]
        assert set(trainer.replicas()[0].arrived) == set(reference.NAMES)
        found = [d for d in trainer.divergence() if d.parameter == ALL]
        assert [(d.first, d.second) for d in found] == [("worker:0", "ps"), ("worker:1", "ps"), ("worker:0", "worker:1")]
        assert all(np.isfinite(d.distance) for d in found)
        if isinstance(update, Sync):
            assert found[2].distance == 0
        before = trainer.parameters()
        assert np.isfinite(trainer.merge_gap(16).gap)
        for name, value in trainer.parameters().items():
            np.testing.assert_array_equal(value, before[name])

        def seen() -> bool:  # there is a look every half second at most
            trainer.train(50)
            trainer.wait(timeout=DEADLINE_S)
            return bool(trainer.divergence_history())

        until(seen, "nobody has looked at the replicas")
        trainer.stop()
        with pytest.raises(FailedPreconditionError, match="no replica"):
            trainer.merge_gap()
        trainer.reset()
        assert not trainer.divergence_history()
        trainer.close()
