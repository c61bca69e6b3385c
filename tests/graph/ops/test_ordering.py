from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.ops import ordering
from pslab.graph.ops.sources import placeholder

X = np.arange(12.0).reshape(3, 4) ** 2 % 7


def test_reverse(value):
    np.testing.assert_array_equal(value(ordering.reverse(X, [0])), X[::-1])
    np.testing.assert_array_equal(value(ordering.reverse(X, [0, -1])), X[::-1, ::-1])
    with pytest.raises(ShapeError, match="no axis 2"):
        ordering.reverse(X, [2])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_running_sums(value, axis):
    sums = X.cumsum(axis)
    np.testing.assert_array_equal(value(ordering.cumsum(X, axis)), sums)
    np.testing.assert_array_equal(value(ordering.cumsum(X, axis, exclusive=True)), sums - X)
    backwards = np.flip(np.flip(X, axis).cumsum(axis), axis)
    np.testing.assert_array_equal(value(ordering.cumsum(X, axis, reverse=True)), backwards)
    np.testing.assert_array_equal(value(ordering.cumsum(X, axis, True, True)), backwards - X)


def test_the_greatest_few_come_in_order_and_the_first_of_equals_first(value):
    top = ordering.top_k([[1.0, 3.0, 3.0, 2.0], [5.0, 5.0, 1.0, 0.0]], 3)
    values, indices = value(list(top))
    assert values.tolist() == [[3, 3, 2], [5, 5, 1]]
    assert indices.tolist() == [[1, 2, 3], [0, 1, 2]]
    assert indices.dtype == np.int32
    assert top.values.shape == top.indices.shape == [2, 3]


def test_there_must_be_so_many(value):
    with pytest.raises(ShapeError, match="no 3 values"):
        ordering.top_k(placeholder("float32", [5, 2]), 3)
    x = placeholder("float32", [None])
    with pytest.raises(InvalidArgumentError, match="no 3 values"):
        value(ordering.top_k(x, 3).values, {x: np.ones(2, "f")})
