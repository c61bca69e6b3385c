"""The coordinator, as TensorFlow documents it."""

from __future__ import annotations

import threading

import pytest

import pslab as tf


def test_a_thread_s_exception_is_raised_by_join() -> None:
    coord = tf.train.Coordinator()

    def fail() -> None:
        with coord.stop_on_exception():
            raise ValueError("in a thread")

    def wait() -> None:
        assert coord.wait_for_stop(10)

    threads = [threading.Thread(target=f) for f in (fail, wait)]
    for thread in threads:
        thread.start()
    with pytest.raises(ValueError, match="in a thread"):
        coord.join(threads)
    assert coord.should_stop() and coord.joined


def test_the_first_report_counts_and_a_clean_end_is_not_raised() -> None:
    coord = tf.train.Coordinator()
    coord.request_stop(tf.errors.OutOfRangeError("the end"))
    coord.join([])
    coord.clear_stop()
    assert not coord.should_stop()
    coord.request_stop(KeyError("first"))
    coord.request_stop(KeyError("second"))
    with pytest.raises(KeyError, match="first"):
        coord.join([])
    with pytest.raises(KeyError, match="late"):
        coord.request_stop(KeyError("late"))


def test_threads_that_do_not_end_are_named() -> None:
    coord, hold = tf.train.Coordinator(), threading.Event()
    thread = threading.Thread(target=hold.wait, name="stubborn", daemon=True)
    thread.start()
    coord.register_thread(thread)
    coord.request_stop()
    with pytest.raises(RuntimeError, match="stubborn"):
        coord.join(stop_grace_period_secs=0.05)
    coord.clear_stop()
    coord.register_thread(thread)
    coord.request_stop()
    coord.join(stop_grace_period_secs=0.05, ignore_live_threads=True)
    hold.set()
    thread.join()


def test_join_returns_when_all_threads_have_ended_though_nobody_asked_for_a_stop() -> None:
    coord = tf.train.Coordinator()
    thread = threading.Thread(target=lambda: None)
    thread.start()
    coord.join([thread])
    assert not coord.should_stop()


def test_a_looper_thread_loops_until_the_stop() -> None:
    coord, calls = tf.train.Coordinator(), []

    def turn(limit: int) -> None:
        calls.append(1)
        if len(calls) == limit:
            coord.request_stop()

    thread = tf.train.LooperThread.loop(coord, 0.001, turn, args=(5,))
    coord.join()
    assert len(calls) == 5 and not thread.is_alive()
