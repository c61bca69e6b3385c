from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as hnp

from pslab.errors import ShapeError
from pslab.graph.graph import Graph
from pslab.graph.ops import math
from pslab.graph.ops.sources import constant, placeholder
from pslab.testing.gradcheck import evaluate

A, B = np.array([[-7.0, 7.0], [2.5, -2.0]], "f"), np.array([2.0, -3.0], "f")


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (math.add, np.add),
        (math.subtract, np.subtract),
        (math.multiply, np.multiply),
        (math.divide, np.divide),
        (math.truediv, np.divide),
        (math.div, np.divide),
        (math.floordiv, np.floor_divide),
        (math.mod, np.mod),
        (math.maximum, np.maximum),
        (math.minimum, np.minimum),
        (math.squared_difference, lambda x, y: (x - y) ** 2),
    ],
)
def test_binary(value, function, reference):
    np.testing.assert_array_equal(value(function(A, B)), reference(A, B))
    assert value(function(A, B)).dtype == np.float32


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (math.negative, np.negative),
        (math.abs, np.abs),
        (math.sign, np.sign),
        (math.exp, np.exp),
        (math.expm1, np.expm1),
        (math.square, np.square),
        (math.reciprocal, np.reciprocal),
        (math.sin, np.sin),
        (math.cos, np.cos),
        (math.floor, np.floor),
        (math.ceil, np.ceil),
        (math.round, np.rint),
    ],
)
def test_unary(value, function, reference):
    np.testing.assert_allclose(value(function(A)), reference(A), rtol=1e-6)


@pytest.mark.parametrize(
    ("function", "reference"), [(math.log, np.log), (math.log1p, np.log1p), (math.sqrt, np.sqrt), (math.rsqrt, lambda x: x**-0.5)]
)
def test_unary_of_positive_numbers(value, function, reference):
    np.testing.assert_allclose(value(function(np.abs(A))), reference(np.abs(A)), rtol=1e-6)


def test_halves_round_to_even_and_integers_stay(value):
    np.testing.assert_array_equal(value(math.round([0.5, 1.5, 2.5, -0.5])), [0, 2, 2, 0])
    assert value(math.round([3, 4])).dtype == np.int32


def test_integers_divide_as_in_python(value):
    x, y = constant([-7, 7]), constant([2, 2])
    assert value(math.truediv(x, y)).tolist() == [-3.5, 3.5]
    assert math.truediv(x, y).dtype.name == "float64"
    assert math.truediv(constant([1], "int16"), constant([2], "int16")).dtype.name == "float32"
    assert value(math.div(x, y)).tolist() == [-4, 3]
    assert value(math.mod(x, y)).tolist() == [1, 1]


def test_power(value):
    np.testing.assert_allclose(value(math.pow([1.0, 2.0, 3.0], 2.0)), [1, 4, 9])
    np.testing.assert_array_equal(value(math.pow([2, 3], [3, 2])), [8, 9])


def test_python_numbers_take_on_the_dtype_of_the_tensor(graph):
    x = placeholder("float64", [2])
    assert (2 * x).dtype.name == "float64"
    assert math.subtract(1.0, x).dtype.name == "float64"
    assert math.maximum(placeholder("int64", []), 3).dtype.name == "int64"


def test_dtypes_are_not_mixed(graph):
    with pytest.raises(ShapeError, match=r"dtypes differ: float32 and float64; use pslab\.cast"):
        math.add(placeholder("float32"), placeholder("float64"))
    with pytest.raises(ShapeError, match="cannot divide"):
        math.truediv(placeholder("float32"), placeholder("float64"))
    with pytest.raises(ShapeError, match="a floating dtype, found int32"):
        math.exp(placeholder("int32"))


def test_a_shape_error_names_the_op_its_scope_and_both_shapes(graph):
    with graph.name_scope("tower"), pytest.raises(ShapeError) as error:
        math.add(placeholder("float32", [2, 3], "x"), placeholder("float32", [4], "y"), name="sum")
    for part in ("Add op 'sum' in scope 'tower'", "(2, 3)", "(4,)", "tower/x:0", "test_math.py"):
        assert part in str(error.value)


def test_unknown_dimensions_broadcast(graph):
    x, y = placeholder("float32", [None, 3]), placeholder("float32", [5, 1])
    assert math.add(x, y).shape == (5, 3)
    assert math.add(x, placeholder("float32", [3])).shape == [None, 3]
    assert math.add(x, placeholder("float32")).shape.ndims is None


def test_add_n(value):
    assert value(math.add_n([[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]])).tolist() == [111, 222]
    assert value(math.add_n([constant(3)])) == 3
    assert value(math.add_n([1.0, 2.0, 3.0])) == 6
    with pytest.raises(ShapeError, match="do not fit"):
        math.add_n([[1.0], [1.0, 2.0]])
    with pytest.raises(ShapeError, match="at least one"):
        math.add_n([])


_pairs = hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3)


@settings(max_examples=50)
@given(_pairs)
def test_broadcasts_as_numpy_does_and_so_do_its_gradients(shapes):
    from pslab.graph.gradients import gradients

    for known in (lambda s: s, lambda s: [None] * len(s), lambda s: None):
        with Graph().as_default():
            x, y = (placeholder("float64", known(s)) for s in shapes.input_shapes)
            z = x * 2.0 - y
            feeds = {t: np.ones(s) for t, s in zip((x, y), shapes.input_shapes, strict=True)}
            total, gx, gy = evaluate([z, *gradients(z, [x, y])], feeds)
            assert np.shape(total) == shapes.result_shape
            assert np.shape(gx) == shapes.input_shapes[0]
            assert np.shape(gy) == shapes.input_shapes[1]
            assert np.sum(gx) == 2 * np.size(total)
            assert np.sum(gy) == -np.size(total)
