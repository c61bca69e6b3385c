"""Queue runners, as TensorFlow documents them."""

from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import CancelledError, InternalError, InvalidArgumentError, OutOfRangeError, UsageError


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_an_input_that_ends_closes_the_queue_and_all_its_elements_can_be_had() -> None:
    source = tf.FIFOQueue(20, tf.int32, shapes=[[]])
    target = tf.FIFOQueue(3, tf.int32, shapes=[[]])
    fill, end = source.enqueue_many([list(range(10))]), source.close()
    tf.train.add_queue_runner(tf.train.QueueRunner(target, [target.enqueue(source.dequeue())] * 2))
    take = target.dequeue()
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        sess.run(fill)
        sess.run(end)
        threads = tf.train.start_queue_runners(sess, coord)
        got = [int(sess.run(take)) for _ in range(10)]
        with pytest.raises(OutOfRangeError):
            sess.run(take)
        coord.request_stop()
        coord.join(threads)
    assert sorted(got) == list(range(10))


def test_an_error_reaches_the_coordinator_with_its_op() -> None:
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[]])
    bad = queue.enqueue(tf.check_numerics(tf.log(tf.constant(-1.0)), "logarithm", name="careful"))
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        threads = tf.train.QueueRunner(queue, [bad]).create_threads(sess, coord, start=True)
        with pytest.raises(InvalidArgumentError, match="logarithm") as caught:
            coord.join(threads)
    assert caught.value.op == "careful"


def test_a_stop_lets_those_go_who_wait_for_room() -> None:
    queue = tf.FIFOQueue(1, tf.int32, shapes=[[]])
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1)])
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        threads = runner.create_threads(sess, coord, start=True)
        sess.run(queue.dequeue())
        assert runner.create_threads(sess, coord) == []
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=20)


def test_there_must_be_something_to_run() -> None:
    with pytest.raises(UsageError, match="at least one"):
        tf.train.QueueRunner(tf.FIFOQueue(1, tf.int32), [])
    with pytest.raises(UsageError, match="need a session"):
        tf.train.start_queue_runners()


def test_a_run_that_begins_as_the_session_closes_ends_too() -> None:
    queue = tf.FIFOQueue(1, tf.int32, shapes=[[]])
    with tf.Session() as sess:
        take = sess.prepare([queue.dequeue()], [])
    with pytest.raises(CancelledError):
        take.run([])


def test_a_session_that_closes_is_no_error_of_its_threads() -> None:
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1)] * 4))
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        threads = tf.train.start_queue_runners(sess, coord)
        sess.run(queue.dequeue())
    coord.join(threads, stop_grace_period_secs=5)
    assert not any(t.is_alive() for t in threads)


@pytest.mark.parametrize("error", [KeyError("key"), SystemExit(3)])
def test_whatever_ends_a_thread_is_told_and_nobody_waits_for_it(error: BaseException) -> None:
    queue = tf.FIFOQueue(3, tf.int32, shapes=[[]])

    def fail() -> None:
        raise error

    runner = tf.train.QueueRunner(queue, [queue.enqueue(tf.reshape(tf.py_func(fail, [], tf.int32), []))])
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        threads = runner.create_threads(sess, coord, start=True)
        with pytest.raises(OutOfRangeError):
            sess.run(queue.dequeue())
        with pytest.raises((InternalError, SystemExit), match=r"3|key"):
            coord.join(threads)


def test_a_python_function_ends_the_input_with_stop_iteration() -> None:
    """As of TensorFlow's py_func."""
    queue = tf.FIFOQueue(3, tf.int32, shapes=[[]])
    numbers = iter([np.int32(1), np.int32(2)])
    number = tf.reshape(tf.py_func(lambda: next(numbers), [], tf.int32), [])
    runner = tf.train.QueueRunner(queue, [queue.enqueue(number)])
    take = queue.dequeue()
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        threads = runner.create_threads(sess, coord, start=True)
        assert [int(sess.run(take)) for _ in range(2)] == [1, 2]
        with pytest.raises(OutOfRangeError, match="is closed"):
            sess.run(take)
        coord.request_stop()
        coord.join(threads)
