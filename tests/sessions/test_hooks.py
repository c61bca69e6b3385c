"""The hooks that watch and end a training."""

from __future__ import annotations

import logging
import re

import pytest

import pslab as tf
from pslab.errors import UsageError


@pytest.fixture
def step():
    """A global step, and the op that counts it."""
    global_step = tf.train.get_or_create_global_step()
    return tf.assign_add(global_step, 1)


def run_to_the_end(op, *hooks: tf.train.SessionRunHook) -> int:
    """Run until a hook ends it; how often it was run."""
    count = 0
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        while not sess.should_stop():
            sess.run(op)
            count += 1
    return count


def test_it_stops_at_the_last_step(step) -> None:
    assert run_to_the_end(step, tf.train.StopAtStepHook(last_step=7)) == 7


def test_it_stops_after_so_many_steps_from_where_it_began(step) -> None:
    with tf.train.SingularMonitoredSession() as sess:
        sess.run(step)
    assert run_to_the_end(step, tf.train.StopAtStepHook(num_steps=3)) == 3


@pytest.mark.parametrize("arguments", [{}, {"num_steps": 1, "last_step": 1}])
def test_stop_at_step_takes_one_of_the_two(arguments: dict) -> None:
    with pytest.raises(UsageError, match="exactly one of num_steps and last_step"):
        tf.train.StopAtStepHook(**arguments)


def test_a_subclass_may_use_what_tensorflows_have(step) -> None:
    """Public programs do."""

    class Every(tf.train.StopAtStepHook):
        seen: list[int] = []  # noqa: RUF012

        def after_create_session(self, session, coord) -> None:
            assert self._last_step is None and self._num_steps == 4
            super().after_create_session(session, coord)
            self.seen.append(int(session.run(self._global_step_tensor)))

    assert run_to_the_end(step, Every(num_steps=4)) == 4
    assert Every.seen == [0]


def test_values_are_logged_every_so_many_steps(step, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "pslab.program"):
        hook = tf.train.LoggingTensorHook({"twice": tf.cast(step, tf.float32) * 2}, every_n_iter=2)
        run_to_the_end(step, hook, tf.train.StopAtStepHook(last_step=5))
    lines = [r.getMessage() for r in caplog.records if "twice" in r.getMessage()]
    assert [float(re.search(r"twice = ([\d.]+)", line)[1]) for line in lines] == [2, 6, 10]


def test_values_are_named_and_formatted(step, caplog: pytest.LogCaptureFixture) -> None:
    tf.identity(tf.constant(3.0), name="loss")
    with caplog.at_level(logging.INFO, "pslab.program"):
        hook = tf.train.LoggingTensorHook(["loss:0"], at_end=True, formatter=lambda values: f"loss is {values['loss:0']}")
        run_to_the_end(step, hook, tf.train.StopAtStepHook(last_step=2))
    assert [r.getMessage() for r in caplog.records if "loss is" in r.getMessage()] == ["loss is 3.0"]


def test_nan_ends_the_training_with_an_error_or_in_order(step) -> None:
    bad = tf.log(tf.constant(-1.0))
    with pytest.raises(tf.train.NanLossDuringTrainingError, match="NaN loss"):
        run_to_the_end(step, tf.train.NanTensorHook(bad))
    assert run_to_the_end(step, tf.train.NanTensorHook(bad, fail_on_nan_loss=False)) == 1


def test_final_ops_are_run_at_the_end(step) -> None:
    hook = tf.train.FinalOpsHook(tf.train.get_global_step() * 10)
    run_to_the_end(step, hook, tf.train.StopAtStepHook(last_step=3))
    assert hook.final_ops_values == 30


def test_a_hook_feeds(step) -> None:
    x = tf.placeholder(tf.float32, [])
    values = iter([1.0, 2.0])
    twice = x * 2
    with tf.train.MonitoredSession(hooks=[tf.train.FeedFnHook(lambda: {x: next(values)})]) as sess:
        assert [sess.run(twice), sess.run(twice)] == [2, 4]


def test_a_hook_that_needs_a_global_step_says_so() -> None:
    with pytest.raises(RuntimeError, match="Global step should be created to use StopAtStepHook"):
        tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(last_step=1)])
