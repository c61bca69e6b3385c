"""Queues in sessions: what TensorFlow documents of them."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import pslab as tf
from pslab.errors import CancelledError, InvalidArgumentError, OutOfRangeError, ShapeError, UsageError


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_first_in_first_out_with_two_components() -> None:
    queue = tf.FIFOQueue(10, [tf.float32, tf.string], shapes=[[2], []])
    x, s = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.string, [])
    put = queue.enqueue([x, s])
    values, strings = queue.dequeue()
    assert values.shape.as_list() == [2] and strings.dtype == tf.string
    with tf.Session() as sess:
        for i in range(3):
            sess.run(put, {x: [i, i], s: f"s{i}".encode()})
        assert sess.run(queue.size()) == 3
        taken = [sess.run([values, strings]) for _ in range(3)]
    assert [list(v) for v, _ in taken] == [[0, 0], [1, 1], [2, 2]] and [s for _, s in taken] == [b"s0", b"s1", b"s2"]


def test_many_at_once() -> None:
    queue = tf.FIFOQueue(10, [tf.int32, tf.float32], shapes=[[], [2]])
    put = queue.enqueue_many([[1, 2, 3], np.arange(6, dtype=np.float32).reshape(3, 2)])
    numbers, rows = queue.dequeue_many(2)
    assert numbers.shape.as_list() == [2] and rows.shape.as_list() == [2, 2]
    with tf.Session() as sess:
        sess.run(put)
        a, b = sess.run([numbers, rows])
        assert a.tolist() == [1, 2] and b.tolist() == [[0, 1], [2, 3]]
        assert sess.run(queue.size()) == 1


def test_a_closed_queue_gives_what_is_left_and_then_its_end() -> None:
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]], name="q")
    put, take, some, many, close = queue.enqueue(7), queue.dequeue(), queue.dequeue_up_to(4), queue.dequeue_many(4), queue.close()
    with tf.Session() as sess:
        for _ in range(4):
            sess.run(put)
        sess.run(close)
        assert sess.run(queue.is_closed())
        assert sess.run(take) == 7
        with pytest.raises(OutOfRangeError, match=r"'q' is closed and has insufficient elements \(requested 4, current size 3\)"):
            sess.run(many)
        assert sess.run(some).tolist() == [7, 7, 7]
        with pytest.raises(OutOfRangeError, match="current size 0"):
            sess.run(some)
        with pytest.raises(CancelledError, match="closed"):
            sess.run(put)


def test_who_takes_from_an_empty_queue_waits_and_who_puts_into_a_full_one_too() -> None:
    queue = tf.FIFOQueue(1, tf.int32, shapes=[[]])
    put, take, size = queue.enqueue(1), queue.dequeue(), queue.size()
    taken = []
    with tf.Session() as sess:
        taker = threading.Thread(target=lambda: taken.append(sess.run(take)))
        taker.start()
        sess.run(put)
        taker.join(10)
        assert taken == [1]
        sess.run(put)
        putter = threading.Thread(target=lambda: sess.run(put))
        putter.start()
        assert sess.run(size) == 1
        assert sess.run(take) == 1
        putter.join(10)
        assert sess.run(size) == 1


def test_more_than_the_capacity_can_be_taken_at_once() -> None:
    queue = tf.FIFOQueue(2, tf.int32, shapes=[[]])
    put, take = queue.enqueue(1), queue.dequeue_many(5)
    got = []
    with tf.Session() as sess:
        taker = threading.Thread(target=lambda: got.append(sess.run(take)))
        taker.start()
        for _ in range(5):
            sess.run(put)
        taker.join(10)
    assert got[0].tolist() == [1] * 5


def test_a_random_queue_keeps_some_back_until_it_is_closed() -> None:
    queue = tf.RandomShuffleQueue(100, 10, tf.int32, shapes=[[]], seed=3)
    put, take, close = queue.enqueue_many([list(range(30))]), queue.dequeue_many(20), queue.close()
    with tf.Session() as sess:
        sess.run(put)
        first = sess.run(take)
        waiting = threading.Thread(target=lambda: first_of_rest.append(sess.run(queue_one)))
        first_of_rest, queue_one = [], queue.dequeue()
        waiting.start()
        assert sess.run(queue.size()) == 10
        sess.run(close)
        waiting.join(10)
        rest = [sess.run(queue_one) for _ in range(9)]
    assert sorted([*first, *first_of_rest, *rest]) == list(range(30)) and first.tolist() != sorted(first)


def test_padding() -> None:
    queue = tf.PaddingFIFOQueue(10, tf.float32, shapes=[[None]])
    x = tf.placeholder(tf.float32, [None])
    put, take = queue.enqueue(x), queue.dequeue_many(3)
    with tf.Session() as sess:
        for n in (1, 3, 2):
            sess.run(put, {x: np.ones(n)})
        assert sess.run(take).tolist() == [[1, 0, 0], [1, 1, 1], [1, 1, 0]]


def test_priorities() -> None:
    queue = tf.PriorityQueue(10, tf.string, shapes=[[]])
    p, s = tf.placeholder(tf.int64, []), tf.placeholder(tf.string, [])
    put, take = queue.enqueue([p, s]), queue.dequeue()
    with tf.Session() as sess:
        for priority, name in ((3, "c"), (1, "a"), (2, "b"), (1, "aa")):
            sess.run(put, {p: priority, s: name})
        assert [sess.run(take)[1] for _ in range(4)] == [b"a", b"aa", b"b", b"c"]


def test_named_components() -> None:
    queue = tf.FIFOQueue(3, [tf.int32, tf.float32], names=["i", "f"], shapes=[[], []])
    put, take = queue.enqueue({"i": 1, "f": 2.0}), queue.dequeue()
    with tf.Session() as sess:
        sess.run(put)
        assert sess.run(take) == {"i": 1, "f": 2.0}
    with pytest.raises(UsageError, match="dicts of i, f"):
        queue.enqueue([1, 2.0])


def test_a_shared_name_is_one_queue_for_two_clients_of_a_server() -> None:
    server = tf.train.Server.create_local_server()
    sessions = []
    for _ in range(2):
        with tf.Graph().as_default():
            queue = tf.FIFOQueue(5, tf.int32, shapes=[[]], shared_name="done")
            sessions.append((tf.Session(server.target), queue.enqueue(4), queue.dequeue(), queue.size()))
    (first, put, _, _), (second, _, take, size) = sessions
    first.run(put)
    assert second.run(size) == 1 and second.run(take) == 4
    other = pytest.raises(
        InvalidArgumentError, match=r"is a fifo queue of int32 \(\) with capacity 5; here it is to be a fifo queue of int32 with capacity 6"
    )
    with tf.Graph().as_default(), tf.Session(server.target) as third, other:
        third.run(tf.FIFOQueue(6, tf.int32, shared_name="done").size())
    for session in (first, second):
        session.close()
    server.close()


def test_what_does_not_fit_is_told_where_it_is_built() -> None:
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[2]])
    with pytest.raises(ShapeError, match=r"elements of shape \(2,\)"):
        queue.enqueue(tf.zeros([3]))
    with pytest.raises(UsageError, match="no names"):
        tf.FIFOQueue(3, [tf.float32], shapes=[[]]).enqueue({"a": 1})
    with pytest.raises(ShapeError, match="told their shapes"):
        tf.FIFOQueue(3, tf.float32).dequeue_many(2)


def test_a_closing_session_lets_those_who_wait_go() -> None:
    server = tf.train.Server.create_local_server()
    queue = tf.FIFOQueue(1, tf.int32)
    take, errors = queue.dequeue(), []
    session = tf.Session(server.target)

    def wait() -> None:
        try:
            session.run(take)
        except tf.errors.OpError as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    session.close()
    thread.join(10)
    assert not thread.is_alive() and isinstance(errors[0], CancelledError)
    server.close()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: tf.FIFOQueue(3, []), "at least one dtype"),
        (lambda: tf.FIFOQueue(2.5, tf.int32), "an integer other than 0, found 2.5"),
        (lambda: tf.FIFOQueue(2, tf.int32, shared_name=3), "a string, found 3"),
        (lambda: tf.RandomShuffleQueue(4, 4, tf.int32), "greater than min_after_dequeue, 4; found 4"),
        (lambda: tf.PaddingFIFOQueue(2, tf.int32, None), "needs the shapes of its components"),
        (lambda: tf.FIFOQueue(2, tf.int32).enqueue_many(3), "is a scalar"),
        (lambda: tf.FIFOQueue(2, tf.string).enqueue(3), "is no string: 3"),
    ],
)
def test_queues_that_cannot_be_meant(make, says) -> None:
    with pytest.raises(ValueError, match=says):
        make()


def test_a_scalar_is_not_many_elements() -> None:
    queue, value = tf.FIFOQueue(2, tf.int32), tf.placeholder(tf.int32)
    with tf.Session() as sess, pytest.raises(InvalidArgumentError, match="a value is a scalar"):
        sess.run(queue.enqueue_many(value), {value: 3})


@pytest.mark.parametrize(
    ("second", "says"),
    [
        (lambda: tf.FIFOQueue(4, tf.float32, [[]], shared_name="s"), r"is a fifo queue of int32 \(\) with .*; here .* of float32 \(\)"),
        (lambda: tf.FIFOQueue(4, tf.int32, [[3]], shared_name="s"), r"here it is to be a fifo queue of int32 \(3,\) with capacity 4"),
        (lambda: tf.RandomShuffleQueue(4, 2, tf.int32, [[]], shared_name="s"), "a random queue of .* with capacity 4 and min_after_dequeue 2"),
    ],
)
def test_a_shared_queue_is_described_alike_by_all(second, says) -> None:
    first, other = tf.FIFOQueue(4, tf.int32, [[]], shared_name="s"), second()
    with tf.Session() as sess:
        sess.run(first.enqueue(1))
        with pytest.raises(InvalidArgumentError, match=says):
            sess.run(other.size())
        assert sess.run(first.dequeue()) == 1
