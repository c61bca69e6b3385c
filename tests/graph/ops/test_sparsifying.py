from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.graph import Graph
from pslab.graph.ops import sparsifying
from pslab.graph.ops.sources import placeholder
from pslab.graph.registry import op_def
from pslab.testing.gradcheck import evaluate

SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6)
ANY = arrays.arrays("float32", SHAPES, elements=st.floats(width=32))
SHARES = st.floats(0.001, 1.0)


def top(x: np.ndarray, share: float) -> np.ndarray:
    return op_def("TopIndices").kernel(np, x, share=share)


@pytest.mark.parametrize(("size", "share", "count"), [(0, 0.5, 0), (1, 0.01, 1), (10, 0.01, 1), (10, 0.25, 2), (200, 0.01, 2), (7, 1.0, 7)])
def test_how_many_are_kept(size, share, count):
    assert sparsifying.kept(size, share) == count


@given(ANY, SHARES)
def test_the_greatest_are_those_that_a_stable_sort_puts_first(x, share):
    sizes = np.where(np.isnan(x), np.inf, np.abs(x)).ravel()
    wanted = sorted(range(x.size), key=lambda i: (-sizes[i], i))[: sparsifying.kept(x.size, share)]
    found = top(x, share)
    assert found.dtype == np.int32
    assert found.tolist() == sorted(wanted)


def test_of_equals_the_first_are_taken():
    assert top(np.array([1, -2, 2, 2, -2, 0], "f"), 0.5).tolist() == [1, 2, 3]
    assert top(np.zeros((10, 10), "f"), 0.03).tolist() == [0, 1, 2]


def test_what_is_not_finite_is_among_the_greatest():
    assert top(np.array([9, np.nan, 8, -np.inf], "f"), 0.5).tolist() == [1, 3]


def test_an_unknown_shape_leaves_the_count_open():
    with Graph().as_default():
        assert sparsifying.top_indices(placeholder("float32", [None, 3]), 0.1).shape.as_list() == [None]


def test_drawn_indices_are_a_function_of_the_seed(value):
    first, again, other = value([sparsifying.random_indices(np.array(seed, "int32"), 1000, 0.05) for seed in (3, 3, 4)])
    np.testing.assert_array_equal(first, again)
    assert first.tolist() != other.tolist()
    assert len(set(first.tolist())) == 50
    np.testing.assert_array_equal(first, np.sort(first))


def test_drawn_indices_are_those_of_the_bit_stream():
    """PCG64's stream is fixed; whoever draws others would scatter values to wrong places."""
    keys = np.random.PCG64(3).random_raw(1000)
    wanted = sorted(np.argsort(keys)[:50].tolist())
    assert op_def("RandomIndices").kernel(np, np.array(3, "int32"), size=1000, share=0.05).tolist() == wanted


def test_every_element_is_drawn_equally_often():
    draw = op_def("RandomIndices").kernel
    counts = np.bincount(np.concatenate([draw(np, np.array(seed, "int32"), size=20, share=0.25) for seed in range(2000)]), minlength=20)
    assert np.abs(counts - 500).max() < 5 * np.sqrt(2000 * 0.25 * 0.75)


@given(st.integers(0, 2**31 - 2), st.integers(0, 60), SHARES)
def test_drawn_indices_are_distinct_and_inside(seed, size, share):
    found = op_def("RandomIndices").kernel(np, np.array(seed, "int32"), size=size, share=share)
    assert len(set(found.tolist())) == len(found) == sparsifying.kept(size, share)
    assert not len(found) or (found.min() >= 0 and found.max() < size)


@given(ANY, SHARES)
def test_densify_puts_each_value_in_its_place(x, share):
    indices = top(x, share)
    with Graph().as_default():
        [dense] = evaluate([sparsifying.densify(indices, x.reshape(-1)[indices], x.shape)])
    wanted = np.zeros(x.size, "f")
    for i in indices:
        wanted[i] = x.reshape(-1)[i]
    assert dense.dtype == np.float32
    np.testing.assert_array_equal(dense, wanted.reshape(x.shape))


def test_densify_refuses_what_does_not_fit(value):
    with pytest.raises(InvalidArgumentError, match="indices from 1 to 6 are outside of 6 elements"):
        value(sparsifying.densify(np.array([1, 6], "int32"), np.ones(2, "f"), (2, 3)))
    with pytest.raises(ShapeError, match="must be int32, found int64"):
        sparsifying.densify(np.array([1]), np.ones(1, "f"), (2, 3))
    with pytest.raises(ShapeError):
        sparsifying.densify(np.array([1], "int32"), np.ones(2, "f"), (2, 3))
    with pytest.raises(ShapeError, match="a seed is an int32 scalar"):
        sparsifying.random_indices(np.array([1]), 4, 0.5)
