"""Parameters that live on the workers: loaded, published, changed over to other modes, and what becomes of them where a task is lost."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pslab as tf
from pslab import errors
from pslab.train.collective import Pipeline, RingAllReduce
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.strategy import ALL_MODES, Replication, Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Sync
from tests.train.tasks import LocalTasks
from tests.train.test_trainer import MANY, data, left_out
from tests.waiting import DEADLINE_S

RING = Strategy(update=RingAllReduce())
PIPELINE = Strategy(Replication.IN_GRAPH, Pipeline(microbatches=3))
RESIDENT = pytest.mark.parametrize("strategy", [RING, PIPELINE], ids=str)


@pytest.fixture
def tasks():
    with LocalTasks(ps=2, workers=2) as tasks:
        yield tasks


@pytest.fixture
def start(tasks):
    trainers = []

    def make(strategy: Strategy, model: Model | None = None) -> Trainer:
        trainer = Trainer(tasks, data(), model or Model(MLP(2, [8], stages=2), optimizer="momentum", learning_rate=0.01), strategy, batch_size=8)
        trainers.append(trainer)
        return trainer

    yield make
    for trainer in trainers:
        trainer.close()


def resident(tasks: LocalTasks, task: str) -> set[str]:
    """Names of the parameters and slots that an epoch keeps on a task, without the epoch's."""
    names = {name.partition("/")[2] for name in tasks.services[task]._server.task.variables if name.startswith("own_")}
    return {name for name in names if not name.startswith("updates")}


def variables(layer: str) -> set[str]:
    return {f"{layer}/{kind}{slot}" for kind in ("weights", "biases") for slot in ("", "/Momentum")}


@RESIDENT
def test_so_many_steps_are_so_many_updates_and_each_is_recorded(start, strategy) -> None:
    trainer = start(strategy)
    for steps, total in ((30, 30), (1, 31), (20, 51)):
        trainer.train(steps)
        status = trainer.wait(timeout=DEADLINE_S)
        assert (status.state, status.global_step) == ("done", total)
    trainer.stop()  # a step is recorded when it is answered
    mine = trainer.records()
    assert sorted(mine[mine["worker"] == 0]["global_step"]) == list(range(1, 52))


@RESIDENT
def test_a_pause_stands_still_is_in_no_record_and_a_step_is_one_update(start, strategy) -> None:
    trainer = start(strategy)
    trainer.train(MANY)
    trainer.wait(step=20, timeout=DEADLINE_S)
    trainer.pause()
    before, step = trainer.parameters(), trainer.status().global_step
    trainer._closed.wait(0.5)
    after = trainer.parameters()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    trainer.step()
    assert trainer.status().global_step == step + 1
    assert not all(np.array_equal(before[name], value) for name, value in trainer.parameters().items())
    trainer.resume()
    trainer.wait(step=step + 20, timeout=DEADLINE_S)
    trainer.stop()
    records = trainer.records()
    for worker in range(2):
        assert left_out(records, worker, "wall") > 0.4
        assert left_out(records, worker, "wait") > 0.4


def test_each_worker_of_a_ring_has_everything_and_each_stage_of_a_pipeline_its_own(start, tasks) -> None:
    trainer = start(RING)
    trainer.step()
    whole = variables("hidden_0") | variables("logits")
    assert [resident(tasks, f"worker:{i}") for i in range(2)] == [whole, whole]
    trainer.set_strategy(PIPELINE)
    assert [resident(tasks, f"worker:{i}") for i in range(2)] == [variables("hidden_0"), variables("logits")]
    trainer.set_strategy(Strategy(update=Sync()))
    assert [resident(tasks, f"worker:{i}") for i in range(2)] == [set(), set()]


def test_the_mode_changes_while_it_trains_and_parameters_slots_and_step_stay(start, tasks, tmp_path) -> None:
    trainer = start(RING)
    trainer.train(MANY)
    for strategy in itertools.chain([PIPELINE, RING, PIPELINE], *((mode, RING, mode, PIPELINE) for mode in ALL_MODES)):
        step = trainer.status().global_step
        trainer.set_strategy(strategy)
        trainer.wait(step=step + 10, timeout=DEADLINE_S)
        assert trainer.status().state == "running", trainer.status()
        assert trainer.status().strategy == strategy
    trainer.set_strategy(RING)
    trainer.pause()
    rests = {name: task.variables.read(name) for task in map(ps_task, [tasks] * 2, range(2)) for name in task.variables}
    assert rests["global_step"] == trainer.status().global_step
    here = tasks.services["worker:1"]._server.task.variables
    live = {name.partition("/")[2]: here.read(name) for name in here}
    for name in variables("hidden_0") | variables("logits"):
        np.testing.assert_array_equal(live[name], rests[name])


def ps_task(tasks: LocalTasks, index: int):
    return tasks.services[f"ps:{index}"]._server.task


@RESIDENT
def test_who_asks_while_it_trains_is_told_of_now(start, strategy, tmp_path) -> None:
    trainer = start(strategy)
    initial = trainer.parameters()
    trainer.train(MANY)
    trainer.wait(step=10, timeout=DEADLINE_S)
    early = trainer.parameters()
    assert not any(np.array_equal(early[name], initial[name]) for name in initial)
    trainer.wait(step=trainer.status().global_step + 300, timeout=DEADLINE_S)
    assert trainer.evaluate()["accuracy"] > 0.7
    prefix = trainer.save(str(tmp_path / "model"))
    saved = trainer.status().global_step
    trainer.wait(step=saved + 20, timeout=DEADLINE_S)
    trainer.pause()
    late = trainer.status().global_step
    trainer.restore(prefix)
    assert trainer._crew.look().global_step < late
    trainer.resume()
    trainer.wait(step=late, timeout=DEADLINE_S)
    trainer.reset()
    assert all(np.array_equal(trainer.parameters()[name], initial[name]) for name in initial)


def nan_at_the_second_stage(x, y):
    """Its loss is NaN once the weight has moved."""
    with tf.device("/job:worker/task:0"):
        w = tf.Variable(tf.ones([6, 1]), name="w")
        score, drift = tf.matmul(x, w), tf.reduce_sum(tf.square(w - 1.0))
    with tf.device("/job:worker/task:1"):
        b = tf.Variable(tf.zeros([1]), name="b")
        return tf.reduce_mean(tf.square(tf.reduce_mean(score) + b - 5.0)) + tf.log(0.5 - drift), {}


@RESIDENT
def test_a_nan_in_the_loss_pauses_says_where_and_leaves_the_parameters_of_the_last_step(start, tasks, strategy) -> None:
    trainer = start(strategy, Model(nan_at_the_second_stage, learning_rate=0.05))
    trainer.train(MANY)
    status = trainer.wait(timeout=DEADLINE_S)
    assert status.state == "paused"
    assert "the loss of worker:" in status.message and "NaN" in status.message
    assert all(np.isfinite(value).all() for value in trainer.parameters().values())
    assert trainer.status().global_step > 0


def lose(tasks: LocalTasks, task: str) -> None:
    tasks.services.pop(task).close()
    tasks.start(task)


@pytest.mark.parametrize("lost", [0, 1])
def test_a_ring_that_loses_a_worker_goes_on_from_the_others_copy(start, tasks, lost) -> None:
    trainer = start(RING)
    trainer.train(MANY)
    trainer.wait(step=20, timeout=DEADLINE_S)
    before = trainer.status().global_step
    lose(tasks, f"worker:{lost}")
    trainer._until(lambda: bool(trainer._message), DEADLINE_S, "the news")
    status = trainer.status()
    assert f"worker:{lost} was lost; worker:{1 - lost} has a copy of all parameters, at global step" in status.message
    assert status.global_step >= before
    trainer.wait(step=status.global_step + 20, timeout=DEADLINE_S)
    assert trainer.status().state == "running"


def test_a_pipeline_that_loses_a_worker_goes_back_to_where_all_stages_were_on_the_ps(start, tasks) -> None:
    trainer = start(PIPELINE)
    trainer.train(MANY)
    trainer.wait(step=20, timeout=DEADLINE_S)
    trainer.pause()
    rests, step = trainer.parameters(), trainer.status().global_step
    trainer.step(5)
    lose(tasks, "worker:1")
    for name, value in trainer.parameters().items():
        np.testing.assert_array_equal(value, rests[name])
    status = trainer.status()
    assert f"back to global step {step}" in status.message
    assert (status.state, status.global_step) == ("paused", step)
    trainer.resume()
    trainer.wait(step=step + 20, timeout=DEADLINE_S)
    lose(tasks, "worker:0")
    trainer._until(lambda: trainer._message, DEADLINE_S, "the news")
    assert f"back to global step {step}" in trainer.status().message
    trainer.wait(step=step + 20, timeout=DEADLINE_S)
    assert trainer.status().state == "running"


@RESIDENT
def test_a_ps_that_is_lost_takes_nothing_along(start, tasks, strategy) -> None:
    trainer = start(strategy)
    trainer.train(MANY)
    trainer.wait(step=20, timeout=DEADLINE_S)
    before = trainer.status().global_step
    lose(tasks, "ps:0")
    lose(tasks, "ps:1")
    trainer._until(lambda: trainer._crew.progress.global_step > before + 20, DEADLINE_S, "further updates")
    assert trainer.status().state == "running", trainer.status()
    assert "a ps was lost; the parameters live on the workers" in trainer.status().message
    assert trainer.evaluate()["loss"] < 1


def test_a_resize_spreads_the_variables_anew(start, tasks) -> None:
    trainer = start(RING)
    trainer.train(10)
    trainer.wait(timeout=DEADLINE_S)
    before = trainer.parameters()
    trainer.resize(lambda: tasks.scale(ps=1, workers=3), workers=3)
    for name, value in trainer.parameters().items():
        np.testing.assert_array_equal(value, before[name])
    trainer.train(10)
    assert trainer.wait(timeout=DEADLINE_S).global_step == 20


@pytest.mark.parametrize(
    ("strategy", "model", "message"),
    [
        (PIPELINE, MLP(2, [8]), "has no stages: all its layers are on worker:0"),
        (PIPELINE, MLP(2, [8, 8], stages=3), "has a stage on worker:2, but there are 2 workers"),
        (Strategy(Replication.IN_GRAPH, Pipeline(17)), MLP(2, [8], stages=2), "a batch of 16 examples cannot be cut into 17 microbatches"),
    ],
)
def test_a_mode_that_the_model_does_not_allow_is_refused_and_nothing_changes(start, strategy, model, message) -> None:
    trainer = start(RING, Model(model))
    trainer.train(MANY)
    trainer.wait(step=10, timeout=DEADLINE_S)
    with pytest.raises(errors.UsageError, match=message):
        trainer.set_strategy(strategy)
    trainer.wait(step=trainer.status().global_step + 10, timeout=DEADLINE_S)
    assert (trainer.status().state, trainer.status().strategy) == ("running", RING)
