from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import GraphError

R = tf.layers.regularizers
W = np.array([[1.0, -2.0], [3.0, 0.0]], "f")


def test_values(run):
    l1, l2 = R.l1_regularizer(0.5), R.l2_regularizer(0.1)
    found = run([l1(W), l2(W), R.l1_l2_regularizer(0.5, 0.1)(W), R.sum_regularizer([l1, None, R.l2_regularizer(0.0), l1])(W)])
    np.testing.assert_allclose(found, [3, 0.7, 3.7, 6], rtol=1e-6)


def test_a_scale_of_nothing_is_no_loss():
    assert R.l1_regularizer(0.0)(W) is None
    assert R.sum_regularizer([R.l2_regularizer(0.0)])(W) is None


def test_over_weights(run):
    tf.add_to_collection(tf.GraphKeys.WEIGHTS, tf.constant(W))
    total = R.apply_regularization(R.l1_regularizer(1.0))
    assert tf.losses.get_regularization_losses() == [total]
    assert run([total, R.apply_regularization(R.l1_regularizer(1.0), [W, W])]) == [6, 12]


@pytest.mark.parametrize("scale", [1, -0.5])
def test_a_scale_is_a_float(scale):
    with pytest.raises(GraphError, match="a float that is not negative"):
        R.l2_regularizer(scale)


def test_there_must_be_weights():
    with pytest.raises(GraphError, match="no weights"):
        R.apply_regularization(R.l1_regularizer(1.0))
