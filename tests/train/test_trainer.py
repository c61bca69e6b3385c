"""The trainer: what can be steered while it trains, and what bad input leaves as it was."""

from __future__ import annotations

import itertools
from time import sleep

import numpy as np
import pytest

import pslab as tf
from pslab import errors
from pslab.data.datasets import Dataset
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.strategy import ALL_MODES, Replication, Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Async, Sync
from tests.train.tasks import LocalTasks
from tests.waiting import DEADLINE_S, until

MODES = pytest.mark.parametrize("strategy", ALL_MODES, ids=str)
MANY = 1_000_000


def data(count: int = 200) -> Dataset:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(count + 40, 6)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int64)
    return Dataset("random", x[:count], y[:count], x[count:], y[count:])


@pytest.fixture
def tasks():
    with LocalTasks(ps=2, workers=2) as tasks:
        yield tasks


@pytest.fixture
def start(tasks):
    trainers = []

    def make(strategy: Strategy | None = None, model: Model | None = None) -> Trainer:
        trainer = Trainer(tasks, data(), model or Model(MLP(2, [8])), strategy, batch_size=8)
        trainers.append(trainer)
        return trainer

    yield make
    for trainer in trainers:
        trainer.close()


@MODES
def test_so_many_steps_are_so_many_updates(start, strategy) -> None:
    trainer = start(strategy)
    for steps, total in ((30, 30), (1, 31), (20, 51)):
        trainer.train(steps)
        status = trainer.wait(timeout=DEADLINE_S)
        assert (status.state, status.global_step) == ("done", total)


@MODES
def test_a_pause_stands_still_and_a_resume_goes_on(start, strategy) -> None:
    trainer = start(strategy)
    trainer.train(MANY)
    trainer.wait(step=20, timeout=DEADLINE_S)
    trainer.pause()
    before = trainer.parameters()
    step = trainer.status().global_step
    assert trainer.status().state == "paused"
    after = trainer.parameters()
    for name in before:
        np.testing.assert_array_equal(before[name], after[name])
    trainer.resume()
    trainer.wait(step=step + 20, timeout=DEADLINE_S)


@MODES
def test_a_step_is_exactly_so_many_updates(start, strategy) -> None:
    trainer = start(strategy)
    trainer.step(5)
    assert (trainer.status().state, trainer.status().global_step) == ("paused", 5)
    trainer.train(MANY)
    trainer.wait(step=20, timeout=DEADLINE_S)
    trainer.pause()
    before = trainer.status().global_step
    for n in (1, 3):
        trainer.step(n)
        before += n
        assert trainer.status().global_step == before


def left_out(records, worker: int, column: str) -> float:
    """Seconds between a worker's first step and its last that are not in a column of its records."""
    mine = records[records["worker"] == worker]
    mine = mine[np.argsort(mine["step"])]
    return float(mine["time"][-1] - mine["time"][0] - mine[column][1:].sum())


def test_a_pause_is_in_no_record(start) -> None:
    for strategy in ALL_MODES:
        trainer = start(strategy)
        trainer.train(MANY)
        trainer.wait(step=20, timeout=DEADLINE_S)
        trainer.pause()
        trainer._closed.wait(0.5)
        trainer.resume()
        trainer.wait(step=trainer.status().global_step + 20, timeout=DEADLINE_S)
        trainer.stop()
        records = trainer.records()
        for worker in range(2):
            assert left_out(records, worker, "wall") > 0.4, strategy
            assert left_out(records, worker, "wait") > 0.4, strategy
        trainer.close()


def test_what_a_worker_does_while_updates_stand_still_is_in_its_records(start) -> None:
    """In sync the workers compute on while the chief stands before the limit: that is no pause of theirs."""

    def slow(x, y):
        w = tf.Variable(np.ones([6, 1], np.float32), name="w")
        (late,) = tf.py_func(lambda v: (sleep(0.2), v)[1], [x], [tf.float32])
        late.set_shape(x.shape)
        return tf.reduce_mean(tf.matmul(late, w)) + 0 * tf.reduce_mean(tf.to_float(y)), {}

    trainer = start(Strategy(update=Sync()), Model(slow))
    for _ in range(4):
        trainer.step(1)
        trainer._closed.wait(0.4)
    records = trainer.records()
    later = records[records["step"] > 1]
    assert (later["wall"] >= 0.2).all()
    for worker in range(2):
        assert left_out(records, worker, "wall") > 0.1  # what is left of the pauses when it has computed


def test_the_mode_changes_while_it_trains_and_nothing_is_lost(start) -> None:
    trainer = start()
    trainer.train(MANY)
    for strategy in itertools.chain(ALL_MODES, reversed(ALL_MODES)):
        step = trainer.status().global_step
        trainer.set_strategy(strategy)
        trainer.wait(step=step + 20, timeout=DEADLINE_S)
        assert trainer.status().state == "running"
        assert trainer.status().strategy == strategy
    trainer.stop()
    records = trainer.records()
    missing = set(range(1, trainer.status().global_step + 1)) - set(records["global_step"].tolist())
    # of the last update before a change away from tokens, the worker may not have heard any more
    assert len(missing) <= sum(str(s) == "between-graph sync" for s in trainer.strategies)
    for epoch, strategy in enumerate(trainer.strategies):
        mine = records[records["strategy"] == epoch]
        if isinstance(strategy.update, Async):
            assert len(set(mine["global_step"])) == len(mine), "an update was recorded twice"


def test_parameters_and_slots_stay_when_the_mode_changes(start) -> None:
    trainer = start(model=Model(MLP(2, [8]), optimizer="momentum", learning_rate=0.01))
    trainer.train(10)
    trainer.wait(timeout=DEADLINE_S)
    before = trainer.parameters()
    trainer.set_strategy(Strategy(Replication.IN_GRAPH, Sync()))
    after = trainer.parameters()
    for name in before:
        np.testing.assert_array_equal(before[name], after[name])
    assert trainer.status().global_step == 10


def test_a_reset_begins_anew_with_the_same_parameters(start) -> None:
    trainer = start()
    initial = trainer.parameters()
    trainer.train(20)
    trainer.wait(timeout=DEADLINE_S)
    trainer.reset()
    assert trainer.status().global_step == 0
    assert len(trainer.records()) == 0
    for name, value in trainer.parameters().items():
        np.testing.assert_array_equal(value, initial[name])


def test_gradients_in_flight_at_a_change_of_mode_are_counted_until_a_reset(start) -> None:
    trainer = start()

    def there_and_back() -> int:
        trainer.set_strategy(Strategy(update=Sync()))
        trainer.train(5)
        trainer.wait(timeout=DEADLINE_S)
        trainer.set_strategy(Strategy())
        return trainer.status().dropped

    until(there_and_back, "no gradient was in flight at any change")  # whether a worker is ahead is up to the threads
    trainer.reset()
    assert trainer.status().dropped == 0


def test_save_and_restore_while_it_trains(start, tmp_path) -> None:
    trainer = start(Strategy(update=Sync()))
    trainer.train(MANY)
    trainer.wait(step=10, timeout=DEADLINE_S)
    prefix = trainer.save(str(tmp_path / "model"))
    trainer.wait(step=trainer.status().global_step + 30, timeout=DEADLINE_S)
    trainer.pause()
    late = trainer.status().global_step
    trainer.restore(prefix)
    early = trainer._crew.look().global_step
    assert 10 <= early < late
    trainer.resume()
    trainer.wait(step=early + 10, timeout=DEADLINE_S)
    assert trainer.status().state == "running"


def test_a_checkpoint_that_is_not_there_leaves_everything_as_it_was(start, tmp_path) -> None:
    trainer = start()
    trainer.train(MANY)
    trainer.wait(step=10, timeout=DEADLINE_S)
    with pytest.raises(errors.NotFoundError):
        trainer.restore(str(tmp_path / "nothing"))
    trainer.wait(step=trainer.status().global_step + 20, timeout=DEADLINE_S)
    assert trainer.status().state == "running"


def test_a_resize_spreads_the_variables_anew(start, tasks) -> None:
    trainer = start()
    trainer.train(10)
    trainer.wait(timeout=DEADLINE_S)
    before = trainer.parameters()
    trainer.resize(lambda: tasks.scale(ps=3, workers=1), workers=1)
    after = trainer.parameters()
    for name in before:
        np.testing.assert_array_equal(before[name], after[name])
    assert len(tasks.services["ps:2"]._server.task.variables) > 0
    trainer.train(10)
    assert trainer.wait(timeout=DEADLINE_S).global_step == 20


def test_a_resize_that_the_mode_does_not_allow_changes_nothing(start, tasks) -> None:
    trainer = start(Strategy(update=Sync(backup=1)))
    trainer.train(MANY)
    with pytest.raises(errors.UsageError, match="leaves no gradient to wait for with 1 workers"):
        trainer.resize(lambda: tasks.scale(ps=1, workers=1), workers=1)
    assert tasks.workers == 2
    trainer.wait(step=trainer.status().global_step + 20, timeout=DEADLINE_S)
    assert trainer.status().state == "running"


def test_a_status_is_of_now(start) -> None:
    trainer = start()
    trainer.train(MANY)
    first = trainer.status()
    assert {loop.name for loop in first.loops} == {"worker:0", "worker:1"}
    trainer.wait(step=first.global_step + 50, timeout=DEADLINE_S)
    before = trainer.status().global_step
    assert before <= trainer._crew.look().global_step <= trainer.status().global_step


def nan_after_a_while(x, y):
    """Its loss is NaN once the weight has moved."""
    w = tf.Variable(tf.ones([6, 1]), name="w")
    score = tf.reduce_mean(tf.matmul(x, w))
    drift = tf.reduce_sum(tf.square(w - 1.0))
    return tf.reduce_mean(tf.square(score - 5.0)) + tf.log(0.5 - drift), {}


@MODES
def test_a_nan_in_the_loss_pauses_and_says_where(start, strategy) -> None:
    trainer = start(strategy, Model(nan_after_a_while, learning_rate=0.05))
    trainer.train(MANY)
    status = trainer.wait(timeout=DEADLINE_S)
    assert status.state == "paused"
    assert "the loss of worker:" in status.message
    assert "NaN" in status.message
    for value in trainer.parameters().values():
        assert np.isfinite(value).all()


def test_evaluate_and_predict(start) -> None:
    trainer = start()
    trainer.train(300)
    trainer.wait(timeout=DEADLINE_S)
    found = trainer.evaluate()
    dataset = data()
    predicted = trainer.predict(dataset.x_test)["prediction"]
    assert found["accuracy"] == pytest.approx((predicted == dataset.y_test).mean())
    assert found["accuracy"] > 0.8
    assert trainer.evaluate(chunk=7) == pytest.approx(found, rel=1e-5)
    np.testing.assert_array_equal(trainer.predict(dataset.x_test, chunk=7)["prediction"], predicted)
    with pytest.raises(errors.UsageError, match=r"an example has shape \(6,\), found \(5,\)"):
        trainer.predict(np.zeros((3, 5)))


def test_a_model_without_outputs_cannot_predict(start) -> None:
    trainer = start(model=Model(nan_after_a_while))
    with pytest.raises(errors.UsageError, match="names no outputs"):
        trainer.predict(np.zeros((3, 6)))


def returns_nothing(x, y):
    pass


def returns_a_vector(x, y):
    w = tf.Variable(tf.zeros([6, 1]))
    return tf.matmul(x, w), {}


def has_no_variables(x, y):
    return tf.reduce_mean(x), {}


def has_a_taken_name(x, y):
    w = tf.Variable(tf.zeros([6, 1]))
    loss = tf.reduce_mean(tf.matmul(x, w))
    return loss, {"loss": loss}


def raises(x, y):
    raise KeyError("my own mistake")


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (returns_nothing, errors.UsageError, "returned nothing, not a loss tensor"),
        (returns_a_vector, errors.UsageError, r"is float32 of shape \(\?, 1\), not a floating scalar"),
        (has_no_variables, errors.UsageError, "has no variables to train"),
        (has_a_taken_name, errors.UsageError, "is called 'loss'"),
        (raises, KeyError, "my own mistake"),
    ],
)
def test_a_model_that_cannot_be_trained_is_refused_at_once(start, build, error, message) -> None:
    with pytest.raises(error, match=message):
        start(model=Model(build))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda tasks: Trainer(tasks, data(), Model(MLP(2)), batch_size=0),
            "batch_size must be a whole number from 1 on, or one per worker; found 0",
        ),
        (lambda tasks: Trainer(tasks, data(), Model(MLP(2)), batch_size=150), "need more than the 200 examples"),
        (lambda tasks: Trainer(tasks, data(), Model(MLP(2)), Strategy(update=Sync(backup=2))), "leaves no gradient to wait for"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(tasks, make, message) -> None:
    with pytest.raises(errors.UsageError, match=message):
        make(tasks)


def test_backup_workers_do_without_the_slowest(start) -> None:
    trainer = start(Strategy(update=Sync(backup=1)))
    trainer.train(50)
    assert trainer.wait(timeout=DEADLINE_S).state == "done"


def test_a_worker_that_is_lost_comes_back_into_the_training(start, tasks) -> None:
    for strategy in ALL_MODES:
        trainer = start(strategy)
        trainer.train(MANY)
        trainer.wait(step=20, timeout=DEADLINE_S)
        tasks.services.pop("worker:1").close()
        tasks.start("worker:1")
        step = trainer._crew.look().global_step

        def both_go_on(trainer: Trainer = trainer, step: int = step) -> bool:
            assert trainer.status().state == "running", trainer.status()
            late = trainer.records()
            return set(late["worker"][late["global_step"] > step + 50]) == {0, 1}

        until(both_go_on, "the worker does not go on")
        trainer.close()


def test_a_ps_that_is_lost_takes_its_parameters_and_a_checkpoint_brings_them_back(start, tasks, tmp_path) -> None:
    trainer = start()
    trainer.train(20)
    trainer.wait(timeout=DEADLINE_S)
    prefix = trainer.save(str(tmp_path / "model"))
    trainer.train(MANY)
    tasks.services.pop("ps:1").close()
    tasks.start("ps:1")
    status = trainer.wait(timeout=DEADLINE_S)
    assert status.state == "failed"
    assert "restore a checkpoint, or reset" in status.message
    trainer.restore(prefix)
    trainer.resume()
    trainer.wait(step=40, timeout=DEADLINE_S)
    assert trainer.status().state == "running"


def test_lent_tasks_come_back_with_parameters_and_records(start, tasks) -> None:
    trainer = start(Strategy(update=Sync()))
    trainer.train(20)
    trainer.wait(timeout=DEADLINE_S)
    until(lambda: len(trainer.records()) == 40, "a step of a worker is not recorded")
    parameters, losses = trainer.parameters(), trainer.records()["loss"].tolist()
    with trainer.lent():
        other = start(Strategy())
        other.train(200)
        other.wait(timeout=DEADLINE_S)
        other.close()
    assert trainer.status().global_step == 20
    assert all(np.array_equal(value, parameters[name]) for name, value in trainer.parameters().items())
    trainer.train(10)
    trainer.wait(timeout=DEADLINE_S)
    assert trainer.status().global_step == 30
    until(lambda: len(trainer.records()) == 60, "a step of a worker is not recorded")
    assert trainer.records()["loss"].tolist()[:40] == losses


def test_a_training_that_ran_goes_on_when_its_tasks_come_back(start) -> None:
    trainer = start(Strategy())
    trainer.train(MANY)
    trainer.wait(step=10, timeout=DEADLINE_S)
    with pytest.raises(ZeroDivisionError), trainer.lent():
        1 / 0  # noqa: B018
    assert trainer.status().state == "running"
    trainer.wait(step=trainer.status().global_step + 10, timeout=DEADLINE_S)
