from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.ops import scattering
from pslab.graph.ops.sources import constant, placeholder

X = np.arange(12.0).reshape(4, 3)


def test_dealt_out_and_put_together_again(value):
    number = np.array([2, 0, 2, 0])
    parts = scattering.dynamic_partition(X, number, 3)
    for i, part in enumerate(value(parts)):
        np.testing.assert_array_equal(part, X[number == i])
    places = scattering.dynamic_partition(np.arange(4), number, 3)
    np.testing.assert_array_equal(value(scattering.dynamic_stitch(places, parts)), X)


def test_later_rows_win(value):
    assert value(scattering.dynamic_stitch([[0, 2], [2, 1]], [[1, 2], [3, 4]])).tolist() == [1, 4, 3]


def test_numbers_must_be_in_range(value):
    number = placeholder("int32", [4])
    with pytest.raises(InvalidArgumentError, match="from 0 to 3, but there are 3"):
        value(scattering.dynamic_partition(X, number, 3)[0], {number: np.array([0, 3, 1, 1], "int32")})
    with pytest.raises(ShapeError, match="do not fit"):
        scattering.dynamic_partition(X, [0, 1], 2)
    with pytest.raises(ShapeError, match="as many lists"):
        scattering.dynamic_stitch([[0]], [])


def test_sums_by_number(value):
    np.testing.assert_array_equal(value(scattering.unsorted_segment_sum(X, [1, 0, 1, -1], 3)), [X[1], X[0] + X[2], [0, 0, 0]])
    assert value(scattering.unsorted_segment_sum(X, [[0, 1, 0]] * 4, constant(2))).tolist() == [44, 22]
    with pytest.raises(InvalidArgumentError, match="up to 3, but there are 2"):
        value(scattering.unsorted_segment_sum(X, [0, 3, 1, 1], 2))
