from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import pslab as tf
from pslab.errors import ShapeError, UsageError

L, R = tf.losses, tf.losses.Reduction
LABELS = np.eye(3, dtype="f")[[1, 0, 2]]
LOGITS = np.array([[0.1, 2, -1], [0.5, 0.2, 0.3], [-2, 1, 1.5]], "f")
WEIGHTS = np.array([1, 0, 2], "f")
SQUARES = (LABELS - LOGITS) ** 2


@pytest.mark.parametrize(
    ("reduction", "wanted"),
    [
        (R.NONE, SQUARES * WEIGHTS[:, None]),
        (R.SUM, (SQUARES * WEIGHTS[:, None]).sum()),
        (R.MEAN, (SQUARES * WEIGHTS[:, None]).sum() / 9),
        (R.SUM_OVER_BATCH_SIZE, (SQUARES * WEIGHTS[:, None]).sum() / 9),
        (R.SUM_BY_NONZERO_WEIGHTS, (SQUARES * WEIGHTS[:, None]).sum() / 6),
    ],
)
def test_reductions(run, reduction, wanted):
    np.testing.assert_allclose(run(L.mean_squared_error(LABELS, LOGITS, WEIGHTS[:, None], reduction=reduction)), wanted, rtol=1e-5)


@pytest.mark.parametrize("reduction", [R.MEAN, R.SUM_BY_NONZERO_WEIGHTS])
def test_where_nothing_counts_the_loss_is_nothing_and_so_is_its_gradient(run, reduction):
    x = tf.constant(LOGITS)
    loss = L.mean_squared_error(LABELS, x, 0.0, reduction=reduction)
    [slope] = tf.gradients(loss, x)
    found = run([loss, slope])
    assert found[0] == 0
    assert not found[1].any()


@pytest.mark.parametrize(
    ("function", "losses"),
    [
        (L.absolute_difference, np.abs(LABELS - LOGITS)),
        (L.mean_squared_error, SQUARES),
        (L.hinge_loss, np.maximum(0, 1 - (2 * LABELS - 1) * LOGITS)),
        (L.huber_loss, np.where(np.abs(LABELS - LOGITS) <= 1, SQUARES / 2, np.abs(LABELS - LOGITS) - 0.5)),
        (L.sigmoid_cross_entropy, -LABELS * np.log(scipy.special.expit(LOGITS)) - (1 - LABELS) * np.log(scipy.special.expit(-LOGITS))),
        (L.softmax_cross_entropy, -(LABELS * scipy.special.log_softmax(LOGITS, -1)).sum(-1)),
    ],
)
def test_means(run, function, losses):
    np.testing.assert_allclose(run(function(LABELS, LOGITS)), losses.mean(), rtol=1e-5)


def test_logarithmic(run):
    p = scipy.special.expit(LOGITS)
    wanted = -LABELS * np.log(p + 0.01) - (1 - LABELS) * np.log(1 - p + 0.01)
    np.testing.assert_allclose(run(L.log_loss(LABELS, p, epsilon=0.01)), wanted.mean(), rtol=1e-5)


def test_classes_by_number(run):
    losses = -scipy.special.log_softmax(LOGITS, -1)[[0, 1, 2], [1, 0, 2]]
    found = run(
        [
            L.sparse_softmax_cross_entropy([1, 0, 2], LOGITS),
            L.sparse_softmax_cross_entropy([[1], [0], [2]], LOGITS, WEIGHTS[:, None]),
            L.softmax_cross_entropy(LABELS, LOGITS, WEIGHTS),
        ]
    )
    np.testing.assert_allclose(found, [losses.mean(), (losses * WEIGHTS).sum() / 2, (losses * WEIGHTS).sum() / 2], rtol=1e-5)


def test_labels_may_be_smoothed(run):
    soft = -((LABELS * 0.9 + 0.1 / 3) * scipy.special.log_softmax(LOGITS, -1)).sum(-1).mean()
    y = LABELS * 0.9 + 0.05
    sigmoid = (-y * np.log(scipy.special.expit(LOGITS)) - (1 - y) * np.log(scipy.special.expit(-LOGITS))).mean()
    found = run([L.softmax_cross_entropy(LABELS, LOGITS, label_smoothing=0.1), L.sigmoid_cross_entropy(LABELS, LOGITS, label_smoothing=0.1)])
    np.testing.assert_allclose(found, [soft, sigmoid], rtol=1e-5)


def test_losses_are_noted_and_added_up(run):
    with tf.name_scope("tower"):
        first = L.mean_squared_error(LABELS, LOGITS)
    second = L.absolute_difference(LABELS, LOGITS, loss_collection=None)
    L.add_loss(second)
    tf.get_variable("w", [2], initializer=tf.ones_initializer(), regularizer=tf.nn.l2_loss)
    assert L.get_losses() == [first, second]
    assert L.get_losses("tower") == [first]
    one, two, all_, without, penalty = run(
        [first, second, L.get_total_loss(), L.get_total_loss(add_regularization_losses=False), L.get_regularization_loss()]
    )
    assert penalty == 1
    np.testing.assert_allclose([all_, without], [one + two + 1, one + two], rtol=1e-6)


def test_no_regularizer_no_loss(run):
    assert run(L.get_regularization_loss()) == 0


def test_refuses():
    with pytest.raises(ShapeError, match=r"weights of shape \(3,\) do not broadcast to losses of shape \(3, 3\)"):
        L.mean_squared_error(LABELS, LOGITS, WEIGHTS)
    with pytest.raises(ShapeError, match=r"labels have shape \(2, 3\), predictions \(3, 3\)"):
        L.mean_squared_error(LABELS[:2], LOGITS)
    with pytest.raises(UsageError, match="no reduction 'mean'"):
        L.mean_squared_error(LABELS, LOGITS, reduction="mean")
