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
    np.testing.assert_array_equal(value(gathering.embedding_lookup([X[0]], [2, 2])), X[0][[2, 2]])
    assert gathering.gather(placeholder("float32", [10, 3]), placeholder("int64", [None])).shape == [None, 3]
    with pytest.raises(InvalidArgumentError, match="from -1 to 1 are outside axis 0, which has 2"):
        value(gathering.gather(X, [-1, 1]))
    with pytest.raises(ShapeError, match="must be integers"):
        gathering.gather(X, [0.5])
