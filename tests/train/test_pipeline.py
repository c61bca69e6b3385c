"""Pipelines: the plan's clock, the values, and microbatches that are under way at once."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest

import pslab as tf
from pslab import errors
from pslab.data.batches import Batches
from pslab.train.camera import EXCHANGES
from pslab.train.collective import Pipeline, RingAllReduce
from pslab.train.job import Job
from pslab.train.memory import TrainingMemory
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.pipeline import pipeline
from pslab.train.plans import mode_plan, sketch
from pslab.train.reading import Reading
from pslab.train.strategy import ALL_MODES, Replication, Strategy
from pslab.train.trainer import Trainer
from tests.train import reference
from tests.train.tasks import LocalTasks
from tests.train.test_values import BATCH, RULES, STEPS, data
from tests.waiting import DEADLINE_S


def mode(microbatches: int) -> Strategy:
    return Strategy(Replication.IN_GRAPH, Pipeline(microbatches))


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize(("workers", "microbatches"), [(1, 4), (2, 1), (2, 5), (3, 4)])
def test_it_is_one_process_on_the_whole_batch_also_where_microbatches_differ_in_size(rule, workers, microbatches) -> None:
    dataset = data("float64")
    with LocalTasks(2, workers) as tasks:
        model = Model(MLP(3, [10], stages=min(workers, 2)), optimizer=rule, learning_rate=RULES[rule][0], seed=7)
        trainer = Trainer(tasks, dataset, model, mode(microbatches), BATCH, data_seed=3)
        initial = trainer.parameters()
        trainer.train(STEPS)
        assert trainer.wait(timeout=120).state == "done"
        trainer.stop()  # a step is recorded when it is answered
        parameters, records = trainer.parameters(), trainer.records()
        trainer.close()
    batches = Batches(dataset.x_train, dataset.y_train, workers * BATCH, seed=3)
    wanted, losses = reference.train(initial, batches, RULES[rule][1](RULES[rule][0]), STEPS)
    for name in reference.NAMES:
        np.testing.assert_allclose(parameters[name], wanted[name], rtol=0, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(records["loss"][records["worker"] == 0], losses, atol=1e-9)


@pytest.mark.parametrize(("stages", "microbatches"), [(2, 3), (3, 4), (4, 2)])
def test_each_microbatch_travels_by_itself_on_the_clock_of_the_stages(stages, microbatches) -> None:
    job = sketch(Model(MLP(3, [10] * (stages - 1), stages=stages)), data("float32"), mode(microbatches), ps=1, workers=stages)
    cuts = [c for c in mode_plan(job).cuts if c.tensors and c.source.startswith("worker") and c.destination.startswith("worker")]
    forward = {(c.source, c.stage): c.tensors for c in cuts if c.destination > c.source}
    back = {(c.source, c.stage): c.tensors for c in cuts if c.destination < c.source}
    turn = microbatches + stages - 2  # the last microbatch is forward
    for j in range(microbatches):
        for s in range(stages - 1):
            (tensor,) = forward.pop((f"worker:{s}", j + s))
            assert tensor.startswith(f"microbatch_{j}/")
            (tensor,) = back.pop((f"worker:{s + 1}", turn + (microbatches - 1 - j) + (stages - 2 - s)))
            assert tensor.startswith(f"backward_{j}/")
    assert not forward
    assert not back


def test_parameters_never_travel_and_a_data_parallel_step_sends_them_twice() -> None:
    """What crosses in a step: activations and their gradients, whatever the layers' width before and after a cut."""
    job = sketch(Model(MLP(3, [10, 1000, 10], stages=2)), data("float32"), mode(2), ps=1, workers=2)
    names = {t for c in mode_plan(job).cuts for t in c.tensors}
    assert not any("weights" in name or "biases" in name for name in names)


def test_each_stage_takes_memory_for_its_own_parameters_and_a_ring_for_all_on_each_worker() -> None:
    model, dataset = Model(MLP(3, [4000, 10], stages=2), optimizer="momentum"), data("float32")
    layers = [(6 * 4000 + 4000 + 4000 * 10 + 10) * 4 * 2, (10 * 3 + 3) * 4 * 2]  # each parameter has a slot
    for microbatches in (1, 4):
        found = TrainingMemory(sketch(model, dataset, mode(microbatches), ps=1, workers=2)).of(8)
        counts = [found[f"worker:{worker}"].variables - layers[worker] for worker in range(2)]
        assert counts == [8, 8]  # the count of updates
    ring = TrainingMemory(sketch(model, dataset, Strategy(update=RingAllReduce()), ps=1, workers=2)).of(8)
    assert ring["worker:0"].variables == ring["worker:1"].variables
    assert ring["worker:1"].variables - sum(layers) == 8


class Meeting:
    """Two stages, of which the first has microbatch j + 1 while the second has j: they wait for each other.

    Args:
        microbatches: of a step.
    """

    def __init__(self, microbatches: int) -> None:
        self._rounds = [range(1, microbatches), range(microbatches - 1)]  # when a stage has company
        self._calls = [itertools.cycle(range(microbatches)) for _ in range(2)]
        self._both = threading.Barrier(2)

    def at(self, stage: int):
        def meet(x):
            if next(self._calls[stage]) in self._rounds[stage]:
                self._both.wait(DEADLINE_S)
            return x

        return meet

    def stages(self, x, y):
        """A model of two stages."""
        with tf.device("/job:worker/task:0"):
            w = tf.Variable(tf.ones([6, 4]), name="w")
            hidden = tf.matmul(x, w)
            hidden = hidden + 0.0 * tf.stop_gradient(tf.reshape(tf.py_func(self.at(0), [hidden], tf.float32), [-1, 4]))
        with tf.device("/job:worker/task:1"):
            v = tf.Variable(tf.ones([4, 1]), name="v")
            score = tf.matmul(hidden, v)
            score = score + 0.0 * tf.stop_gradient(tf.reshape(tf.py_func(self.at(1), [score], tf.float32), [-1, 1]))
            return tf.reduce_mean(tf.square(score - tf.to_float(tf.reshape(y, [-1, 1])))), {}


def test_microbatches_are_on_different_workers_at_once() -> None:
    with LocalTasks(1, 2) as tasks:
        trainer = Trainer(tasks, data("float32"), Model(Meeting(4).stages, learning_rate=1e-4), mode(4), BATCH)
        timeline = trainer.timeline()
        trainer.close()
    seen = {w: [s for s in timeline.spans[f"worker:{w}"] if s.type == "PyFunc"] for w in range(2)}
    assert [len(spans) for spans in seen.values()] == [4, 4]
    for first, second in zip(seen[0][1:], seen[1][:-1], strict=True):  # microbatch j+1 at stage 0, microbatch j at stage 1
        overlap = min(first.began + first.duration, second.began + second.duration) - max(first.began, second.began)
        assert overlap > 0
    for task in ("worker:0", "worker:1"):
        assert 0 < timeline.busy(task) < 1
        assert any(span.type in EXCHANGES for span in timeline.spans[task])


@pytest.mark.parametrize("strategy", [*ALL_MODES, Strategy(update=RingAllReduce()), mode(2)], ids=str)
def test_a_step_of_any_mode_can_be_traced_also_while_it_trains(strategy) -> None:
    with LocalTasks(1, 2) as tasks:
        trainer = Trainer(tasks, data("float32"), Model(MLP(3, [10], stages=2)), strategy, BATCH)
        trainer.train(1_000_000)
        trainer.wait(step=10, timeout=DEADLINE_S)
        timeline = trainer.timeline()
        assert trainer.status().state == "running"
        trainer.close()
    assert "ps:0" in timeline.spans
    assert any("MatMul" in span.type for task, spans in timeline.spans.items() if task.startswith("worker:") for span in spans)
    for spans in timeline.spans.values():
        assert all(timeline.began <= s.began and s.began + s.duration <= timeline.ended for s in spans)


def test_what_is_outside_of_the_models_device_blocks_stays_where_the_model_was_last() -> None:
    def build(x, y):
        with tf.device("/job:worker/task:1"):
            w = tf.Variable(tf.ones([6, 1]), name="w")
            h = tf.matmul(x, w)
        return tf.reduce_mean(tf.square(h)), {}

    job = sketch(Model(build), data("float32"), mode(1), ps=1, workers=1)
    with pytest.raises(errors.UsageError, match=r"has a stage on worker:1, but there are 1 workers"):
        pipeline(job)
    job = Job(**{**job.__dict__, "workers": 2})
    with pytest.raises(errors.UsageError, match=r"has no stages: all its layers are on worker:1"):
        pipeline(job)


def test_what_a_pipeline_cannot_do_is_refused() -> None:
    job = sketch(Model(MLP(3, [10], stages=2)), data("float32"), mode(2), ps=1, workers=2)
    with pytest.raises(errors.UsageError, match="is fed its examples, but they are to be preloaded"):
        pipeline(Job(**{**job.__dict__, "reading": Reading.PRELOADED}))
    with pytest.raises(errors.UsageError, match="between-graph replication has no pipeline"):
        Strategy(update=Pipeline())
    with pytest.raises(errors.UsageError, match="as they are"):
        Strategy(Replication.IN_GRAPH, Pipeline(), commit_every=2)
    with pytest.raises(errors.UsageError, match="must be 1 or more, found 0"):
        Pipeline(0)
    with pytest.raises(errors.UsageError, match="2 layers make 1 to 2 stages, found 3"):
        MLP(3, [10], stages=3)


@pytest.mark.parametrize(("microbatches", "stages", "share"), [(1, 1, 0.0), (1, 4, 0.75), (4, 4, 3 / 7), (32, 4, 3 / 35)])
def test_the_bubble_in_theory(microbatches, stages, share) -> None:
    assert Pipeline(microbatches).bubble(stages) == pytest.approx(share)


def test_a_pipeline_ends_with_its_whole_batches_and_another_mode_goes_on_with_the_rest() -> None:
    """200 examples, 60 a step: three steps, and 20 examples of the first worker's."""
    dataset = data("float64")
    with LocalTasks(1, 2) as tasks:
        model = Model(MLP(3, [10], stages=2), learning_rate=0.1, seed=7)
        trainer = Trainer(tasks, dataset, model, mode(4), 30, data_seed=3, passes=1)
        initial = trainer.parameters()
        trainer.train(100)
        status = trainer.wait(timeout=DEADLINE_S)
        assert (status.state, status.global_step) == ("out of data", 3)
        assert "out of data: worker:1 after 3 steps (90 examples); pipeline" in status.message
        batches = Batches(dataset.x_train, dataset.y_train, 60, seed=3, passes=1)
        wanted, _ = reference.train(initial, batches, reference.sgd(0.1), 3)
        found = trainer.parameters()
        assert max(float(np.abs(found[name] - wanted[name]).max()) for name in reference.NAMES) < 1e-9
        trainer.set_strategy(Strategy())
        trainer.train(100)
        status = trainer.wait(timeout=DEADLINE_S)
        assert (status.state, status.global_step, sum(p.examples for p in status.places)) == ("out of data", 4, 200)
        trainer.close()
