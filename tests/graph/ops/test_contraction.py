from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import ShapeError
from pslab.graph.ops import contraction
from pslab.graph.ops.sources import placeholder

RNG = np.random.default_rng(5)
A, B = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(4, 3, 2))


@pytest.mark.parametrize("equation", ["ijk,kjl->il", "ijk,kji->", "ijk,klm", "ijk, kjm -> mi"])
def test_einsum_of_two(value, equation):
    np.testing.assert_allclose(value(contraction.einsum(equation, A, B)), np.einsum(equation, A, B))


def test_einsum_of_one_and_of_three(value):
    np.testing.assert_allclose(value(contraction.einsum("ijk->ki", A)), A.sum(1).T)
    v = np.arange(3.0)
    np.testing.assert_allclose(value(contraction.einsum("ijk,kjl,j->il", A, B, v)), np.einsum("ijk,kjl,j->il", A, B, v))


def test_einsum_knows_its_shape_and_refuses_what_does_not_fit(graph):
    assert contraction.einsum("bi,ij->bj", placeholder("float32", [None, 3]), np.ones((3, 2), "f")).shape == [None, 2]
    with pytest.raises(ShapeError, match="'i' differ in length"):
        contraction.einsum("bi,ij->bj", placeholder("float32", [None, 3]), np.ones((4, 2), "f"))
    for equation in ("ii->i", "i->j", "...i->i", "i->ii"):
        with pytest.raises(ShapeError, match="must name axes"):
            contraction.einsum(equation, np.ones((2, 2)))
    with pytest.raises(ShapeError, match="takes 2 inputs, found 1"):
        contraction.einsum("i,j->ij", np.ones(2))


@pytest.mark.parametrize("axes", [1, 2, ([2], [0]), ([0, 2], [2, 0]), (1, 1), [[-1], [-3]]])
def test_tensordot(value, axes):
    b = B.transpose(1, 0, 2) if axes == 2 else B
    b = b.reshape(3, 4, 2) if axes == 2 else b
    np.testing.assert_allclose(value(contraction.tensordot(A, b, axes)), np.tensordot(A, b, axes))


def test_tensordot_pairs_axes(graph):
    with pytest.raises(ShapeError, match="not as many"):
        contraction.tensordot(A, B, ([0, 1], [2]))
    with pytest.raises(ShapeError, match="known ranks"):
        contraction.tensordot(A, placeholder("float64"), 1)


def test_small_matrices(value):
    np.testing.assert_array_equal(value(contraction.eye(2, 3)), np.eye(2, 3, dtype="f"))
    assert value(contraction.eye(2, batch_shape=[3], dtype="int32")).tolist() == [[[1, 0], [0, 1]]] * 3
    assert value(contraction.diag([1.0, np.inf])).tolist() == [[1, 0], [0, np.inf]]
    np.testing.assert_allclose(value(contraction.diag_part(A)), A[:, [0, 1, 2], [0, 1, 2]])
    np.testing.assert_allclose(value(contraction.trace(A)), np.trace(A, axis1=1, axis2=2))
    np.testing.assert_array_equal(value(contraction.matrix_transpose(A)), A.swapaxes(1, 2))
    with pytest.raises(ShapeError, match="vector of known length"):
        contraction.diag(placeholder("float32", [None]))
    with pytest.raises(ShapeError, match="takes matrices"):
        contraction.matrix_transpose([1.0])
