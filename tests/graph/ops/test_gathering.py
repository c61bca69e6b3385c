from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.ops import gathering
from pslab.graph.ops.sources import placeholder

X = np.arange(24.0).reshape(2, 3, 4)


def test_gather(value):
    np.testing.assert_array_equal(value(gathering.gather(X, [1, 0, 1])), X[[1, 0, 1]])
    np.testing.assert_array_equal(value(gathering.gather(X, [[2], [0]], axis=1)), X[:, [[2], [0]]])
    assert gathering.gather(placeholder("float32", [10, 3]), placeholder("int64", [None])).shape == [None, 3]
    with pytest.raises(InvalidArgumentError, match="from -1 to 1 are outside axis 0, which has 2"):
        value(gathering.gather(X, [-1, 1]))
    with pytest.raises(ShapeError, match="must be integers"):
        gathering.gather(X, [0.5])


def test_gather_nd(value):
    np.testing.assert_array_equal(value(gathering.gather_nd(X, [[0, 1], [1, 2]])), X[[0, 1], [1, 2]])
    np.testing.assert_array_equal(value(gathering.gather_nd(X, [[[1, 2, 3]], [[0, 0, 1]]])), [[X[1, 2, 3]], [X[0, 0, 1]]])
    assert gathering.gather_nd(placeholder("float32", [5, 6, 7]), placeholder("int32", [None, 2])).shape == [None, 7]
    with pytest.raises(InvalidArgumentError, match=r"outside shape \(2, 3, 4\)"):
        value(gathering.gather_nd(X, [[0, 3]]))
    with pytest.raises(ShapeError, match="4 indices for a tensor of rank 3"):
        gathering.gather_nd(X, [[0, 0, 0, 0]])


def test_boolean_mask(value):
    rows, cells = np.array([True, False]), X[:, :, 0] > 3
    np.testing.assert_array_equal(value(gathering.boolean_mask(X, rows)), X[rows])
    np.testing.assert_array_equal(value(gathering.boolean_mask(X, cells)), X[cells])
    np.testing.assert_array_equal(value(gathering.boolean_mask(X, [True, False, True], axis=1)), X[:, [0, 2]])
    assert value(gathering.boolean_mask(X, [False, False])).shape == (0, 3, 4)
    with pytest.raises(ShapeError, match="known rank"):
        gathering.boolean_mask(X, placeholder("bool"))
    with pytest.raises(ShapeError, match="masks the first axes"):
        gathering.boolean_mask(X, cells, axis=1)
