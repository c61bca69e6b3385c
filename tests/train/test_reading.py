"""Examples that are fed, read from files, or preloaded: the same training, and another cost of communication."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from pslab.data.batches import Batches
from pslab.data.datasets import Dataset
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.reading import Reading, share_path
from pslab.train.strategy import Replication, Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Async, Sync
from tests.train.tasks import LocalTasks

STEPS = 60
BATCH = 8
FEATURES = 6


def data() -> Dataset:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(240, FEATURES)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int64)
    return Dataset("random", x[:200], y[:200], x[200:], y[200:])


def train(reading: Reading, strategy: Strategy, steps: int = STEPS):
    """The parameters, the accuracy on the test set, and the records."""
    with LocalTasks(1, 2) as tasks:
        trainer = Trainer(tasks, data(), Model(MLP(2, [8]), learning_rate=0.2, seed=1), strategy, BATCH, data_seed=3, reading=reading)
        trainer.train(steps)
        status = trainer.wait(timeout=60)
        assert (status.state, status.global_step) == ("done", steps), status
        parameters, accuracy, records = trainer.parameters(), trainer.evaluate(chunk=7)["accuracy"], trainer.records()
        trainer.close()
    return parameters, accuracy, records


@pytest.mark.parametrize("replication", list(Replication))
def test_what_is_preloaded_trains_as_what_is_fed(replication: Replication) -> None:
    """Bit for bit: the same rows in the same order."""
    fed, _, _ = train(Reading.FEEDING, Strategy(replication, Sync()))
    preloaded, _, _ = train(Reading.PRELOADED, Strategy(replication, Sync()))
    for name, value in fed.items():
        np.testing.assert_array_equal(preloaded[name], value, err_msg=name)


@pytest.mark.parametrize("update", [Sync(), Async()], ids=str)
@pytest.mark.parametrize("replication", list(Replication))
@pytest.mark.parametrize("reading", [Reading.FILES, Reading.PRELOADED])
def test_every_mode_learns_from_it(reading: Reading, replication: Replication, update) -> None:
    _, accuracy, records = train(reading, Strategy(replication, update), steps=300)
    assert accuracy > 0.85
    assert set(records["worker"]) == {0, 1}


def test_what_it_costs_to_bring_the_examples_to_the_workers() -> None:
    """In-graph, where one client feeds all: whole examples, or the numbers of their rows, or nothing."""
    fed = {r: train(r, Strategy(Replication.IN_GRAPH, Sync()))[2]["bytes_fed"] for r in Reading}
    assert (fed[Reading.FEEDING] == BATCH * (FEATURES * 4 + 8)).all()
    assert (fed[Reading.PRELOADED] == BATCH * 8).all()
    assert (fed[Reading.FILES] == 0).all()


def test_files_are_gone_when_the_training_ends_and_the_mode_can_change() -> None:
    with LocalTasks(1, 2) as tasks:
        trainer = Trainer(tasks, data(), Model(MLP(2, [8]), seed=1), Strategy(), BATCH, reading=Reading.FILES)
        trainer.train(30)
        trainer.wait(timeout=60)
        files = [share_path(trainer.job(), worker) for worker in range(2)]
        assert all(file.exists() for file in files)
        trainer.set_strategy(Strategy(Replication.IN_GRAPH, Sync()))
        trainer.train(30)
        assert trainer.wait(timeout=60).global_step == 60
        assert not any(file.exists() for file in files)
        files += [share_path(trainer.job(), worker) for worker in range(2)]
        trainer.close()
        task = tasks.services["worker:0"]._server.task
        assert [name for name in task.variables if "reading" in name] == []
    assert not any(file.exists() for file in files)


def test_shares_are_all_examples_once() -> None:
    dataset = data()
    shares = [Batches(dataset.x_train, dataset.y_train, BATCH, 3, worker, 3).share() for worker in range(3)]
    rows = np.concatenate([x for x, _ in shares])
    np.testing.assert_array_equal(np.unique(rows, axis=0), np.unique(dataset.x_train, axis=0))
    assert len(rows) == len(dataset.x_train)
    for x, y in shares:
        np.testing.assert_array_equal(y, (x[:, 0] > 0).astype(np.int64))


def threads() -> set[str]:
    """Names of the threads that fill queues."""
    return {t.name for t in threading.enumerate() if t.name.startswith("QueueRunnerThread")}


@pytest.mark.parametrize("update", [Sync(), Async()], ids=str)
@pytest.mark.parametrize("replication", list(Replication))
def test_nothing_stays_of_an_epoch_that_read_files(replication: Replication, update) -> None:
    """In the middle of a training: once `stop` has returned, no thread fills a queue, and no task keeps a reader, a queue or a file."""
    with LocalTasks(1, 2) as tasks:
        trainer = Trainer(tasks, data(), Model(MLP(2, [8]), seed=1), Strategy(replication, update), BATCH, reading=Reading.FILES)
        trainer.train(100_000)
        trainer.wait(step=20, timeout=60)
        assert threads()
        trainer.stop()
        assert threads() == set()
        for name, service in tasks.services.items():
            assert [key for key in service._server.task._resources if "reading" in key] == [], name
        trainer.close()


@pytest.mark.parametrize("replication", list(Replication))
def test_a_file_that_disappears_while_it_is_read_pauses_the_training_and_is_named(replication: Replication) -> None:
    with LocalTasks(1, 2) as tasks:
        trainer = Trainer(tasks, data(), Model(MLP(2, [8]), seed=1), Strategy(replication, Sync()), BATCH, reading=Reading.FILES)
        trainer.train(100_000)
        trainer.wait(step=20, timeout=60)
        path = share_path(trainer.job(), 1)
        path.unlink()
        status = trainer.wait(timeout=30)
        assert status.state == "paused"
        assert f"there is no file '{path}'" in status.message
        assert threads() == set()
        trainer.resume()
        trainer.wait(step=status.global_step + 20, timeout=60)
        trainer.close()


def test_what_was_preloaded_is_gone_from_every_worker() -> None:
    """In-graph too, where the towers have scopes of their own."""
    with LocalTasks(1, 2) as tasks:
        trainer = Trainer(tasks, data(), Model(MLP(2, [8]), seed=1), Strategy(Replication.IN_GRAPH, Sync()), BATCH, reading=Reading.PRELOADED)
        trainer.train(10)
        trainer.wait(timeout=60)
        kept = {name: list(service._server.task.variables) for name, service in tasks.services.items() if name.startswith("worker")}
        assert all(len([v for v in variables if "preloaded" in v]) == 2 for variables in kept.values()), kept
        trainer.stop()
        for name in kept:
            assert [v for v in tasks.services[name]._server.task.variables if "preloaded" in v] == [], name
        trainer.close()
