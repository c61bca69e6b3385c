from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.gradients import gradients
from pslab.graph.ops import activations, losses
from pslab.graph.ops.sources import constant, placeholder

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(size=(5, 3)).astype("f")
LABELS = scipy.special.softmax(RNG.normal(size=(5, 3)), -1).astype("f")
CLASSES = np.array([0, 2, 1, 1, 0])


def reference(logits, labels, axis=-1):
    return -(labels * scipy.special.log_softmax(logits, axis)).sum(axis)


def test_softmax_cross_entropy(value):
    for loss in (
        losses.softmax_cross_entropy_with_logits(logits=LOGITS, labels=LABELS),
        losses.softmax_cross_entropy_with_logits(LOGITS, LABELS),
        losses.softmax_cross_entropy_with_logits_v2(LABELS, LOGITS),
    ):
        assert loss.shape == (5,)
        np.testing.assert_allclose(value(loss), reference(LOGITS, LABELS), rtol=1e-5)
        assert value(loss).dtype == np.float32


def test_softmax_cross_entropy_over_another_axis(value):
    loss = losses.softmax_cross_entropy_with_logits(logits=LOGITS.T, labels=LABELS.T, dim=0)
    np.testing.assert_allclose(value(loss), reference(LOGITS, LABELS), rtol=1e-5)


def test_more_axes_of_examples(value):
    logits, labels = LOGITS.reshape(1, 5, 3), LABELS.reshape(1, 5, 3)
    np.testing.assert_allclose(value(losses.softmax_cross_entropy_with_logits(logits, labels)), reference(logits, labels), rtol=1e-5)
    sparse = losses.sparse_softmax_cross_entropy_with_logits(logits, CLASSES.reshape(1, 5))
    np.testing.assert_allclose(value(sparse), reference(logits, np.eye(3)[CLASSES].reshape(1, 5, 3)), rtol=1e-5)


def test_sparse_softmax_cross_entropy(value):
    loss = losses.sparse_softmax_cross_entropy_with_logits(labels=CLASSES, logits=LOGITS)
    np.testing.assert_allclose(value(loss), reference(LOGITS, np.eye(3)[CLASSES]), rtol=1e-5)


def test_labels_get_a_gradient_from_v2_only(graph):
    x, y = constant(LOGITS), constant(LABELS)
    assert gradients(losses.softmax_cross_entropy_with_logits(labels=y, logits=x), y) == [None]
    assert gradients(losses.softmax_cross_entropy_with_logits_v2(y, x), y) != [None]


@pytest.mark.filterwarnings("error")
def test_large_logits_overflow_nowhere(value):
    x, y = np.array([[1e4, 0, -1e4]], "f"), np.array([[0, 0, 1]], "f")
    assert value(losses.softmax_cross_entropy_with_logits(x, y)).tolist() == [2e4]
    assert value(losses.sigmoid_cross_entropy_with_logits(x, y)).tolist() == [[1e4, pytest.approx(np.log(2)), 1e4]]


def test_the_gradient_is_softmax_less_labels(value):
    x = constant(LOGITS)
    [g] = gradients(losses.softmax_cross_entropy_with_logits(logits=x, labels=LABELS), x)
    np.testing.assert_allclose(value(g), scipy.special.softmax(LOGITS, -1) - LABELS, atol=1e-6)


def test_sigmoid_cross_entropy(value):
    p = scipy.special.expit(LOGITS)
    wanted = -(LABELS * np.log(p) + (1 - LABELS) * np.log(1 - p))
    np.testing.assert_allclose(value(losses.sigmoid_cross_entropy_with_logits(logits=LOGITS, labels=LABELS)), wanted, rtol=1e-4)
    np.testing.assert_allclose(value(losses.sigmoid_cross_entropy_with_logits(LOGITS, targets=LABELS)), wanted, rtol=1e-4)
    assert value(activations.sigmoid(LOGITS)).dtype == np.float32


def test_what_positive_labels_cost_may_be_weighted(value):
    p = scipy.special.expit(LOGITS)
    wanted = -(3 * LABELS * np.log(p) + (1 - LABELS) * np.log(1 - p))
    np.testing.assert_allclose(value(losses.weighted_cross_entropy_with_logits(LABELS, LOGITS, 3.0)), wanted, rtol=1e-4)
    np.testing.assert_allclose(value(losses.weighted_cross_entropy_with_logits(targets=LABELS, logits=LOGITS, pos_weight=3)), wanted, rtol=1e-4)
    with pytest.raises(ShapeError, match="needs pos_weight="):
        losses.weighted_cross_entropy_with_logits(LABELS, LOGITS)
    with pytest.raises(ShapeError, match="do not fit"):
        losses.weighted_cross_entropy_with_logits(LABELS[:1], LOGITS, 3.0)


def test_static_errors(graph):
    x = placeholder("float32", [None, 10])
    with pytest.raises(ShapeError, match="do not fit"):
        losses.softmax_cross_entropy_with_logits(logits=x, labels=placeholder("float32", [None, 9]))
    with pytest.raises(ShapeError, match=r"one label per row of logits: expected labels of shape \(\?,\), found \(\?, 10\)"):
        losses.sparse_softmax_cross_entropy_with_logits(logits=x, labels=placeholder("int64", [None, 10]))
    with pytest.raises(ShapeError, match="integer labels, found float32 and float32"):
        losses.sparse_softmax_cross_entropy_with_logits(logits=x, labels=placeholder("float32", [None]))
    with pytest.raises(ShapeError, match="both logits= and labels="):
        losses.softmax_cross_entropy_with_logits(labels=x)
    with pytest.raises(ShapeError, match="dtypes differ"):
        losses.softmax_cross_entropy_with_logits(logits=x, labels=placeholder("float64", [None, 10]))


def test_errors_when_it_runs(graph, value):
    x, y, c = placeholder("float32"), placeholder("float32"), placeholder("int64")
    with pytest.raises(InvalidArgumentError, match=r"logits have shape \(5, 3\), labels \(1, 3\)"):
        value(losses.softmax_cross_entropy_with_logits(x, y), {x: LOGITS, y: LABELS[:1]})
    sparse = losses.sparse_softmax_cross_entropy_with_logits(x, c)
    with pytest.raises(InvalidArgumentError, match="labels go from 0 to 3, but there are 3 classes"):
        value(sparse, {x: LOGITS, c: np.array([0, 1, 2, 3, 0])})
    with pytest.raises(InvalidArgumentError, match="one label per row"):
        value(sparse, {x: LOGITS, c: np.array([0, 1])})
