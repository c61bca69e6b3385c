"""Who initialises, who waits, who saves, under a Supervisor."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pslab as tf
from pslab.errors import DeadlineExceededError, OutOfRangeError
from tests.waiting import until


def worker(tasks, index: int, body: Callable, **options) -> Callable[[], None]:
    """What worker ``index`` of a program does: build the model, come to a session, then ``body(sv, sess, train_op)``."""

    def program() -> None:
        with tf.Graph().as_default(), tf.device(tasks.setter(index)):
            w = tf.Variable(5.0, name="w")
            step = tf.train.get_or_create_global_step()
            train = tf.group(tf.assign_add(w, 1.0), tf.assign_add(step, 1))
            sv = tf.train.Supervisor(is_chief=index == 0, **options)
            with sv.managed_session(tasks.workers[index].target) as sess:
                body(sv, sess, train)

    return program


def in_threads(*programs: Callable[[], None]) -> list[threading.Thread]:
    threads = [threading.Thread(target=p) for p in programs]
    for thread in threads:
        thread.start()
    return threads


def steps_saved(directory: Path) -> list[int]:
    state = tf.train.get_checkpoint_state(directory)
    return [int(path.rpartition("-")[2]) for path in state.all_model_checkpoint_paths]


def test_the_others_wait_until_the_chief_has_restored(tasks, tmp_path: Path) -> None:
    """Restored, not initialised: what they read first is what was saved."""
    first = tasks(1, 1)
    worker(first, 0, lambda sv, sess, train: [sess.run(train) for _ in range(3)], logdir=str(tmp_path))()
    assert steps_saved(tmp_path)[-1] == 3
    second, seen = tasks(1, 2), []

    def slow_init(sess) -> None:
        threading.Event().wait(0.3)

    (other,) = in_threads(worker(second, 1, lambda sv, sess, train: seen.append(float(sess.run("w:0"))), logdir=str(tmp_path)))
    chief = worker(second, 0, lambda sv, sess, train: seen.append(float(sess.run("w:0"))), logdir=str(tmp_path), init_fn=slow_init)
    chief()
    other.join(20)
    assert seen == [8.0, 8.0]


def test_any_order_of_start_will_do_and_nobody_sleeps_long(tasks) -> None:
    """The others come first, and have their session right after the chief's."""
    cluster, seen = tasks(2, 3), []
    body = lambda sv, sess, train: seen.append(float(sess.run("w:0")))  # noqa: E731
    others = in_threads(*(worker(cluster, i, body) for i in (2, 1)))
    assert not seen
    worker(cluster, 0, body)()
    for thread in others:
        thread.join(10)  # TensorFlow's would have slept 30 s between two looks
    assert seen == [5.0] * 3


def test_with_the_chief_gone_the_last_to_leave_saves(tasks, tmp_path: Path) -> None:
    cluster, gone = tasks(1, 2), threading.Event()

    def chief(sv, sess, train) -> None:
        sess.run(train)

    def other(sv, sess, train) -> None:
        assert gone.wait(20)
        for _ in range(4):
            sess.run(train)

    (thread,) = in_threads(worker(cluster, 1, other, logdir=str(tmp_path)))
    worker(cluster, 0, chief, logdir=str(tmp_path))()
    assert steps_saved(tmp_path)[-1] == 1
    gone.set()
    thread.join(20)
    assert steps_saved(tmp_path)[-1] == 5


def test_one_who_waits_in_vain_is_told_for_whom(tasks) -> None:
    cluster = tasks(1, 2)
    with tf.device(cluster.setter(1)):
        tf.Variable(1.0)
        sv = tf.train.Supervisor(is_chief=False)
        with pytest.raises(DeadlineExceededError, match=r"not ready after waiting 0\.3 secs: the chief has not initialized or restored"):
            sv.prepare_or_wait_for_session(cluster.workers[1].target, max_wait_secs=0.3)


def test_the_chief_initialises_in_order(tasks) -> None:
    x = tf.placeholder(tf.float32, [])
    v = tf.Variable(x, name="v", validate_shape=False)
    calls = []
    sv = tf.train.Supervisor(init_op=v.initializer, init_feed_dict={x: 3.0}, init_fn=lambda sess: calls.append(float(sess.run(v))))
    with sv.managed_session() as sess:
        assert sess.run(v) == 3.0
    assert calls == [3.0]


def test_a_model_that_is_not_initialised_is_named() -> None:
    tf.Variable(1.0, name="a")
    v = tf.Variable(1.0, name="left_out")
    sv = tf.train.Supervisor(init_op=tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)[0].initializer)
    with pytest.raises(RuntimeError, match=r"did not make model ready.*not initialized: left_out"), sv.managed_session():
        pass
    assert v is not None


def test_periodic_saving_and_summaries_are_the_chiefs(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    count = tf.assign_add(step, 1)
    tf.summary.scalar("loss", tf.constant(0.5))
    sv = tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=0.05, save_summaries_secs=0.05)
    with sv.managed_session() as sess:
        sess.run(count)
        until(lambda: tf.train.get_checkpoint_state(tmp_path) and 1 in steps_saved(tmp_path), "nothing was saved")
        sess.run(count)
        until(lambda: 2 in steps_saved(tmp_path), "it was not saved again")
    (events,) = tmp_path.glob("*tfevents*")
    written = list(tf.summary.summary_iterator(events))
    assert any(e.graph_def for e in written)
    assert {v.tag for e in written for v in e.summary.value} >= {"loss"}


def test_only_the_chief_has_services() -> None:
    tf.Variable(1.0)
    sv = tf.train.Supervisor(is_chief=False)
    with pytest.raises(RuntimeError, match="Only chief supervisor"):
        sv.start_standard_services(None)
    assert sv.summary_writer is None


def test_an_error_of_a_thread_is_raised() -> None:
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[]])
    bad = queue.enqueue(tf.check_numerics(tf.log(tf.constant(-1.0)), "logarithm"))
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [bad]))
    take = queue.dequeue()
    sv = tf.train.Supervisor()

    def program() -> None:
        with sv.managed_session() as sess:
            while not sv.should_stop():
                sess.run(take)

    with pytest.raises(Exception, match="logarithm"):
        program()


def test_an_error_of_the_program_is_raised() -> None:
    with pytest.raises(ZeroDivisionError), tf.train.Supervisor().managed_session():
        raise ZeroDivisionError


def test_the_end_of_the_input_is_an_end_in_order() -> None:
    source = tf.FIFOQueue(9, tf.int32, shapes=[[]])
    target = tf.FIFOQueue(2, tf.int32, shapes=[[]])
    fill, end = source.enqueue_many([[1, 2, 3, 4]]), source.close()
    tf.train.add_queue_runner(tf.train.QueueRunner(target, [target.enqueue(source.dequeue())]))
    take = target.dequeue()
    sv, got = tf.train.Supervisor(), []
    with sv.managed_session() as sess:
        sess.run(fill)
        sess.run(end)
        try:
            while not sv.should_stop():
                got.append(int(sess.run(take)))
        except OutOfRangeError:
            sv.request_stop()
    assert got == [1, 2, 3, 4]


def test_it_may_be_used_step_by_step(tmp_path: Path) -> None:
    v = tf.Variable(np.float32([1, 2]))
    sv = tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=0, save_summaries_secs=0, summary_op=None, saver=tf.train.Saver())
    sess = sv.prepare_or_wait_for_session("", config=tf.ConfigProto(allow_soft_placement=True))
    assert sv.start_queue_runners(sess, []) == []
    np.testing.assert_array_equal(sess.run(v), [1, 2])
    assert not sv.should_stop()
    sv.request_stop()
    assert sv.should_stop()
    sv.stop()
    sess.close()
