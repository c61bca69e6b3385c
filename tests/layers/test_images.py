from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import ShapeError, UnimplementedError

X = np.arange(2 * 5 * 6 * 3, dtype="f").reshape(2, 5, 6, 3) % 11


def test_convolution(run):
    y = tf.layers.conv2d(X, 4, (3, 2), 2, activation=tf.nn.relu, kernel_initializer=tf.ones_initializer(), bias_initializer=tf.ones_initializer())
    assert (y.op.name, y.shape) == ("conv2d/Relu", [2, 2, 3, 4])
    wanted = [[[X[n, i : i + 3, j : j + 2].sum() + 1 for j in (0, 2, 4)] for i in (0, 2)] for n in range(2)]
    np.testing.assert_allclose(run(y), np.array(wanted)[..., None] * np.ones(4))
    assert tf.layers.conv2d(X, 1, 3, padding="same", use_bias=False).shape == [2, 5, 6, 1]
    shapes = {v.op.name: v.shape.as_list() for v in tf.global_variables()}
    assert shapes == {"conv2d/kernel": [3, 2, 3, 4], "conv2d/bias": [4], "conv2d_1/kernel": [3, 3, 3, 1]}


def test_pooling(run):
    greatest, mean = tf.layers.max_pooling2d(X, 2, 2), tf.layers.average_pooling2d(X, (2, 3), (2, 3), "same")
    blocks = X[:, :4].reshape(2, 2, 2, 3, 2, 3)
    np.testing.assert_array_equal(run(greatest), blocks.max((2, 4)))
    np.testing.assert_allclose(run(mean)[:, :2], X[:, :4].reshape(2, 2, 2, 2, 3, 3).mean((2, 4)), rtol=1e-6)
    np.testing.assert_allclose(run(mean)[:, 2], X[:, 4].reshape(2, 2, 3, 3).mean(2), rtol=1e-6)


def test_refuses():
    with pytest.raises(UnimplementedError, match="dilation of 2"):
        tf.layers.conv2d(X, 4, 3, dilation_rate=2)
    with pytest.raises(ShapeError, match="channels last"):
        tf.layers.conv2d(X, 4, 3, data_format="channels_first")
    with pytest.raises(ShapeError, match="kernel_size must be one positive integer or two"):
        tf.layers.conv2d(X, 4, (3, 3, 3))
    with pytest.raises(ShapeError, match="last dimension"):
        tf.layers.conv2d(tf.placeholder("float32", [1, 5, 5, None]), 4, 3)
