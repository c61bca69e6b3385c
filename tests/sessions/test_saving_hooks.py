"""Hooks that write: checkpoints, summaries, rates."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import pslab as tf
from pslab.errors import UsageError


@pytest.fixture
def step():
    return tf.assign_add(tf.train.get_or_create_global_step(), 1)


def train(op, last: int, *hooks: tf.train.SessionRunHook) -> None:
    with tf.train.MonitoredSession(hooks=[*hooks, tf.train.StopAtStepHook(last_step=last)]) as sess:
        while not sess.should_stop():
            sess.run(op)


def saved(directory: Path) -> list[int]:
    state = tf.train.get_checkpoint_state(directory)
    return [int(path.rpartition("-")[2]) for path in state.all_model_checkpoint_paths]


def test_checkpoints_at_the_beginning_every_so_often_and_at_the_end(step, tmp_path: Path) -> None:
    train(step, 7, tf.train.CheckpointSaverHook(str(tmp_path), save_steps=3, saver=tf.train.Saver(max_to_keep=10)))
    assert saved(tmp_path) == [0, 3, 6, 7]


def test_listeners_are_told_and_may_end_it(step, tmp_path: Path) -> None:
    told = []

    class Listener(tf.train.CheckpointSaverListener):
        def begin(self) -> None:
            told.append("begin")

        def before_save(self, session, global_step_value) -> None:
            told.append(("before", global_step_value))

        def after_save(self, session, global_step_value) -> bool:
            told.append(("after", global_step_value))
            return global_step_value >= 2

        def end(self, session, global_step_value) -> None:
            told.append(("end", global_step_value))

    train(step, 100, tf.train.CheckpointSaverHook(str(tmp_path), save_steps=2, saver=tf.train.Saver(), listeners=[Listener()]))
    assert told == ["begin", ("before", 0), ("after", 0), ("before", 2), ("after", 2), ("end", 2)]


@pytest.mark.parametrize("arguments", [{}, {"save_secs": 1, "save_steps": 1}])
def test_a_checkpoint_hook_is_by_steps_or_seconds(arguments: dict, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="exactly one"):
        tf.train.CheckpointSaverHook(str(tmp_path), **arguments)


def test_summaries_at_the_beginning_and_every_so_often(step, tmp_path: Path) -> None:
    summary = tf.summary.scalar("twice", tf.cast(step, tf.float32) * 2)
    train(step, 7, tf.train.SummarySaverHook(save_steps=3, output_dir=str(tmp_path), summary_op=summary))
    tf.summary.FileWriterCache.clear()
    found = EventAccumulator(str(tmp_path))
    found.Reload()
    assert [(e.step, e.value) for e in found.Scalars("twice")] == [(1, 2), (4, 8), (7, 14)]


def test_the_rate_of_steps_is_logged_and_written(step, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "pslab.program"):
        train(step, 9, tf.train.StepCounterHook(every_n_steps=4, output_dir=str(tmp_path)))
    tf.summary.FileWriterCache.clear()
    found = EventAccumulator(str(tmp_path))
    found.Reload()
    assert [e.step for e in found.Scalars("global_step/sec")] == [5, 9]
    assert all(e.value > 0 for e in found.Scalars("global_step/sec"))
    assert sum("global_step/sec" in r.getMessage() for r in caplog.records) == 2
