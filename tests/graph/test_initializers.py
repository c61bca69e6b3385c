from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import ShapeError
from pslab.graph import initializers as init
from pslab.graph.graph import Graph
from pslab.testing.gradcheck import evaluate


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as graph:
        yield graph


def value(tensor):
    return evaluate([tensor])[0]


ALL = [
    init.zeros_initializer(),
    init.ones_initializer(),
    init.constant_initializer(0.1),
    init.random_normal_initializer(stddev=0.1, seed=1),
    init.truncated_normal_initializer(stddev=0.1, seed=1),
    init.random_uniform_initializer(-0.1, 0.1, seed=1),
    init.glorot_uniform_initializer(1),
    init.glorot_normal_initializer(1),
    init.xavier_initializer(seed=1),
    init.variance_scaling_initializer(2.0, "fan_in", "normal", 1),
]


@pytest.mark.parametrize("initializer", ALL, ids=lambda i: type(i).__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_makes_the_shape_and_dtype(initializer, dtype):
    found = value(initializer([20, 30], dtype))
    assert found.shape == (20, 30)
    assert found.dtype == np.dtype(dtype)
    assert value(initializer([5])).dtype == np.float32


def test_constants():
    assert value(init.constant_initializer([1.0, 2.0])([2, 2])).tolist() == [[1, 2], [2, 2]]
    assert value(init.constant_initializer(3)([2], "int32")).tolist() == [3, 3]
    with pytest.raises(ShapeError, match="has shape"):
        init.constant_initializer([1.0, 2.0], verify_shape=True)([2, 2])


@pytest.mark.parametrize(
    ("initializer", "variance"),
    [
        (init.glorot_uniform_initializer(1), 2 / (200 + 300)),
        (init.glorot_normal_initializer(1), 2 / (200 + 300)),
        (init.variance_scaling_initializer(2.0, seed=1), 2 / 200),
        (init.variance_scaling_initializer(1.0, "fan_out", "uniform", 1), 1 / 300),
    ],
)
def test_variances(initializer, variance):
    assert value(initializer([200, 300])).var() == pytest.approx(variance, rel=0.03)


def test_convolutions_count_their_field():
    assert value(init.variance_scaling_initializer(1.0, seed=1)([3, 3, 20, 100])).var() == pytest.approx(1 / (9 * 20), rel=0.05)


def test_arguments_that_cannot_be_meant():
    with pytest.raises(ShapeError, match="scale must be positive"):
        init.VarianceScaling(0)
    with pytest.raises(ShapeError, match="mode must be"):
        init.VarianceScaling(1.0, "fan")
    with pytest.raises(ShapeError, match="distribution must be"):
        init.VarianceScaling(1.0, "fan_in", "gauss")
