"""Numbers that are changed while it trains: from the next step on they are those asked for, and nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.checkpoint.files import open_checkpoint
from pslab.data.batches import Batches
from pslab.errors import UsageError
from pslab.optim.optimizer import GradientDescentOptimizer
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.strategy import Replication, Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Sync
from tests.train.tasks import LocalTasks
from tests.train.test_trainer import data
from tests.waiting import DEADLINE_S, until

MODES = pytest.mark.parametrize("replication", list(Replication), ids=str)


@pytest.fixture
def tasks():
    with LocalTasks(ps=1, workers=1) as tasks:
        yield tasks


@pytest.fixture
def start(tasks):
    trainers = []

    def make(replication: Replication = Replication.BETWEEN_GRAPH, model: Model | None = None) -> Trainer:
        trainers.append(Trainer(tasks, data(), model or Model(MLP(2, [8]), learning_rate=0.5), Strategy(replication, Sync()), batch_size=8))
        return trainers[-1]

    yield make
    for trainer in trainers:
        trainer.close()


def moved(trainer: Trainer) -> dict[str, np.ndarray]:
    """How far one step moves each parameter."""
    before = trainer.parameters()
    trainer.step(timeout=DEADLINE_S)
    after = trainer.parameters()
    return {name: after[name] - before[name] for name in before}


@MODES
def test_the_same_gradient_at_another_rate_goes_as_much_further(start, tmp_path, replication) -> None:
    trainer = start(replication)
    trainer.step(3, timeout=DEADLINE_S)
    kept = trainer.save(str(tmp_path / "kept"))
    usual = moved(trainer)
    trainer.restore(kept)
    trainer.adjust(learning_rate=0.125)
    assert trainer.status().global_step == 3
    slower = moved(trainer)
    for name, way in usual.items():
        np.testing.assert_allclose(slower[name], way / 4, rtol=1e-3, atol=1e-6)


def test_parameters_slots_and_the_global_step_stay(start, tmp_path) -> None:
    trainer = start(model=Model(MLP(2, [8]), optimizer="momentum", learning_rate=0.5))
    trainer.step(5, timeout=DEADLINE_S)
    before = trainer.save(str(tmp_path / "before"))
    trainer.adjust(learning_rate=0.25, batch_size=4)
    with open_checkpoint(before) as old, open_checkpoint(trainer.save(str(tmp_path / "after"))) as new:
        assert any("Momentum" in name for name in old)
        assert old.read("global_step") == 5
        for name, value in old.read_all().items():
            np.testing.assert_array_equal(new.read(name), value)


@MODES
def test_batches_are_of_the_new_size_and_go_on_in_the_data(start, replication) -> None:
    trainer = start(replication)
    trainer.step(2, timeout=DEADLINE_S)
    trainer.adjust(batch_size=20)
    before = trainer.parameters()
    trainer.step(timeout=DEADLINE_S)
    until(lambda: 3 in trainer.records()["global_step"], "the step is not recorded")
    (loss,) = trainer.records()["loss"][trainer.records()["global_step"] == 3]
    dataset = data()
    batches = Batches(dataset.x_train, dataset.y_train, 20, 0)
    batches.seek(2)
    x, y = next(batches)
    hidden = [v for v in before.values() if v.ndim == 2]
    biases = [v for v in before.values() if v.ndim == 1]
    logits = np.maximum(x @ hidden[0] + biases[0], 0) @ hidden[1] + biases[1]
    expected = np.mean(np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(20), y])
    assert loss == pytest.approx(expected, rel=1e-4)


def test_it_goes_on_running(start) -> None:
    trainer = start()
    trainer.train(1_000_000)
    trainer.wait(step=20, timeout=DEADLINE_S)
    trainer.adjust(learning_rate=0.01, batch_size=16)
    assert trainer.status().state == "running"
    step = trainer.status().global_step
    assert trainer.wait(step=step + 20, timeout=DEADLINE_S).global_step >= step + 20


@pytest.mark.parametrize(
    ("numbers", "message"),
    [({"learning_rate": 0.0}, "positive"), ({"batch_size": 0}, "a whole number from 1 on"), ({"batch_size": 999}, "more than the 200 examples")],
)
def test_a_number_that_does_not_fit_changes_nothing(start, numbers, message) -> None:
    trainer = start()
    trainer.train(1_000_000)
    with pytest.raises(UsageError, match=message):
        trainer.adjust(**numbers)
    assert trainer.status().state == "running"
    assert (trainer.job().model.learning_rate, trainer.job().division.batch_size) == (0.5, 8)


def test_an_optimizer_of_one_s_own_has_its_own_rate(start) -> None:
    trainer = start(model=Model(MLP(2, [8]), optimizer=lambda: GradientDescentOptimizer(0.1)))
    with pytest.raises(UsageError, match="made by a function, which alone knows its rate"):
        trainer.adjust(learning_rate=0.2)
