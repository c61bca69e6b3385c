from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from pslab.errors import ShapeError
from pslab.graph.gradients import gradients
from pslab.graph.ops import aggregates
from pslab.graph.ops.sources import constant

X = np.cos(np.arange(24.0)).reshape(2, 3, 4)


def test_counts(value):
    assert value(aggregates.count_nonzero([[0, 1], [2, 0], [3, 4]])) == 4
    found = value(aggregates.count_nonzero([[0, 1], [2, 0], [3, 4]], 1, keepdims=True))
    assert (found.tolist(), found.dtype) == ([[1], [1], [2]], np.dtype("int64"))


@pytest.mark.parametrize("axis", [None, 0, [0, 2], -1])
def test_logarithm_of_a_sum_of_powers(value, axis):
    wanted = scipy.special.logsumexp(X * 1000, axis=tuple(axis) if isinstance(axis, list) else axis)
    np.testing.assert_allclose(value(aggregates.reduce_logsumexp(X * 1000, axis)), wanted)


def test_logarithm_of_nothing_and_its_gradient(value):
    with np.errstate(divide="ignore"):
        assert value(aggregates.reduce_logsumexp([-np.inf, -np.inf])) == -np.inf
    x = constant(X)
    [slope] = gradients(aggregates.reduce_logsumexp(x, 1, keepdims=True), x)
    np.testing.assert_allclose(value(slope), scipy.special.softmax(X, 1))


@pytest.mark.parametrize("order", ["euclidean", 1, 2, 3, np.inf])
def test_norms(value, order):
    wanted = np.linalg.norm(X, 2 if order == "euclidean" else order, axis=1)
    np.testing.assert_allclose(value(aggregates.norm(X, order, axis=1)), wanted)
    assert value(aggregates.norm(X, order, axis=1, keepdims=True)).shape == (2, 1, 4)


def test_there_is_no_other_norm(graph):
    with pytest.raises(ShapeError, match="'euclidean' or a positive number"):
        aggregates.norm(X, "fro")
