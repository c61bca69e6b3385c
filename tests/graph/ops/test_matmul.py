from __future__ import annotations

import itertools

import numpy as np
import pytest

from pslab.errors import ShapeError
from pslab.graph.ops.matmul import matmul
from pslab.graph.ops.sources import placeholder
from pslab.graph.registry import op_def

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("ta", "tb"), list(itertools.product([False, True], repeat=2)))
def test_transposes(value, ta, tb):
    a, b = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 5))
    found = value(matmul(a.T.copy() if ta else a, b.T.copy() if tb else b, transpose_a=ta, transpose_b=tb))
    np.testing.assert_allclose(found, a @ b)


def test_stacks(value):
    a, b = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 5, 4))
    np.testing.assert_allclose(value(matmul(a, b, transpose_b=True)), a @ b.swapaxes(1, 2))


def test_keeps_float32(value):
    assert value(matmul(np.ones((1, 2), "f"), np.ones((2, 1), "f"))).dtype == np.float32


def test_static_shapes(graph):
    x = placeholder("float32", [None, 3])
    assert matmul(x, placeholder("float32", [3, 4])).shape == [None, 4]
    assert matmul(x, placeholder("float32", [None, 3]), transpose_b=True).shape == [None, None]
    assert matmul(x, placeholder("float32")).shape.ndims is None


def test_inner_dimensions_must_agree(graph):
    with graph.name_scope("hidden"), pytest.raises(ShapeError) as error:
        matmul(placeholder("float32", [None, 3]), placeholder("float32", [4, 5]))
    assert "MatMul op 'MatMul' in scope 'hidden': inner dimensions differ: (?, 3) has 3 columns, (4, 5) has 4 rows" in str(error.value)


def test_vectors_are_no_matrices(graph):
    with pytest.raises(ShapeError, match="expected two matrices"):
        matmul(placeholder("float32", [3]), placeholder("float32", [3, 4]))


def test_flops(graph):
    product = matmul(placeholder("float32", [2, 3]), placeholder("float32", [3, 4]))
    assert op_def("MatMul").flops(product.op) == 2 * 2 * 3 * 4
