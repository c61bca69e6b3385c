from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import GraphError, UnimplementedError
from pslab.graph.collections import GraphKeys


def test_a_variable_that_exists_is_shared_only_if_wished():
    w = tf.get_variable("w", [2, 3])
    with pytest.raises(ValueError, match=r"variable 'w' exists already[\s\S]*reuse=True or reuse=pslab.AUTO_REUSE[\s\S]*test_getting.py"):
        tf.get_variable("w", [2, 3])
    with tf.variable_scope("", reuse=True):
        assert tf.get_variable("w", [2, None]) is w


def test_a_variable_that_does_not_exist_is_not_made_where_it_is_to_be_shared():
    tf.Variable(0.0, name="w")
    with tf.variable_scope("", reuse=True), pytest.raises(ValueError, match=r"variable 'w' does not exist, or was not made with get_variable\(\)"):
        tf.get_variable("w", [])


def test_a_shared_variable_keeps_its_shape_and_dtype():
    tf.get_variable("w", [2, 3])
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        with pytest.raises(ValueError, match=r"variable 'w' cannot be shared: shape \(3, 2\) was asked for, it has shape \(2, 3\)"):
            tf.get_variable("w", [3, 2])
        with pytest.raises(ValueError, match="dtype float64 was asked for, it has dtype float32"):
            tf.get_variable("w", [2, 3], tf.float64)


def test_initial_values(run):
    def ramp(shape, dtype=None, partition_info=None):
        return tf.cast(tf.reshape(tf.range(int(np.prod(shape))), shape), dtype)

    made = [
        tf.get_variable("function", [2, 2], initializer=ramp),
        tf.get_variable("type", [2], initializer=tf.ones_initializer),
        tf.get_variable("value", initializer=np.array([1.5, 2.5])),
        tf.get_variable("number", initializer=7),
        tf.get_variable("nothing", initializer=lambda: tf.fill([2], 4.0)),
        tf.get_variable("integers", [2], tf.int32),
    ]
    assert [v.dtype.name for v in made] == ["float32", "float32", "float64", "int32", "float32", "int32"]
    assert [v.tolist() for v in run(made)] == [[[0, 1], [2, 3]], [1, 1], [1.5, 2.5], 7, [4, 4], [0, 0]]


def test_by_default_floats_begin_as_glorot_and_bengio_say(run):
    found = run(tf.get_variable("w", [200, 400]))
    assert np.abs(found).max() <= np.sqrt(6 / 600)
    assert found.std() == pytest.approx(np.sqrt(2 / 600), rel=0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": [2], "initializer": [1.0, 2.0]}, "a shape of its own"),
        ({"dtype": "float32", "initializer": 1}, "the initial value is int32, but dtype=float32"),
        ({"shape": [2, None]}, r"must be fully known, found \(2, \?\)"),
        ({}, "must be fully known, found <unknown>"),
    ],
)
def test_arguments_must_fit(arguments, message):
    with pytest.raises(GraphError, match=message):
        tf.get_variable("w", **arguments)


def test_collections(graph):
    a = tf.get_variable("a", [2], collections=["mine"])
    b = tf.get_variable("b", [2], trainable=False)
    c = tf.get_local_variable("c", [2])
    d = tf.local_variable(1.0, name="d")
    assert graph.get_collection("mine") == [a]
    assert tf.trainable_variables() == [a]
    assert tf.global_variables() == [b]
    assert tf.local_variables() == [c, d]
    assert not d.trainable
    assert tf.contrib.framework.local_variable is tf.local_variable


def test_a_regularizer_is_asked_once(run):
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        for _ in range(2):
            w = tf.get_variable("w", [3], initializer=tf.ones_initializer(), regularizer=lambda v: 2.0 * tf.reduce_sum(v))
        tf.get_variable("v", [3], regularizer=tf.no_regularizer)
    [loss] = tf.get_collection(GraphKeys.REGULARIZATION_LOSSES)
    assert run(loss) == 6
    assert loss.op.device == w.device


def test_it_is_placed_as_a_variable_is():
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        found = [tf.get_variable(name, [2]).device for name in "abc"]
    assert found == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]


def test_shape_may_change_if_it_is_not_validated(run):
    w = tf.get_variable("w", initializer=[1.0, 2.0], validate_shape=False)
    assert w.shape.ndims is None


def test_a_constraint_is_refused():
    with pytest.raises(UnimplementedError, match="constraint="):
        tf.get_variable("w", [2], constraint=abs)
