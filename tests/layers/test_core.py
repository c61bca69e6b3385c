from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import ShapeError, UnimplementedError

X = np.arange(12, dtype="f").reshape(4, 3)


def variables():
    return [v.op.name for v in tf.global_variables()]


def test_dense(run):
    kernel = np.arange(6.0).reshape(3, 2)
    y = tf.layers.dense(X, 2, tf.nn.relu, kernel_initializer=tf.constant_initializer(kernel - 3), bias_initializer=tf.constant_initializer(1.0))
    assert (y.op.name, y.shape) == ("dense/Relu", [4, 2])
    np.testing.assert_allclose(run(y), np.maximum(X @ (kernel - 3) + 1, 0))


def test_names_are_made_unique_or_shared():
    for _ in range(2):
        tf.layers.dense(X, 2)
    tf.layers.dense(X, 2, use_bias=False, name="out")
    assert variables() == ["dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias", "out/kernel"]
    tf.layers.dense(X, 2, use_bias=False, name="out", reuse=True)
    tf.layers.dense(X, 2, reuse=True)
    with tf.variable_scope("", reuse=True):
        tf.layers.dense(X, 2, name="dense_1")
    assert len(variables()) == 5
    with pytest.raises(ValueError, match="'out/kernel' exists already"):
        tf.layers.dense(X, 2, name="out")


def test_a_tower_shares_its_layers():
    for _ in range(2):
        with tf.variable_scope("tower", reuse=tf.AUTO_REUSE):
            tf.layers.dense(tf.layers.dense(X, 5), 2)
    assert variables() == [f"tower/{layer}/{part}" for layer in ("dense", "dense_1") for part in ("kernel", "bias")]


def test_dense_over_the_last_of_many_axes(run):
    x = tf.placeholder("float32", [None, 2, 3])
    y = tf.layers.dense(x, 4, kernel_initializer=tf.ones_initializer(), trainable=False)
    assert y.shape == [None, 2, 4]
    value = X.reshape(2, 2, 3)
    np.testing.assert_allclose(run(y, {x: value}), value.sum(-1, keepdims=True) * np.ones(4))
    assert tf.trainable_variables() == []


def test_losses_of_a_layer(run):
    tf.layers.dense(
        X,
        2,
        kernel_initializer=tf.ones_initializer(),
        kernel_regularizer=tf.layers.regularizers.l2_regularizer(0.5),
        bias_regularizer=lambda b: tf.reduce_sum(b) + 3.0,
        activity_regularizer=tf.reduce_sum,
    )
    assert run(tf.losses.get_regularization_losses()) == [1.5, 3, 2 * X.sum()]


def test_dense_refuses():
    with pytest.raises(ShapeError, match="needs to know the last dimension"):
        tf.layers.dense(tf.placeholder("float32", [3, None]), 2)
    with pytest.raises(ShapeError, match="rank 2 or more"):
        tf.layers.dense(tf.zeros([3]), 2)
    with pytest.raises(UnimplementedError, match="kernel_constraint="):
        tf.layers.dense(X, 2, kernel_constraint=abs)


def test_flatten(run):
    assert tf.layers.flatten(tf.placeholder("float32", [None, 2, 3, 4])).shape == [None, 24]
    assert tf.layers.flatten(tf.placeholder("float32", [None])).shape == [None, 1]
    assert run(tf.layers.flatten(X.reshape(2, 3, 2))).tolist() == X.reshape(2, 6).tolist()
    x = tf.placeholder("float32", [2, None, 3])
    assert run(tf.layers.flatten(x), {x: X.reshape(2, 2, 3)}).shape == (2, 6)
    with pytest.raises(ShapeError, match="the batch, or all that follows"):
        tf.layers.flatten(tf.placeholder("float32", [None, None, 3]))


def test_dropout_while_training(run):
    x = tf.ones([50, 40])
    assert run(tf.layers.dropout(x)).tolist() == np.ones((50, 40)).tolist()
    found = run(tf.layers.dropout(x, 0.75, training=True, seed=1))
    assert set(np.unique(found)) == {0, 4}
    assert (found == 0).mean() == pytest.approx(0.75, abs=0.05)


def test_dropout_may_be_told_when_it_runs(run):
    x, training = tf.ones([50, 40]), tf.placeholder(tf.bool, [])
    y = tf.layers.dropout(x, 0.5, training=training, seed=1)
    assert run(y, {training: False}).tolist() == np.ones((50, 40)).tolist()
    assert set(np.unique(run(y, {training: True}))) == {0, 2}
