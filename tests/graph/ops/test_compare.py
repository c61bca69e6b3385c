from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import ShapeError
from pslab.graph.ops import compare
from pslab.graph.ops.sources import placeholder


@pytest.mark.parametrize("name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_comparisons(value, name):
    x, y = np.array([[1, 2], [3, 4]], "int32"), np.array([1, 4], "int32")
    found = value(getattr(compare, name)(x, y))
    np.testing.assert_array_equal(found, getattr(np, name)(x, y))
    assert found.dtype == bool


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic(value, name):
    x, y = np.array([True, True, False, False]), np.array([True, False, True, False])
    np.testing.assert_array_equal(value(getattr(compare, name)(x, y)), getattr(np, name)(x, y))
    np.testing.assert_array_equal(value(compare.logical_not(x)), ~x)


def test_logic_is_for_truth_values(graph):
    with pytest.raises(ShapeError, match="expected bool, found float32"):
        compare.logical_and(placeholder("float32"), placeholder("float32"))


def test_where_chooses_elements(value):
    condition = np.array([[True, False], [False, True]])
    x, y = np.ones((2, 2), "f"), np.zeros((2, 2), "f")
    np.testing.assert_array_equal(value(compare.where(condition, x, y)), np.eye(2))


def test_where_chooses_rows_by_a_vector(value):
    x, y = np.ones((2, 2), "f"), np.zeros((2, 2), "f")
    np.testing.assert_array_equal(value(compare.where([True, False], x, y)), [[1, 1], [0, 0]])


def test_where_by_a_vector_needs_the_rank(graph):
    with pytest.raises(ShapeError, match="by the rank of x"):
        compare.where([True, False], placeholder("float32"), placeholder("float32"))


def test_where_finds_indices(value):
    tensor = compare.where(np.array([[True, False], [True, True]]))
    assert tensor.shape == [None, 2]
    assert value(tensor).tolist() == [[0, 0], [1, 0], [1, 1]]


def test_where_takes_both_or_neither(graph):
    with pytest.raises(ShapeError, match="both of x and y"):
        compare.where([True], [1.0])
