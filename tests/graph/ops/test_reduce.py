from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import ShapeError
from pslab.graph.ops import reduce
from pslab.graph.ops.sources import constant, placeholder

X = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("f")


@pytest.mark.parametrize("axis", [None, 0, -1, [0, 2], (1,), []])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min"])
def test_against_numpy(value, name, axis, keep):
    tensor = getattr(reduce, f"reduce_{name}")(X, axis, keep_dims=keep)
    wanted = getattr(np, name)(X, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keep)
    found = value(tensor)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert found.dtype == np.float32
    assert tensor.shape == found.shape


def test_truths(value):
    x = [[True, False], [True, True]]
    assert value(reduce.reduce_all(x, 1)).tolist() == [False, True]
    assert value(reduce.reduce_any(x, 0)).tolist() == [True, True]
    with pytest.raises(ShapeError, match="expected bool"):
        reduce.reduce_all([1.0])


def test_old_and_new_names_of_arguments(value):
    assert value(reduce.reduce_sum(X, reduction_indices=[1])).shape == (2, 4)
    assert value(reduce.reduce_sum(X, 1, keepdims=True)).shape == (2, 1, 4)
    with pytest.raises(ShapeError, match="two names of one thing"):
        reduce.reduce_sum(X, axis=0, reduction_indices=1)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64", "float16", "float64"])
@pytest.mark.parametrize("name", ["sum", "mean", "max", "prod"])
def test_keeps_its_dtype(value, name, dtype):
    assert value(getattr(reduce, f"reduce_{name}")(constant([1, 2, 4], dtype))).dtype == np.dtype(dtype)


def test_integer_means_are_rounded_down(value):
    assert value(reduce.reduce_mean([1, 2, 4])) == 2


def test_the_mean_of_nothing_is_nan(value):
    assert np.isnan(value(reduce.reduce_mean(constant(np.zeros(0, "f")))))


def test_unknown_shapes(graph):
    assert reduce.reduce_sum(placeholder("float32")).shape == ()
    assert reduce.reduce_sum(placeholder("float32"), 1).shape.ndims is None
    assert reduce.reduce_sum(placeholder("float32", [None, 3]), 1).shape == [None]
    assert reduce.reduce_sum(placeholder("float32", [None, 3]), 1, keep_dims=True).shape == [None, 1]


def test_an_axis_that_is_not_there(graph):
    with pytest.raises(ShapeError, match="no axis 2 in a tensor of rank 2"):
        reduce.reduce_sum(placeholder("float32", [None, 3]), 2)


def test_where_the_extremes_are(value):
    x = np.array([[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]], "f")
    assert value(reduce.argmax(x, 1)).tolist() == [1, 0]
    assert value(reduce.argmin(x, axis=-1)).tolist() == [0, 1]
    assert value(reduce.argmax(x)).tolist() == [1, 0, 1]
    assert value(reduce.argmax(x, dimension=1)).dtype == np.int64
    assert value(reduce.argmax(x, 1, output_type="int32")).dtype == np.int32


def test_several_greatest_elements_share_the_gradient(value):
    from pslab.graph.gradients import gradients

    x = constant([[1.0, 3.0, 3.0]])
    assert value(gradients(reduce.reduce_max(x, 1), x)[0]).tolist() == [[0, 0.5, 0.5]]


def test_the_gradient_of_a_product_with_zeros(value):
    from pslab.graph.gradients import gradients

    x = constant([[2.0, 0.0, 3.0], [0.0, 0.0, 5.0]])
    assert value(gradients(reduce.reduce_prod(x, 1), x)[0]).tolist() == [[0, 6, 0], [0, 0, 0]]
