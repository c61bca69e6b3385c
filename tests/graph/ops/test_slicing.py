from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.gradients import gradients
from pslab.graph.graph import Graph
from pslab.graph.ops import slicing
from pslab.graph.ops.gathering import gather
from pslab.graph.ops.joining import unstack
from pslab.graph.ops.sources import constant, placeholder
from pslab.testing.gradcheck import evaluate

X = np.arange(24.0).reshape(2, 3, 4)


@settings(max_examples=100)
@given(st.data())
def test_indexes_as_numpy_does(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    key = data.draw(hnp.basic_indices(shape, allow_newaxis=True))
    array = np.arange(np.prod(shape), dtype=float).reshape(shape)
    for known in (shape, [None] * len(shape), None):
        with Graph().as_default():
            x = placeholder("float64", known)
            part = x[key]
            found, gradient = evaluate([part, *gradients(part, x)], {x: array})
        np.testing.assert_array_equal(found, array[key])
        assert part.shape.is_compatible_with(np.shape(array[key]))
        if known == shape:
            assert part.shape == np.shape(array[key])
        counts = np.zeros(shape)
        counts[key] += 1
        np.testing.assert_array_equal(gradient, counts)


def test_an_index_outside(graph):
    x = placeholder("float32", [None, 3])
    with pytest.raises(ShapeError, match="index 3 is outside axis 1, which has 3"):
        x[:, 3]
    with pytest.raises(ShapeError, match="3 indices for a tensor of rank 2"):
        x[0, 0, 0]
    with pytest.raises(ShapeError, match="must be an integer"):
        x[1.5]
    with pytest.raises(ShapeError, match="no index"):
        x[True]
    with pytest.raises(ShapeError, match="must not be 0"):
        x[::0]
    assert x[7].shape == (3,)


def test_a_tensor_as_index_takes_rows(value):
    i = placeholder("int32", [])
    found = value(constant(X)[i], {i: np.array(1, "int32")})
    np.testing.assert_array_equal(found, X[1])


def test_strided_slice(value):
    np.testing.assert_array_equal(value(slicing.strided_slice(X, [0, 1], [2, 3], [1, 2])), X[0:2, 1:3:2])
    np.testing.assert_array_equal(value(slicing.strided_slice(X, [0, 1], [1, 0], end_mask=2)), X[0:1, 1:])
    np.testing.assert_array_equal(value(slicing.strided_slice(X, [1, 9], [2, 9], begin_mask=2, end_mask=2, shrink_axis_mask=1)), X[1, :])
    np.testing.assert_array_equal(value(slicing.strided_slice(X, [0, 0], [0, 2], ellipsis_mask=1)), X[..., 0:2])
    np.testing.assert_array_equal(value(slicing.strided_slice(X, [0], [0], new_axis_mask=1)), X[None])


def test_slice(value):
    np.testing.assert_array_equal(value(slicing.slice_(X, [0, 1, 0], [2, 2, -1])), X[:, 1:3])
    with pytest.raises(ShapeError, match="outside axis 1, which has 3"):
        slicing.slice_(X, [0, 2, 0], [1, 2, 1])
    with pytest.raises(ShapeError, match="one number per axis"):
        slicing.slice_(X, [0], [1])


def test_slice_at_a_place_that_is_computed(value):
    x, at = placeholder("float64", [None, 4]), placeholder("int32", [])
    part = slicing.slice_(x, [at, 0], [2, 4])
    assert part.shape == (2, 4)
    data = X.reshape(6, 4)
    np.testing.assert_array_equal(value(part, {x: data, at: np.array(3, "int32")}), data[3:5])
    with pytest.raises(InvalidArgumentError, match="outside axis 0, which has 6"):
        value(part, {x: data, at: np.array(5, "int32")})


def test_pad(value):
    np.testing.assert_array_equal(value(slicing.pad([[1.0]], [[1, 0], [0, 2]])), [[0, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(value(slicing.pad([1.0], [[1, 1]], constant_values=9)), [9, 1, 9])
    with pytest.raises(ShapeError, match="'CONSTANT', not 'REFLECT'"):
        slicing.pad([1.0], [[1, 1]], "REFLECT")
    with pytest.raises(ShapeError, match="pairs of known numbers"):
        slicing.pad([1.0], [[1, -1]])


def test_one_string_of_many(graph):
    strings = constant(["a", "b"])
    first, second = unstack(strings)
    assert [v.tolist() for v in evaluate([strings[0], gather(strings, 1), first, second])] == [b"a", b"b", b"a", b"b"]
