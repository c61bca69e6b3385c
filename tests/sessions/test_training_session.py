"""MonitoredTrainingSession: the chief and the others."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import pslab as tf
from pslab.errors import DeadlineExceededError


def model():
    w = tf.Variable(1.0, name="w")
    step = tf.train.get_or_create_global_step()
    tf.summary.scalar("value", w)
    return w, tf.group(tf.assign_add(w, 1.0), tf.assign_add(step, 1))


def steps_saved(directory: Path) -> list[int]:
    return [int(path.rpartition("-")[2]) for path in tf.train.get_checkpoint_state(directory).all_model_checkpoint_paths]


def test_the_chief_saves_summarises_and_goes_on_where_it_was(tmp_path: Path) -> None:
    for last in (3, 5):
        with tf.Graph().as_default():
            _, train = model()
            hooks = [tf.train.StopAtStepHook(last_step=last)]
            with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=hooks, save_summaries_steps=1) as sess:
                while not sess.should_stop():
                    sess.run(train)
                w = sess.raw_session().run("w:0")
        assert w == 1 + last
    assert steps_saved(tmp_path)[-1] == 5
    tf.summary.FileWriterCache.clear()
    found = EventAccumulator(str(tmp_path))
    found.Reload()
    assert [e.step for e in found.Scalars("value")] == [1, 2, 3, 4, 5]


def test_without_a_directory_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _, train = model()
    with tf.train.MonitoredTrainingSession() as sess:
        sess.run(train)
    assert list(tmp_path.iterdir()) == []


def test_none_is_never(tmp_path: Path) -> None:
    _, train = model()
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), save_checkpoint_secs=None, save_summaries_steps=None) as sess:
        sess.run(train)
    assert tf.train.latest_checkpoint(tmp_path) is None


def test_with_the_chief_gone_first_the_last_saves(tasks, tmp_path: Path) -> None:
    cluster, gone, began = tasks(1, 3), threading.Event(), threading.Barrier(3, timeout=20)

    def program(index: int, steps: int) -> None:
        with tf.Graph().as_default(), tf.device(cluster.setter(index)):
            _, train = model()
            target = cluster.workers[index].target
            with tf.train.MonitoredTrainingSession(target, is_chief=index == 0, checkpoint_dir=str(tmp_path)) as sess:
                began.wait()
                if index:
                    assert gone.wait(20)
                for _ in range(steps):
                    sess.run(train)

    others = [threading.Thread(target=program, args=(i, 2)) for i in (1, 2)]
    for thread in others:
        thread.start()
    program(0, 1)
    assert steps_saved(tmp_path)[-1] == 1
    gone.set()
    for thread in others:
        thread.join(20)
    assert steps_saved(tmp_path)[-1] == 5


def test_a_chief_that_never_comes_is_named(tasks) -> None:
    cluster = tasks(1, 2)
    with tf.device(cluster.setter(1)):
        model()
    with pytest.raises(DeadlineExceededError, match="the chief has not initialized or restored the model"):
        tf.train.MonitoredTrainingSession(cluster.workers[1].target, is_chief=False, max_wait_secs=0.3)
