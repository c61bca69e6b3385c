"""What the modes compute: the numbers of the same training written by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pslab as tf
from pslab.data.batches import Batches
from pslab.data.datasets import Dataset
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.strategy import Replication, Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Async, Sync
from tests.train import reference
from tests.train.tasks import LocalTasks

STEPS = 100
BATCH = 8
RULES: dict[str, tuple[float, Callable[[float], reference.Callable]]] = {
    "sgd": (0.1, reference.sgd),
    "momentum": (0.05, reference.momentum),
    "adam": (0.01, reference.adam),
}
TOLERANCE = {"float64": 1e-9, "float32": 1e-4}


def data(dtype: str) -> Dataset:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(240, 6)).astype(dtype)
    y = (x[:, :2].sum(axis=1) > 0).astype(np.int64) + (x[:, 2] > 0.5)
    return Dataset("random", x[:200], y[:200], x[200:], y[200:])


def model(rule: str) -> Model:
    return Model(MLP(3, [10]), optimizer=rule, learning_rate=RULES[rule][0], seed=7)


def trained(dataset: Dataset, rule: str, strategy: Strategy, ps: int, workers: int, steps: int = STEPS):
    """The initial parameters, those after ``steps`` updates, and the records."""
    with LocalTasks(ps, workers) as tasks:
        trainer = Trainer(tasks, dataset, model(rule), strategy, BATCH, data_seed=3)
        initial = trainer.parameters()
        trainer.train(steps)
        status = trainer.wait(timeout=120)
        assert (status.state, status.global_step) == ("done", steps), status
        trainer.stop()  # a step is recorded when it is answered
        parameters, records = trainer.parameters(), trainer.records()
        trainer.close()
    return initial, parameters, records


@pytest.mark.parametrize("ps", [1, 2, 3])
@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("replication", list(Replication))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sync_with_n_workers_of_batch_b_is_one_process_with_batch_n_times_b(replication, rule, ps, dtype) -> None:
    dataset = data(dtype)
    initial, parameters, _ = trained(dataset, rule, Strategy(replication, Sync()), ps, workers=2)
    rate, make = RULES[rule]
    batches = Batches(dataset.x_train, dataset.y_train, 2 * BATCH, seed=3)
    wanted, _ = reference.train(initial, batches, make(rate), STEPS)
    for name in reference.NAMES:
        assert parameters[name].dtype == dtype
        np.testing.assert_allclose(parameters[name], wanted[name], rtol=0, atol=TOLERANCE[dtype], err_msg=name)
        assert np.abs(wanted[name] - initial[name]).max() > 100 * TOLERANCE[dtype]


@pytest.mark.parametrize("replication", list(Replication))
def test_sync_is_the_same_bit_for_bit_from_run_to_run(replication) -> None:
    runs = [trained(data("float32"), "adam", Strategy(replication, Sync()), ps=2, workers=3)[1] for _ in range(2)]
    for name in reference.NAMES:
        np.testing.assert_array_equal(runs[0][name], runs[1][name])


def test_initial_parameters_do_not_depend_on_where_they_lie() -> None:
    first, *others = (trained(data("float32"), "sgd", Strategy(), ps, 1, steps=1)[0] for ps in (1, 2, 3))
    for other in others:
        for name in reference.NAMES:
            np.testing.assert_array_equal(first[name], other[name])


@pytest.mark.parametrize("replication", list(Replication))
def test_async_with_one_worker_is_one_process(replication) -> None:
    dataset = data("float32")
    initial, parameters, records = trained(dataset, "sgd", Strategy(replication, Async()), ps=1, workers=1)
    batches = Batches(dataset.x_train, dataset.y_train, BATCH, seed=3)
    wanted, losses = reference.train(initial, batches, reference.sgd(0.1), STEPS)
    for name in reference.NAMES:
        np.testing.assert_allclose(parameters[name], wanted[name], rtol=0, atol=1e-6)
    np.testing.assert_allclose(records["loss"], losses, atol=1e-5)
    assert (records["staleness"] == 0).all()
    assert (records["divergence"][records["observed"]] == 0).all()


@pytest.mark.parametrize("replication", list(Replication))
@pytest.mark.parametrize("workers", [2, 4])
def test_async_applies_every_push_exactly_once(replication, workers) -> None:
    _, _, records = trained(data("float32"), "sgd", Strategy(replication, Async()), ps=1, workers=workers, steps=400)
    assert len(records) == 400
    assert sorted(records["global_step"]) == list(range(1, 401))
    assert records["staleness"].min() >= 0
    for worker in range(workers):
        mine = records[records["worker"] == worker]
        assert list(mine["step"]) == list(range(1, len(mine) + 1))
        # what others did since this worker's own last update, which brought it the parameters of this step
        between = np.diff(mine["global_step"]) - 1
        if replication is Replication.BETWEEN_GRAPH:
            np.testing.assert_array_equal(mine["staleness"][1:], between)
        else:
            assert (mine["staleness"][1:] <= between).all()


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("replication", list(Replication))
def test_async_with_one_worker_is_pslabs_own_one_process_training_bit_for_bit(replication, rule) -> None:
    dataset = data("float32")
    _, parameters, _ = trained(dataset, rule, Strategy(replication, Async()), ps=1, workers=1)
    batches = Batches(dataset.x_train, dataset.y_train, BATCH, seed=3)
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        tf.train.create_global_step()  # as in the training's own graph, where the seeds of the ops that follow count from
        x, y = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.int64, [None])
        loss, _ = MLP(3, [10])(x, y)
        train_op = model(rule).make_optimizer().minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(STEPS):
                xs, ys = next(batches)
                session.run(train_op, {x: xs, y: ys})
            alone = {v.op.name: session.run(v) for v in tf.trainable_variables()}
    for name in reference.NAMES:
        np.testing.assert_array_equal(parameters[name], alone[name])
