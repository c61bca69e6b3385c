from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import ShapeError
from pslab.graph.ops.embedding import embedding_lookup

TABLE = np.arange(20.0).reshape(10, 2)
IDS = np.array([[3, 9, 0], [4, 3, 7]])


def test_one_table(value):
    np.testing.assert_array_equal(value(embedding_lookup(TABLE, IDS)), TABLE[IDS])
    np.testing.assert_array_equal(value(embedding_lookup([TABLE], [2, 2])), TABLE[[2, 2]])


def test_parts_by_remainder(value):
    parts = [tf.constant(TABLE[i::3]) for i in range(3)]
    found = embedding_lookup(parts, IDS)
    assert found.shape == [2, 3, 2]
    np.testing.assert_array_equal(value(found), TABLE[IDS])


def test_parts_one_after_the_other(value):
    parts = [tf.constant(part) for part in np.array_split(TABLE, 4)]
    assert [int(p.shape[0]) for p in parts] == [3, 3, 2, 2]
    np.testing.assert_array_equal(value(embedding_lookup(parts, np.arange(10), "div")), TABLE)
    np.testing.assert_array_equal(value(embedding_lookup(parts, IDS, "div")), TABLE[IDS])


def test_rows_are_taken_where_the_parts_are_and_trained_there(graph):
    with graph.device("/job:ps/task:1"):
        first = tf.Variable(TABLE[::2], name="first")
    second = tf.Variable(TABLE[1::2], name="second")
    rows = embedding_lookup([first, second], IDS)
    gathers = [op for op in graph.operations if op.type == "GatherV2"]
    assert [op.device for op in gathers] == [first.device, second.device]
    slopes = tf.gradients(rows, [first, second])
    counts = np.bincount(IDS.ravel(), minlength=10)[:, None] * np.ones(2)
    with tf.Graph().as_default() as alone:
        variables = [tf.Variable(TABLE[i::2]) for i in range(2)]
        slopes = tf.gradients(embedding_lookup(variables, IDS), variables)
        with tf.Session(graph=alone) as session:
            session.run(tf.global_variables_initializer())
            found = session.run(slopes)
    np.testing.assert_array_equal(found[0], counts[::2])
    np.testing.assert_array_equal(found[1], counts[1::2])


def test_a_table_elsewhere_does_not_travel_for_its_gradient(graph):
    with graph.device("/job:ps/task:0"):
        table = tf.Variable(TABLE, name="table")
    [slope] = tf.gradients(embedding_lookup(table, IDS), table)
    assert slope.op.type == "GatherGrad"
    assert table.value() not in slope.op.inputs


def test_refuses(graph):
    with pytest.raises(ShapeError, match="'mod' or 'div', not 'hash'"):
        embedding_lookup([TABLE, TABLE], [0], "hash")
    with pytest.raises(ShapeError, match="at least one part"):
        embedding_lookup([], [0])
    with pytest.raises(ShapeError, match="max_norm"):
        embedding_lookup(TABLE, [0], max_norm=1.0)
