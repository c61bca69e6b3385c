"""What is seen of towers: their parameters are those that they read, and looking at them sends nothing."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.strategy import Replication, Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import SSP, Async, Sync
from tests.train.tasks import LocalTasks
from tests.train.test_values import data, model


@pytest.mark.parametrize("update", [Sync(), Async(), SSP(0)], ids=str)
@pytest.mark.parametrize("ps", [1, 2])
def test_a_tower_comes_to_its_commit_with_what_it_has_read(update, ps):
    with LocalTasks(ps, 1) as tasks:
        trainer = Trainer(tasks, data("float64"), model("momentum"), Strategy(Replication.IN_GRAPH, update), 10)
        try:
            trainer.step(4)
            before = trainer.parameters()
            trainer.step(1)
            (replica,) = trainer.replicas()
            assert (replica.worker, replica.global_step) == ("worker:0", 5)
            assert set(replica.arrived) == set(before)
            assert all(np.array_equal(replica.arrived[name], before[name]) for name in before)
        finally:
            trainer.close()


def test_a_step_that_is_observed_sends_no_parameters_to_the_client():
    with LocalTasks(1, 2) as tasks:
        trainer = Trainer(tasks, data("float64"), Model(MLP(3, [400])), Strategy(Replication.IN_GRAPH, Async()), 10)
        try:
            trainer.step(10)
            while not trainer.records()["observed"].any():
                trainer.step(10)
            (answers,) = (link.sent for link in trainer.traffic().links() if (link.source, link.destination) == ("ps:0", "client:0"))
            assert answers.bytes / answers.messages < sum(value.nbytes for value in trainer.parameters().values()) / 20
        finally:
            trainer.close()
