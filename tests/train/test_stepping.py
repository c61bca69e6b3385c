"""A race, one message at a time: who read which version, whose gradient was how stale, and what becomes of the parameters."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.data.datasets import Dataset
from pslab.errors import FailedPreconditionError, UsageError
from pslab.train.model import Model
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import SSP, Async, RingAllReduce, Sync
from tests.train.tasks import LocalTasks
from tests.train.test_consistency import quadratic

ONES = Dataset("ones", np.ones((64, 1)), np.ones((64, 1)), np.ones((4, 1)), np.ones((4, 1)))


@pytest.fixture
def start():
    with LocalTasks(ps=1, workers=2) as tasks:
        trainers = []

        def make(strategy: Strategy) -> Trainer:
            trainers.append(Trainer(tasks, ONES, Model(quadratic(1.0), learning_rate=0.1), strategy, 4))
            return trainers[-1]

        yield make
        for trainer in trainers:
            trainer.close()


def test_a_race_that_worker_1_wins_twice(start) -> None:
    trainer = start(Strategy(update=Async()))
    passages = [trainer.advance(worker) for worker in (1, 1, 0)]
    assert [(p.message.worker, p.read, p.staleness, p.updates, p.global_step) for p in passages] == [
        (1, 0, 0, 1, 1),
        (1, 1, 0, 2, 2),
        (0, 0, 2, 3, 3),
    ]
    w = 1.0 - 0.1 * 1.0  # worker 1, at 1
    w -= 0.1 * w  # worker 1, at what it has just read
    w -= 0.1 * 1.0  # worker 0, at 1 still
    assert float(trainer.parameters()["w"]) == pytest.approx(w, rel=1e-12)
    assert str(passages[2]).startswith("commit of worker:0 at ps:0, computed at version 0, 2 stale: version 3 now, global step 3")


def test_what_is_not_let_in_changes_nothing(start) -> None:
    trainer = start(Strategy(update=Async()))
    trainer.advance(0)
    before = trainer.parameters()["w"]
    while len(trainer.messages()) < 2:
        pass
    assert {(m.ps, m.worker, m.what) for m in trainer.messages()} == {("ps:0", 0, "commit"), ("ps:0", 1, "commit")}
    assert trainer.parameters()["w"] == before


def test_ssp_holds_whoever_is_too_far_ahead(start) -> None:
    trainer = start(Strategy(update=SSP(1)))
    assert trainer.advance(0).held == ()
    assert trainer.advance(0).held == (0,)
    with pytest.raises(FailedPreconditionError, match="worker:0 waits for slower ones"):
        trainer.advance(0)
    assert trainer.advance(1).held == ()


def test_in_sync_the_update_comes_with_the_last(start) -> None:
    trainer = start(Strategy(update=Sync()))
    assert trainer.advance(0).global_step == 0
    trainer.advance(1)
    trainer.wait(step=1, timeout=30)
    assert float(trainer.parameters()["w"]) == pytest.approx(0.9)


def test_it_goes_on_as_if_nothing_had_been(start) -> None:
    trainer = start(Strategy(update=Async()))
    trainer.advance(1)
    trainer.train(20)
    status = trainer.wait(timeout=30)
    assert status.state == "done"
    assert status.global_step >= 21
    made = trainer.status().global_step
    assert float(trainer.parameters()["w"]) < 0.9
    trainer.step(3)
    assert trainer.status().global_step == made + 3


def test_what_cannot_be_is_refused(start) -> None:
    with pytest.raises(UsageError, match="there is no worker 7"):
        start(Strategy()).advance(7)
    with pytest.raises(UsageError, match="no ps at which messages could wait"):
        start(Strategy(update=RingAllReduce())).messages()
