from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import ShapeError
from pslab.graph.ops import grids


def test_evenly_spaced(value):
    np.testing.assert_allclose(value(grids.linspace(1.0, 2.0, 5)), np.linspace(1, 2, 5, dtype="f"))
    assert value(grids.lin_space(3.0, 9.0, 1)).tolist() == [3]
    with pytest.raises(ShapeError, match="at least one float"):
        grids.linspace(1, 2, 3)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
def test_grids(value, indexing):
    vectors = [np.arange(3.0), np.arange(2.0) + 5, np.array([7.0])]
    for count in (1, 2, 3):
        found = value(grids.meshgrid(*vectors[:count], indexing=indexing))
        for grid, wanted in zip(found, np.meshgrid(*vectors[:count], indexing=indexing), strict=True):
            np.testing.assert_array_equal(grid, wanted)
    with pytest.raises(ShapeError, match="'xy' or 'ij'"):
        grids.meshgrid([1], indexing="yx")
