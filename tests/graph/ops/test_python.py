from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import InvalidArgumentError, UnimplementedError
from pslab.graph.ops import python


def test_a_function_of_the_program(graph):
    x = tf.placeholder(tf.float32, [2])
    total, parts = tf.py_func(lambda a, b: (np.float32(a.sum() + b), a[::-1]), [x, 3.0], [tf.float32, tf.float32])
    bare = tf.py_func(np.sin, [x], tf.float32)
    assert bare.shape.ndims is None
    with tf.Session() as session:
        found = session.run([total, parts, bare], {x: [1.0, 2.0]})
    assert found[0] == 6
    assert found[1].tolist() == [2, 1]
    np.testing.assert_array_equal(found[2], np.sin(np.array([1, 2], "f")))


def test_it_must_keep_to_what_was_announced(graph):
    wrong_type = tf.py_func(lambda: np.float64(1), [], tf.float32)
    too_many = tf.py_func(lambda: (np.float32(1), np.float32(2)), [], [tf.float32])
    with tf.Session() as session:
        with pytest.raises(InvalidArgumentError, match="value 0 of the function is float64; float32 was announced"):
            session.run(wrong_type)
        with pytest.raises(InvalidArgumentError, match="returned 2 values; 1 were announced"):
            session.run(too_many)


def test_what_it_returns_stays_the_programs_own(graph):
    kept = np.ones(3, "f")
    y = tf.py_func(lambda: kept, [], tf.float32)
    with tf.Session() as session:
        session.run(y * 2.0 + 1.0)
    assert kept.tolist() == [1, 1, 1]


def test_it_does_not_travel(graph, monkeypatch):
    x = tf.py_func(lambda: np.float32(1), [], tf.float32)
    monkeypatch.setattr(python, "_FUNCTIONS", {})  # as in another process
    with tf.Session() as session, pytest.raises(UnimplementedError, match="functions do not travel"):
        session.run(x)


def test_printing_on_the_way(graph, capfd):
    x = tf.placeholder(tf.float32, [])
    y = tf.Print(x, [x, tf.constant([1, 2, 3, 4])], "x and more: ", first_n=2, summarize=3)
    [slope] = tf.gradients(y * 3.0, x)
    with tf.Session() as session:
        for value in (5.0, 6.0, 7.0):
            assert session.run([y, slope], {x: value}) == [value, 3]
    assert capfd.readouterr().err == "x and more: [5.0][1 2 3...]\nx and more: [6.0][1 2 3...]\n"
