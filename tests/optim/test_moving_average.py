from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import GraphError
from pslab.graph.graph import Graph


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as graph:
        yield graph


def test_averages_follow_updates_that_they_wait_for():
    w = tf.Variable([1.0, 2.0], name="w")
    average = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([w.assign_add([1.0, 1.0])]):
        move = average.apply([w])
    wanted = value = np.array([1.0, 2.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(5):
            session.run(move)
            value = value + 1
            wanted = wanted - 0.1 * (wanted - value)
        np.testing.assert_allclose(session.run(average.average(w)), wanted, rtol=1e-6)


def test_the_decay_starts_small_where_updates_are_counted():
    """Values of TensorFlow's own."""
    w, n = tf.Variable([0.5, -1.0], name="w"), tf.Variable(0, trainable=False, name="n")
    with tf.control_dependencies([w.assign_add([1.0, 1.0]), n.assign_add(1)]):
        updated = tf.no_op()
    average = tf.train.ExponentialMovingAverage(0.9, num_updates=n)
    with tf.control_dependencies([updated]):
        move = average.apply([w])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for wanted in ([1.31818, -0.18182], [2.20455, 0.70455], [3.10140, 1.60140], [4.00050, 2.50050]):
            session.run(move)
            np.testing.assert_allclose(session.run(average.average(w)), wanted, atol=1e-5)


def test_averages_of_tensors_begin_at_nothing():
    x = tf.placeholder(tf.float32, [2], name="x")
    average = tf.train.ExponentialMovingAverage(0.75, name="mean")
    move = average.apply([x])
    assert average.average(x).op.name == "x/mean"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(move, {x: [4.0, 8.0]})
        assert session.run(average.average(x)).tolist() == [1, 2]


def test_names_and_places(graph):
    with tf.device("/job:ps/task:1"):
        w = tf.Variable([1.0], name="layer/w")
    b = tf.Variable([1.0], name="b")
    n = tf.Variable(1.0, trainable=False, name="n")
    average = tf.train.ExponentialMovingAverage(0.9)
    with tf.name_scope("anywhere"):
        move = average.apply()
    assert move.name == "anywhere/ExponentialMovingAverage"
    assert average.average(w).op.name == average.average_name(w) == "layer/w/ExponentialMovingAverage"
    assert average.average(w).device == w.device
    assert average.average(n) is None
    assert average.average_name(n) == "n/ExponentialMovingAverage"
    assert tf.moving_average_variables() == [w, b]
    assert tf.trainable_variables() == [w, b]
    assert average.variables_to_restore() == {"layer/w/ExponentialMovingAverage": w, "b/ExponentialMovingAverage": b, "n": n}


def test_averages_are_restored_into_their_variables(tmp_path):
    w = tf.Variable([1.0], name="w")
    average = tf.train.ExponentialMovingAverage(0.5)
    with tf.control_dependencies([w.assign([3.0])]):
        move = average.apply()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(move)
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.Variable([0.0], name="w")
        tf.train.Saver(tf.train.ExponentialMovingAverage(0.5).variables_to_restore()).restore(session, path)
        assert session.run(w).tolist() == [2]


def test_refuses():
    with pytest.raises(GraphError, match="needs a floating dtype, not int32"):
        tf.train.ExponentialMovingAverage(0.9).apply([tf.Variable(1, name="n")])
    with pytest.raises(GraphError, match="zero_debias"):
        tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
