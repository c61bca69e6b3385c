from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.ops import nn
from pslab.graph.ops.sources import constant, placeholder
from pslab.runtime.task import Task
from pslab.testing.gradcheck import evaluate

X = np.linspace(-4, 8, 12).reshape(3, 4)


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (nn.softmax, lambda x: scipy.special.softmax(x, -1)),
        (nn.log_softmax, lambda x: scipy.special.log_softmax(x, -1)),
        (nn.l2_loss, lambda x: (x**2).sum() / 2),
        (nn.l2_normalize, lambda x: x / np.sqrt((x**2).sum())),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_against_references(value, function, reference, dtype):
    found = value(function(constant(X, dtype)))
    np.testing.assert_allclose(found, reference(X), rtol=1e-5, atol=1e-7)
    assert found.dtype == np.dtype(dtype)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_softmax_over_an_axis(value, axis):
    np.testing.assert_allclose(value(nn.softmax(X, axis)), scipy.special.softmax(X, -1 if axis is None else axis))
    np.testing.assert_allclose(value(nn.log_softmax(X, dim=axis)), scipy.special.log_softmax(X, -1 if axis is None else axis))


def test_softmax_of_a_scalar(graph):
    with pytest.raises(ShapeError, match="is a scalar"):
        nn.softmax(placeholder("float32", []))


def test_biases(graph, value):
    b = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(value(nn.bias_add(X, b)), X + b)
    np.testing.assert_allclose(value(nn.xw_plus_b(X, np.ones((4, 2)), [1.0, 2.0])), X @ np.ones((4, 2)) + [1, 2])
    assert nn.bias_add(placeholder("float32", [None, None]), placeholder("float32", [4])).shape == [None, 4]
    with pytest.raises(ShapeError, match=r"the last dimension of \(\?, 3\) is 3, but the bias has 4"):
        nn.bias_add(placeholder("float32", [None, 3]), placeholder("float32", [4]))
    with pytest.raises(ShapeError, match="channels last"):
        nn.bias_add(X, b, "NCHW")
    with pytest.raises(ShapeError, match="a bias is a vector"):
        nn.bias_add(X, X)


def test_moments(value):
    mean, variance = value(list(nn.moments(X, [0])))
    np.testing.assert_allclose(mean, X.mean(0))
    np.testing.assert_allclose(variance, X.var(0))
    assert value(nn.moments(X, [0, 1], keep_dims=True)[1]).shape == (1, 1)


def test_in_top_k(value):
    predictions = np.array([[0.1, 0.7, 0.2], [0.5, 0.5, 0.0], [np.nan, 1.0, 0.0]])
    assert value(nn.in_top_k(predictions, [2, 1, 0], 1)).tolist() == [False, True, False]
    assert value(nn.in_top_k(predictions, [2, 5, 1], 2)).tolist() == [True, False, True]
    with pytest.raises(ShapeError, match="a matrix of predictions"):
        nn.in_top_k(predictions[0], [0], 1)


def test_zero_fraction(value):
    assert value(nn.zero_fraction([[0, 1], [0, 0]])) == 0.75


def test_dropout_keeps_the_expected_sum(graph):
    x = constant(np.ones((200, 200), "f"))
    [found] = evaluate([nn.dropout(x, 0.8, seed=1)])
    assert found.dtype == np.float32
    assert set(np.unique(found)) == {np.float32(0), np.float32(1) / np.float32(0.8)}
    assert found.mean() == pytest.approx(1, abs=0.02)


def test_dropout_draws_anew_in_each_step_and_uses_one_mask_for_the_gradient(graph):
    from pslab.graph.gradients import gradients

    x, task = placeholder("float32", [None, 50]), Task("localhost:0")
    y = nn.dropout(x, 0.5, seed=1)
    feeds = {x: np.ones((4, 50), "f")}
    first, slope = evaluate([y, gradients(y, x)[0]], feeds, task)
    second, _ = evaluate([y, y], feeds, task)
    np.testing.assert_array_equal(first, slope)
    assert (first != second).any()


def test_dropout_by_whole_rows_and_by_rate(graph):
    [found] = evaluate([nn.dropout(constant(np.ones((50, 20), "f")), rate=0.5, noise_shape=[50, 1], seed=3)])
    assert all(len(np.unique(row)) == 1 for row in found)
    assert len(np.unique(found)) == 2


def test_dropout_with_a_probability_that_is_fed(graph):
    x, keep = constant(np.ones(10, "f")), placeholder("float32", [])
    y = nn.dropout(x, keep)
    assert evaluate([y], {keep: np.float32(1)})[0].tolist() == [1] * 10
    with pytest.raises(InvalidArgumentError, match=r"keep_prob must be in \(0, 1\], found 0"):
        evaluate([y], {keep: np.float32(0)})


def test_dropout_arguments(graph):
    x = constant([1.0])
    assert nn.dropout(x, 1.0) is x
    with pytest.raises(InvalidArgumentError, match=r"found 1\.5"):
        nn.dropout(x, 1.5)
    with pytest.raises(ShapeError, match="either keep_prob or rate"):
        nn.dropout(x)
    with pytest.raises(ShapeError, match="must be floating"):
        nn.dropout(constant([1]), 0.5)
