"""Synchronous training with a token queue, as TensorFlow describes it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

import pslab as tf
from tests.waiting import until

RATE = 0.5


class Model:
    """w ← w − RATE · mean(gradients), where worker ``i``'s gradient is what it feeds."""

    def __init__(self, tasks, index: int, aggregate: int, total: int, num_tokens: int = -1) -> None:
        self.graph, self.index, self.target = tf.Graph(), index, tasks.workers[index].target
        with self.graph.as_default(), tf.device(tasks.setter(index)):
            self.w = tf.Variable(10.0, name="w")
            self.step = tf.train.get_or_create_global_step()
            self.x = tf.placeholder(tf.float32, [])
            opt = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(RATE), aggregate, total)
            self.train = opt.minimize(self.w * self.x, global_step=self.step)
            self.hook = opt.make_session_run_hook(index == 0, num_tokens=num_tokens)

    def session(self, *hooks: tf.train.SessionRunHook) -> tf.train.MonitoredSession:
        return tf.train.MonitoredTrainingSession(self.target, is_chief=self.index == 0, hooks=[self.hook, *hooks], stop_grace_period_secs=5)


def in_thread(body: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=body)
    thread.start()
    return thread


def follow(model: Model, value: float, until_step: int, runs: list[int] | None = None) -> None:
    """A worker that feeds one value until the global step is reached."""
    with model.graph.as_default(), model.session(tf.train.StopAtStepHook(last_step=until_step)) as sess:
        while not sess.should_stop():
            sess.run(model.train, {model.x: value})
            if runs is not None:
                runs.append(model.index)


def test_an_update_is_the_mean_of_all_workers_gradients(tasks) -> None:
    """In lock-step: without first tokens, nobody has a second before all have handed in their first."""
    cluster = tasks(2, 3)
    models = [Model(cluster, i, 3, 3, num_tokens=0) for i in range(3)]
    together, seen = threading.Barrier(3, timeout=20), []

    def body(model: Model) -> None:
        with model.graph.as_default(), model.session() as sess:
            for _ in range(4):
                sess.run(model.train, {model.x: float(model.index)})
                together.wait()
                seen.append((int(sess.raw_session().run(model.step)), float(sess.raw_session().run(model.w))))
                together.wait()

    threads = [in_thread(lambda m=m: body(m)) for m in models]
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert sorted(seen) == sorted([(n, 10 - n * RATE * 1.0) for n in (1, 2, 3, 4)] * 3)  # 1 is the mean of 0, 1 and 2


def test_with_a_backup_worker_the_slowest_is_not_waited_for(tasks) -> None:
    cluster, slow = tasks(1, 3), threading.Event()
    models = [Model(cluster, i, 2, 3) for i in range(3)]

    def slowest() -> None:
        with models[2].graph.as_default(), models[2].session() as sess:
            slow.wait(20)
            while not sess.should_stop():  # its gradients are stale; the tokens end with the chief, and so does this block
                sess.run(models[2].train, {models[2].x: 1e6})
            raise AssertionError("the tokens have no end")

    last = in_thread(slowest)
    other = in_thread(lambda: follow(models[1], 2.0, 8))
    with models[0].graph.as_default(), models[0].session(tf.train.StopAtStepHook(last_step=8)) as sess:
        while not sess.should_stop():
            sess.run(models[0].train, {models[0].x: 2.0})
        raw = sess.raw_session()
        assert raw.run(models[0].step) >= 8
        assert raw.run(models[0].w) == 10 - RATE * 2.0 * raw.run(models[0].step)
    slow.set()
    for thread in (other, last):
        thread.join(20)
        assert not thread.is_alive()


def test_more_gradients_than_workers(tasks) -> None:
    """Four gradients an update from two workers: each hands in two."""
    cluster, runs = tasks(1, 2), []
    models = [Model(cluster, i, 4, 2) for i in range(2)]
    other = in_thread(lambda: follow(models[1], 3.0, 5, runs))
    follow(models[0], 1.0, 5, runs)
    other.join(20)
    assert not other.is_alive()
    assert len(runs) >= 5 * 4


def test_stale_gradients_are_dropped(tasks) -> None:
    """A gradient of step 0 that comes at step 1 changes nothing, and its worker goes on at the new step."""
    cluster = tasks(1, 1)
    model = Model(cluster, 0, 1, 1)
    with model.graph.as_default(), model.session() as sess:
        raw = sess.raw_session()
        local = next(v for v in model.graph.get_collection(tf.GraphKeys.LOCAL_VARIABLES) if "local_step" in v.op.name)
        sess.run(model.train, {model.x: 2.0})
        until(lambda: raw.run(model.step) == 1, "no update was made")
        assert raw.run(model.w) == 9.0
        raw.run(local.initializer)  # behind, as a worker that has slept
        sess.run(model.train, {model.x: 1e6})
        assert raw.run(local) == 1
        sess.run(model.train, {model.x: 2.0})
        until(lambda: raw.run(model.step) == 2, "no update was made")
        assert raw.run(model.w) == 8.0


@pytest.mark.parametrize(("num_tokens", "fits"), [(0, False), (1, False), (2, True)])
def test_there_must_be_tokens_enough_for_the_first_update(num_tokens: int, fits: bool) -> None:
    w, step = tf.Variable(1.0), tf.train.get_or_create_global_step()
    opt = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=3, total_num_replicas=1)
    opt.minimize(tf.square(w), global_step=step)
    if fits:
        assert opt.get_init_tokens_op(num_tokens) is not None
    else:
        with pytest.raises(ValueError, match=f"Too few tokens to finish the first step: {num_tokens} .given. vs 2 .needed."):
            opt.get_init_tokens_op(num_tokens)


def test_what_comes_too_early_is_told() -> None:
    w = tf.Variable(1.0)
    opt = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2)
    with pytest.raises(ValueError, match="after apply_gradients"):
        opt.get_chief_queue_runner()
    with pytest.raises(ValueError, match="after apply_gradients"):
        opt.get_init_tokens_op()
    with pytest.raises(ValueError, match="before using the hook"):
        opt.make_session_run_hook(True).begin()
    with pytest.raises(ValueError, match="Global step is required"):
        opt.minimize(tf.square(w))
    with pytest.raises(ValueError, match="at least one variable"):
        opt.apply_gradients([(None, w)], tf.train.get_or_create_global_step())
