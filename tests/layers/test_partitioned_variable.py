from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import GraphError
from pslab.graph.shape import TensorShape


def ramp(shape, dtype=None, partition_info=None):
    """As an initializer of the whole would be, cut to the part."""
    info = partition_info
    whole = np.arange(np.prod(info.full_shape), dtype="f").reshape(info.full_shape)
    return tf.constant(whole[tuple(slice(o, o + s) for o, s in zip(info.var_offset, shape, strict=True))])


def test_parts_are_variables_and_stand_for_the_whole(run):
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(3)):
        w = tf.get_variable("w", [7, 2], initializer=ramp)
        b = tf.get_variable("b", [])
    assert isinstance(w, tf.PartitionedVariable)
    assert [v.name for v in w] == ["s/w/part_0:0", "s/w/part_1:0", "s/w/part_2:0"]
    assert [v.shape.as_list() for v in w] == [[3, 2], [2, 2], [2, 2]]
    assert (len(w), w.name, w.get_shape(), w.dtype) == (3, "s/w", [7, 2], tf.float32)
    assert b.name == "s/b:0"
    whole = np.arange(14.0).reshape(7, 2)
    found = run([w.as_tensor(), tf.convert_to_tensor(w), w * 2.0, w[1], tf.matmul(tf.ones([1, 7]), w)])
    for value, wanted in zip(found, [whole, whole, whole * 2, whole[1], whole.sum(0, keepdims=True)], strict=True):
        np.testing.assert_array_equal(value, wanted)


def test_along_another_axis_from_a_value(run):
    w = tf.get_variable("w", initializer=np.arange(6.0).reshape(2, 3), partitioner=tf.fixed_size_partitioner(2, axis=1))
    assert [v.shape.as_list() for v in w] == [[2, 2], [2, 1]]
    np.testing.assert_array_equal(run(w.as_tensor()), np.arange(6.0).reshape(2, 3))


def test_an_initializer_scales_by_the_whole(run):
    w = tf.get_variable("w", [400, 200], partitioner=tf.fixed_size_partitioner(4))
    for part in run(list(w)):
        assert np.abs(part).max() <= np.sqrt(6 / 600)


def test_rows_are_looked_up_in_the_parts_and_train_them(run):
    w = tf.get_variable("w", [6, 2], initializer=tf.zeros_initializer(), partitioner=tf.fixed_size_partitioner(2))
    assert tf.trainable_variables() == list(w)
    loss = tf.reduce_sum(tf.nn.embedding_lookup(w, [0, 3, 3], partition_strategy="div"))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        found = session.run(w.as_tensor())
    assert found[:, 0].tolist() == [-1, 0, 0, -2, 0, 0]


def test_shared_as_a_whole():
    partitioner = tf.fixed_size_partitioner(2)
    w = tf.get_variable("w", [4, 2], partitioner=partitioner)
    tf.get_variable("v", [4, 2])
    with pytest.raises(ValueError, match="'w/part_0' exists already"):
        tf.get_variable("w", [4, 2], partitioner=partitioner)
    with pytest.raises(ValueError, match="was made in parts"):
        tf.get_variable("w", [4, 2])
    with tf.variable_scope("", reuse=True):
        assert tf.get_variable("w", [4, 2], partitioner=partitioner) is w
        assert tf.get_variable("w", [4, 2]) is w
        with pytest.raises(ValueError, match=r"shape \(4, 2\), dtype float32 and partitions \[4, 1\] were asked for, it has .* partitions \[2, 1\]"):
            tf.get_variable("w", [4, 2], partitioner=tf.fixed_size_partitioner(4))
        with pytest.raises(ValueError, match="in one piece"):
            tf.get_variable("v", [4, 2], partitioner=partitioner)


def test_parts_go_to_the_tasks_in_turn():
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        w = tf.get_variable("w", [4, 2], partitioner=tf.fixed_size_partitioner(3))
    assert [v.device for v in w] == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]


@pytest.mark.parametrize(
    ("partitioner", "wanted"),
    [
        (tf.fixed_size_partitioner(3), [3, 1]),
        (tf.fixed_size_partitioner(3, axis=1), [1, 3]),
        (tf.fixed_size_partitioner(50), [20, 1]),
        (tf.variable_axis_size_partitioner(400), [4, 1]),
        (tf.variable_axis_size_partitioner(399), [5, 1]),
        (tf.variable_axis_size_partitioner(1), [20, 1]),
        (tf.variable_axis_size_partitioner(400, axis=1, max_shards=3), [1, 3]),
        (tf.min_max_variable_partitioner(8, min_slice_size=400), [4, 1]),
        (tf.min_max_variable_partitioner(3, min_slice_size=400), [3, 1]),
        (tf.min_max_variable_partitioner(8), [1, 1]),
    ],
)
def test_partitioners(partitioner, wanted):
    assert partitioner(shape=TensorShape([20, 20]), dtype=tf.float32) == wanted


def test_texts_are_counted_with_a_size_of_their_own():
    assert tf.variable_axis_size_partitioner(64)(shape=TensorShape([16]), dtype=tf.string) == [4]


@pytest.mark.parametrize("partitions", [[2], [0, 1], [5, 1], [2, 2]])
def test_a_partitioner_must_make_sense(partitions):
    with pytest.raises(GraphError, match="its partitioner gave"):
        tf.get_variable("w", [4, 2], partitioner=lambda shape, dtype: partitions)


@pytest.mark.parametrize("make", [lambda: tf.variable_axis_size_partitioner(0), lambda: tf.min_max_variable_partitioner(0)])
def test_bounds_must_be_positive(make):
    with pytest.raises(GraphError, match="must be positive"):
        make()
