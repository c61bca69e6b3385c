"""The compiler: readable programs that compute what the graph says, in place where nobody can tell."""

from __future__ import annotations

import gc
import linecache

import numpy as np
import pytest

import pslab as tf
from pslab import errors


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def prepared(fetches, feeds=()):
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session.prepare(list(fetches), list(feeds))


def test_the_source_is_one_readable_function() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.Variable(np.ones((3, 2), np.float32), name="w")
    step = prepared([tf.nn.relu(tf.matmul(x, w, name="product"), name="hidden")], [x])
    lines = [line.strip() for line in step.source.splitlines()]
    assert lines[0] == "def program(feeds):"
    assert "product = matmul(x, w_read)" in lines
    assert "hidden = relu(product, out=product)" in lines
    assert lines[-1] == "return (hidden,)"


def test_the_source_can_be_looked_up_as_long_as_the_program_is_there() -> None:
    before = set(linecache.cache)
    step = prepared([tf.constant(1.0) + tf.constant(2.0)])
    (mine,) = {name for name in set(linecache.cache) - before if "".join(linecache.getlines(name)) == step.source}
    del step
    gc.collect()
    assert mine not in linecache.cache


def test_a_buffer_that_is_needed_later_is_not_written_over() -> None:
    x = tf.placeholder(tf.float32, [4], name="x")
    double = x * 2.0
    more = double + 1.0
    step = prepared([more, double], [x])
    more_value, double_value = step.run([np.ones(4, np.float32)]).values
    np.testing.assert_array_equal(double_value, 2)
    np.testing.assert_array_equal(more_value, 3)


def test_a_fed_array_is_never_written_to() -> None:
    x = tf.placeholder(tf.float32, [4], name="x")
    fed = np.ones(4, np.float32)
    prepared([tf.exp(tf.square(x + 1.0))], [x]).run([fed])
    np.testing.assert_array_equal(fed, 1)


def test_updates_of_one_task_are_one_critical_section() -> None:
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    one = tf.constant(1.0)
    with tf.control_dependencies([a.assign_add(one)]):
        other = b.assign_add(one)
    assert prepared([other]).source.count("with monitor:") == 1


def test_names_that_python_has_already_are_no_trouble() -> None:
    x = tf.placeholder(tf.float32, [], name="class")
    y = tf.add(x, 1.0, name="yield")
    z = tf.add(y, 1.0, name="3d.model/feeds")
    assert prepared([z], [x]).run([np.float32(1)]).values[0] == 3


def test_a_failure_is_laid_at_the_right_ops_door() -> None:
    x = tf.placeholder(tf.float32, None, name="x")
    good = tf.square(x, name="good")
    bad = tf.reshape(good, [7], name="bad")
    with pytest.raises(errors.InvalidArgumentError) as caught:
        prepared([bad], [x]).run([np.ones(4, np.float32)])
    assert caught.value.op == "bad"


def test_a_training_step_reads_once_and_writes_once() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w, b = tf.Variable(np.ones((3, 2), np.float32), name="w"), tf.Variable(np.zeros(2, np.float32), name="b")
    loss = tf.reduce_sum(tf.square(tf.matmul(x, w) + b))
    step = prepared([tf.train.GradientDescentOptimizer(0.1).minimize(loss), loss], [x])
    assert step.source.count("with monitor:") == 2
