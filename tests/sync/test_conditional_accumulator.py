"""TensorFlow's documented semantics of accumulators."""

from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import GraphError, ShapeError


def test_the_mean_of_the_gradients_and_then_a_new_step() -> None:
    q = tf.ConditionalAccumulator(tf.float32, shape=[2], name="q")
    x = tf.placeholder(tf.float32, [2])
    step = tf.placeholder(tf.int64, [])
    put, take, count = q.apply_grad(x, local_step=step), q.take_grad(2), q.num_accumulated()
    with tf.Session() as sess:
        for value in ([1, 2], [3, 6]):
            sess.run(put, {x: value, step: 0})
        assert sess.run(count) == 2
        np.testing.assert_array_equal(sess.run(take), [2, 4])
        assert sess.run(count) == 0
        sess.run(put, {x: [9, 9], step: 0})  # local step 0 < 1: stale
        assert sess.run(count) == 0
        sess.run(put, {x: [9, 9], step: 1})
        assert sess.run(count) == 1


def test_the_step_can_be_set() -> None:
    q = tf.ConditionalAccumulator(tf.float32, shape=[])
    put, at_four, at_five = q.set_global_step(5), q.apply_grad(1.0, 4), q.apply_grad(2.0, 5)
    take = q.take_grad(1)
    with tf.Session() as sess:
        sess.run(put)
        sess.run(at_four)
        sess.run(at_five)
        assert sess.run(take) == 2.0


def test_programs_share_one_by_name() -> None:
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default(), tf.Session(server.target) as sess:
        sess.run(tf.ConditionalAccumulator(tf.float32, [], shared_name="shared").apply_grad(4.0))
    with tf.Graph().as_default(), tf.Session(server.target) as sess:
        assert sess.run(tf.ConditionalAccumulator(tf.float32, [], shared_name="shared", name="other").take_grad(1)) == 4.0
    server.close()


def test_a_gradient_of_another_dtype_or_shape_is_told() -> None:
    q = tf.ConditionalAccumulator(tf.float32, shape=[2])
    with pytest.raises(GraphError, match="float32"):
        q.apply_grad(tf.constant([1.0, 2.0], tf.float64))
    with pytest.raises(ShapeError, match=r"\(3,\).*\(2,\)"):
        q.apply_grad(tf.constant([1.0, 2.0, 3.0]))
