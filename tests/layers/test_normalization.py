from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import ShapeError, UnimplementedError

MATRIX = np.sin(np.arange(12, dtype="f")).reshape(4, 3) * 5
IMAGES = np.sin(np.arange(96, dtype="f")).reshape(2, 4, 4, 3) * 5


def normal(x, axes, epsilon=1e-3):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def test_variables_and_updates_have_tensorflows_names(graph):
    tf.layers.batch_normalization(MATRIX, training=True)
    tf.layers.batch_normalization(MATRIX, center=False, scale=False)
    names = [f"batch_normalization/{v}" for v in ("gamma", "beta", "moving_mean", "moving_variance")]
    names += [f"batch_normalization_1/{v}" for v in ("moving_mean", "moving_variance")]
    assert [v.op.name for v in tf.global_variables()] == names
    assert [v.op.name for v in tf.trainable_variables()] == names[:2]
    assert len(graph.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2


@pytest.mark.parametrize(("x", "axes", "ddof"), [(MATRIX, (0,), 0), (IMAGES, (0, 1, 2), 1)], ids=["matrix", "images"])
def test_by_the_batch_while_training_and_by_the_averages_after(graph, x, axes, ddof):
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.batch_normalization(x, momentum=0.9, training=training)
    updates = graph.get_collection(tf.GraphKeys.UPDATE_OPS)
    mean, variance = 0.1 * x.mean(axes), 0.9 + 0.1 * x.var(axes, ddof=ddof)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(y, {training: True}), normal(x, axes), rtol=1e-4, atol=1e-5)
        session.run(updates, {training: False})
        np.testing.assert_allclose(session.run(y, {training: False}), x / np.sqrt(1.001), rtol=1e-5)
        session.run(updates, {training: True})
        found = session.run(y, {training: False})
    np.testing.assert_allclose(found, (x - mean) / np.sqrt(variance + 1e-3), rtol=1e-4, atol=1e-5)


def test_along_another_axis_with_scale_and_offset(run):
    y = tf.layers.batch_normalization(
        IMAGES, axis=1, training=True, gamma_initializer=tf.constant_initializer(2.0), beta_initializer=tf.constant_initializer([0.0, 1.0, 2.0, 3.0])
    )
    np.testing.assert_allclose(run(y), normal(IMAGES, (0, 2, 3)) * 2 + np.arange(4.0)[:, None, None], rtol=1e-4, atol=1e-4)


def test_unless_fused_the_average_is_of_the_batchs_own_variance(graph):
    tf.layers.batch_normalization(IMAGES, momentum=0.0, training=True, fused=False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(graph.get_collection(tf.GraphKeys.UPDATE_OPS))
        found = session.run(tf.global_variables()[3])
    np.testing.assert_allclose(found, IMAGES.var((0, 1, 2)), rtol=1e-5)


def test_shared_between_training_and_evaluation():
    for training in (True, False):
        with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
            tf.layers.batch_normalization(MATRIX, training=training)
    assert len(tf.global_variables()) == 4


def test_refuses():
    with pytest.raises(ShapeError, match="the length of axis -1"):
        tf.layers.batch_normalization(tf.placeholder("float32", [3, None]))
    with pytest.raises(UnimplementedError, match="renorm="):
        tf.layers.batch_normalization(MATRIX, renorm=True)
