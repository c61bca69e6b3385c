from __future__ import annotations

import numpy as np

import pslab as tf

X = np.sin(np.arange(12, dtype="f")).reshape(4, 3)
IMAGES = np.sin(np.arange(96, dtype="f")).reshape(2, 4, 4, 3)


def variables():
    return [v.op.name for v in tf.global_variables()]


def test_the_old_names_lead_here():
    layers = tf.contrib.layers
    assert layers.fully_connected is tf.layers.contrib.fully_connected
    assert layers.l2_regularizer is tf.layers.regularizers.l2_regularizer
    assert layers.batch_norm is tf.layers.contrib.batch_norm
    assert layers.xavier_initializer(uniform=False).distribution == "normal"


def test_fully_connected_with_relu(run):
    y = tf.contrib.layers.fully_connected(X, 2, weights_initializer=tf.ones_initializer(), variables_collections=["mine"], outputs_collections="out")
    np.testing.assert_allclose(run(y), np.maximum(X.sum(1, keepdims=True), 0) * np.ones(2), rtol=1e-5)
    tf.contrib.layers.fully_connected(X, 2, None, biases_initializer=None, scope="logits")
    assert variables() == ["fully_connected/weights", "fully_connected/biases", "logits/weights"]
    assert tf.model_variables() == tf.global_variables()
    assert tf.get_collection("mine") == tf.global_variables()[:2]
    assert tf.get_collection("out") == [y]


def test_convolution_with_same_padding(run):
    y = tf.contrib.layers.conv2d(IMAGES, 5, 3, stride=2, weights_regularizer=tf.contrib.layers.l2_regularizer(0.1))
    assert y.shape == [2, 2, 2, 5]
    assert variables() == ["Conv/weights", "Conv/biases"]
    assert len(tf.losses.get_regularization_losses()) == 1
    assert run(y).min() >= 0


def test_a_normalizer_takes_the_place_of_the_biases(graph):
    y = tf.contrib.layers.fully_connected(
        X, 2, None, tf.contrib.layers.batch_norm, {"updates_collections": None, "decay": 0.5}, weights_initializer=tf.ones_initializer()
    )
    assert variables() == ["fully_connected/weights", *(f"fully_connected/BatchNorm/{v}" for v in ("beta", "moving_mean", "moving_variance"))]
    assert graph.get_collection(tf.GraphKeys.UPDATE_OPS) == []
    sums = X.sum(1)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(y)  # which moves the averages by the way
        mean = session.run(tf.global_variables()[2])
    np.testing.assert_allclose(found[:, 0], (sums - sums.mean()) / np.sqrt(sums.var() + 0.001), rtol=1e-3)
    np.testing.assert_allclose(mean, [sums.mean() / 2] * 2, rtol=1e-4)


def test_pooling_flattening_and_dropout(run):
    pooled = tf.contrib.layers.max_pool2d(IMAGES, 2)
    np.testing.assert_array_equal(run(pooled), IMAGES.reshape(2, 2, 2, 2, 2, 3).max((2, 4)))
    assert tf.contrib.layers.flatten(pooled).shape == [2, 12]
    kept = run(tf.contrib.layers.dropout(tf.ones([40, 40]), 0.25, seed=1))
    assert set(np.unique(kept)) == {0, 4}
    assert run(tf.contrib.layers.dropout(tf.ones([3]), is_training=False)).tolist() == [1, 1, 1]
