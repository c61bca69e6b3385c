from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import ShapeError
from pslab.graph.ops import shapes
from pslab.graph.ops.sources import placeholder

X = np.arange(24.0).reshape(2, 3, 4)


def test_known_shapes_are_constants(graph, value):
    x = placeholder("float32", [2, 3])
    for tensor, wanted in ((shapes.shape(x), [2, 3]), (shapes.size(x), 6), (shapes.rank(x), 2)):
        assert tensor.op.type == "Const"
        assert value(tensor).tolist() == wanted
        assert tensor.dtype.name == "int32"


def test_unknown_shapes_are_asked_for_when_the_graph_runs(graph, value):
    x = placeholder("float32")
    fed = {x: np.zeros((2, 3), "f")}
    assert [v.tolist() for v in value([shapes.shape(x), shapes.size(x, out_type="int64"), shapes.rank(x)], fed)] == [[2, 3], 6, 2]
    assert shapes.shape(placeholder("float32", [None, 3])).shape == [2]


@pytest.mark.parametrize("shape", [[24], [4, -1], [-1], [2, 2, 6]])
def test_reshape(value, shape):
    tensor = shapes.reshape(X, shape)
    np.testing.assert_array_equal(value(tensor), X.reshape(shape))
    assert tensor.shape == X.reshape(shape).shape


def test_reshape_to_a_scalar(value):
    assert value(shapes.reshape([[7.0]], [])).shape == ()


def test_reshape_to_a_shape_that_is_computed(graph, value):
    x = placeholder("float32", [None, 2])
    y = shapes.reshape(x, [shapes.shape(x)[0], 2, 1])
    assert y.shape == [None, 2, 1]
    assert value(y, {x: np.zeros((3, 2), "f")}).shape == (3, 2, 1)
    assert shapes.reshape(x, [-1, 4]).shape == [None, 4]


def test_reshape_to_another_number_of_elements(graph):
    with pytest.raises(ShapeError, match=r"cannot reshape \(2, 3\) of 6 elements to \[4, 2\]"):
        shapes.reshape(placeholder("float32", [2, 3]), [4, 2])
    with pytest.raises(ShapeError, match=r"to \[4, -1\]"):
        shapes.reshape(placeholder("float32", [2, 3]), [4, -1])
    with pytest.raises(ShapeError, match="at most one -1"):
        shapes.reshape(placeholder("float32", [2, 3]), [-1, -1])
    with pytest.raises(ShapeError, match="a list of integers"):
        shapes.reshape(placeholder("float32", [2, 3]), [2.0, 3.0])


def test_expand_and_squeeze(value):
    assert value(shapes.expand_dims(X, 1)).shape == (2, 1, 3, 4)
    assert value(shapes.expand_dims(X, -1)).shape == (2, 3, 4, 1)
    assert value(shapes.expand_dims(X, dim=0)).shape == (1, 2, 3, 4)
    assert value(shapes.squeeze(X[:1, :, None])).shape == (3, 4)
    assert value(shapes.squeeze(X[:1, :, None], 0)).shape == (3, 1, 4)
    assert value(shapes.squeeze(X[:1, :, None], squeeze_dims=[2])).shape == (1, 3, 4)
    with pytest.raises(ShapeError, match="its length is 3, not 1"):
        shapes.squeeze(X, 1)
    with pytest.raises(ShapeError, match="needs an axis"):
        shapes.expand_dims(X)


def test_squeeze_of_unknown_dimensions(graph):
    x = placeholder("float32", [None, 1])
    assert shapes.squeeze(x).shape.ndims is None
    assert shapes.squeeze(x, 1).shape == [None]
    assert shapes.squeeze(x, [1]).shape == [None]


@pytest.mark.parametrize("perm", [None, [0, 2, 1], (2, 0, 1)])
def test_transpose(value, perm):
    np.testing.assert_array_equal(value(shapes.transpose(X, perm)), X.transpose(perm))


def test_transpose_by_no_permutation(graph):
    with pytest.raises(ShapeError, match="no permutation"):
        shapes.transpose(placeholder("float32", [2, 3]), [0, 0])
