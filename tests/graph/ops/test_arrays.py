from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import ShapeError
from pslab.graph.ops import arrays, shapes
from pslab.graph.ops.sources import constant, placeholder


def test_zeros_and_ones(value):
    assert value(arrays.zeros([2, 3])).tolist() == [[0.0] * 3] * 2
    assert value(arrays.ones([2], "int64")).dtype == np.int64
    assert value(arrays.zeros([])).shape == ()
    assert value(arrays.zeros(3)).shape == (3,)
    assert value(arrays.ones((2, 0))).shape == (2, 0)


def test_many_zeros_do_not_weigh_the_graph_down(value):
    assert arrays.zeros([10, 10]).op.type == "Const"
    large = arrays.zeros([1000, 1000])
    assert large.op.type == "Fill"
    assert large.shape == (1000, 1000)
    assert not value(large).any()


def test_shapes_may_be_computed(graph, value):
    x = placeholder("float32", [None, 3])
    zeros = arrays.zeros(shapes.shape(x))
    assert zeros.shape == [None, 3]
    assert value(zeros, {x: np.ones((2, 3), "f")}).shape == (2, 3)
    assert value(arrays.zeros([shapes.shape(x)[0], 4]), {x: np.ones((2, 3), "f")}).shape == (2, 4)


def test_likes(graph, value):
    x = placeholder("float32", [None])
    assert value(arrays.zeros_like(x), {x: np.ones(3, "f")}).tolist() == [0, 0, 0]
    assert value(arrays.ones_like(x, "int32"), {x: np.ones(3, "f")}).dtype == np.int32
    assert arrays.ones_like(constant([1.0, 2.0])).op.type == "Const"


def test_fill(value):
    assert value(arrays.fill([2, 2], 7)).tolist() == [[7, 7], [7, 7]]
    with pytest.raises(ShapeError, match="must be a scalar"):
        arrays.fill([2], [1.0, 2.0])


@pytest.mark.parametrize("arguments", [(5,), (2, 9, 3), (9, 2, -3), (0.0, 1.0, 0.25), (3, 3)])
def test_range(value, arguments):
    tensor = arrays.range_(*arguments)
    np.testing.assert_allclose(value(tensor), np.arange(*arguments))
    assert tensor.shape == value(tensor).shape


def test_range_of_an_unknown_length(graph, value):
    n = placeholder("int32", [])
    assert arrays.range_(n).shape == [None]
    assert value(arrays.range_(n), {n: np.array(3, "int32")}).tolist() == [0, 1, 2]
    assert arrays.range_(3, dtype="float64").dtype.name == "float64"
    assert arrays.range_(3.0).dtype.name == "float32"


def test_one_hot(value):
    assert value(arrays.one_hot([0, 2, -1, 5], 3)).tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert value(arrays.one_hot([0, 1], 3, axis=0)).tolist() == [[1, 0], [0, 1], [0, 0]]
    assert value(arrays.one_hot([1], 2, on_value=5, off_value=-5)).tolist() == [[-5, 5]]
    assert arrays.one_hot(placeholder("uint8", [None]), 10, dtype="float64").shape == [None, 10]
    with pytest.raises(ShapeError, match="must be integers"):
        arrays.one_hot([0.0], 3)


def test_one_hot_of_small_integers_and_many_classes(value):
    found = value(arrays.one_hot(constant([255, 3], "uint8"), 300))
    assert found.argmax(1).tolist() == [255, 3]
    assert found.sum(1).tolist() == [1, 1]


def test_tile(graph, value):
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(value(arrays.tile(x, [2, 1])), np.tile(x, [2, 1]))
    assert arrays.tile(placeholder("float32", [None, 3]), [2, 2]).shape == [None, 6]
    with pytest.raises(ShapeError, match="a multiple for each axis"):
        arrays.tile(x, [2])


def test_casts(value):
    assert value(arrays.cast([1.9, -1.9], "int32")).tolist() == [1, -1]
    assert value(arrays.cast([True, False], "float32")).tolist() == [1, 0]
    assert value(arrays.to_float([1, 2])).dtype == np.float32
    assert value(arrays.to_double([1, 2])).dtype == np.float64
    assert value(arrays.to_int32([1.5])).dtype == np.int32
    assert value(arrays.to_int64([1.5])).dtype == np.int64
    x = constant([1.0])
    assert arrays.cast(x, "float32") is x
