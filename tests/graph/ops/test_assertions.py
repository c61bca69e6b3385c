from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import InvalidArgumentError, ShapeError


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (tf.assert_equal, 2, 3),
        (tf.assert_less, 3, 2),
        (tf.assert_less_equal, 2, 1),
        (tf.assert_greater, 1, 2),
        (tf.assert_greater_equal, 2, 3),
    ],
)
def test_what_waits_for_a_condition_fails_with_it(graph, check, good, bad):
    x, y = tf.constant(np.full(3, 2)), tf.placeholder(tf.int64, [])
    with tf.control_dependencies([check(x, y, message="of sizes")]):
        result = tf.identity(x)
    with tf.Session() as session:
        assert session.run(result, {y: good}).tolist() == [2, 2, 2]
        with pytest.raises(InvalidArgumentError, match=rf"assertion failed: of sizes .*does not hold: \[2 2 2\] \[{bad}\]"):
            session.run(result, {y: bad})


def test_it_tells_what_it_was_given(graph):
    x = tf.placeholder(tf.float32, [None])
    check = tf.Assert(tf.reduce_all(x > 0.0), ["x is", x], summarize=2)
    with tf.Session() as session:
        session.run(check, {x: [1.0, 2.0]})
        with pytest.raises(InvalidArgumentError, match=r"assertion failed: x is \[-1\.\s+2\.\]"):
            session.run(check, {x: [-1.0, 2.0, 3.0]})


def test_signs(graph):
    x = tf.placeholder(tf.float32, [])
    positive, not_negative = tf.assert_positive(x), tf.assert_non_negative(x)
    with tf.Session() as session:
        session.run([positive, not_negative], {x: 1.0})
        session.run(not_negative, {x: 0.0})
        for check, value in ((positive, 0.0), (not_negative, -1.0)):
            with pytest.raises(InvalidArgumentError):
                session.run(check, {x: value})


def test_ranks_are_looked_at_while_building(graph):
    assert tf.assert_rank(tf.zeros([2, 3]), 2).outputs == ()
    tf.assert_rank(tf.placeholder(tf.float32), 5)
    with pytest.raises(ShapeError, match=r"must have rank 1, but has shape \(2, 3\)"):
        tf.assert_rank(tf.zeros([2, 3]), 1)
