from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import ShapeError
from pslab.graph.ops import pooling
from pslab.graph.ops.sources import placeholder

X = np.arange(30.0).reshape(1, 5, 6, 1) ** 2


def test_only_pixels_inside_count(value):
    found = value(pooling.avg_pool(X, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"))
    assert found.shape == (1, 3, 3, 1)
    np.testing.assert_allclose(found[0, 0, 0, 0], X[0, :2, :2].mean())
    np.testing.assert_allclose(found[0, 2, 1, 0], X[0, 4:, 2:4].mean())


def test_windows_inside(value):
    found = value(pooling.avg_pool(X, [1, 3, 2, 1], [1, 1, 3, 1], "VALID"))
    wanted = [[X[0, i : i + 3, j : j + 2].mean() for j in (0, 3)] for i in range(3)]
    np.testing.assert_allclose(found[0, :, :, 0], wanted)


def test_refuses(graph):
    with pytest.raises(ShapeError, match="'SAME' or 'VALID'"):
        pooling.avg_pool(X, [1, 2, 2, 1], [1, 1, 1, 1], "FULL")
    with pytest.raises(ShapeError, match="channels last"):
        pooling.avg_pool(X, [1, 2, 2, 1], [1, 1, 1, 1], "SAME", "NCHW")
    assert pooling.avg_pool(placeholder("float32", [None, 8, 8, 3]), [1, 2, 2, 1], [1, 2, 2, 1], "SAME").shape == [None, 4, 4, 3]
