"""A change of mode: the next epoch is built while the old one ends, and one that cannot be built leaves the training as it was."""

from __future__ import annotations

import pytest

from pslab.errors import GraphError
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.strategy import Replication, Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Sync
from tests.train.tasks import LocalTasks
from tests.train.test_trainer import MANY, data
from tests.waiting import DEADLINE_S, until

IN_GRAPH = Strategy(Replication.IN_GRAPH, Sync())


@pytest.fixture
def tasks():
    with LocalTasks() as tasks:
        yield tasks


@pytest.fixture
def trainer(tasks):
    """It trains."""
    trainer = Trainer(tasks, data(), Model(MLP(2, [8])), batch_size=8)
    trainer.train(MANY)
    trainer.wait(step=5, timeout=DEADLINE_S)
    yield trainer
    trainer.close()


def test_the_next_epoch_is_built_while_the_old_one_ends(tasks, trainer, monkeypatch) -> None:
    client, worker = tasks.services["client:0"], tasks.services["worker:0"]
    build = client.build

    def build_late(job) -> None:
        until(lambda: not worker.loops(), "the old epoch's end")  # which must not wait for what is built
        build(job)

    monkeypatch.setattr(client, "build", build_late)
    trainer.set_strategy(IN_GRAPH)
    step = trainer.status().global_step
    assert trainer.wait(step=step + 5, timeout=DEADLINE_S).strategy == IN_GRAPH


def test_a_mode_that_cannot_be_built_is_refused_and_the_training_goes_on_in_the_one_before(tasks, trainer, monkeypatch) -> None:
    def refuse(job) -> None:
        raise GraphError("no such graph")

    with monkeypatch.context() as patch:
        patch.setattr(tasks.services["client:0"], "build", refuse)
        with pytest.raises(GraphError, match="no such graph"):
            trainer.set_strategy(IN_GRAPH)
    step = trainer.status().global_step
    status = trainer.wait(step=step + 5, timeout=DEADLINE_S)
    assert (status.state, status.strategy) == ("running", Strategy())
    trainer.set_strategy(IN_GRAPH)  # nothing is left of the one that was refused
    assert trainer.wait(step=step + 10, timeout=DEADLINE_S).strategy == IN_GRAPH
