"""Cloning: a tower computes what the model computes, from its own inputs and the same parameters."""

import numpy as np

import pslab as tf
from pslab.graph.clone import clone


def test_a_clone_shares_variables_and_nothing_else() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.Variable([[1.0], [2.0]], name="w")
        y = tf.matmul(x, w) + tf.constant(0.5)
        x2 = tf.placeholder(tf.float32, [None, 2], name="x2")
        with tf.name_scope("tower_1"), tf.device("/job:localhost/task:0"):
            (y2,) = clone([y], {x: x2})
        assert len(tf.global_variables()) == 1
        assert y2.op.name.startswith("tower_1/")
        assert y2.device == "/job:localhost/task:0"
        assert y2.op.origin == y.op.origin
        assert w.value() in {t for op in graph.operations if op.name.startswith("tower_1/") for t in op.inputs}
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            one, other = session.run([y, y2], {x: [[1, 1]], x2: [[0, 3]]})
            np.testing.assert_array_equal([one, other], [[[3.5]], [[6.5]]])
