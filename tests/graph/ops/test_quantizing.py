from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.graph import Graph
from pslab.graph.ops import quantizing
from pslab.testing.gradcheck import evaluate

SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=9)
DTYPES = st.sampled_from(["float16", "float32", "float64"])


def finite(dtype):
    """Numbers whose sums stay finite, and whose levels are not subnormal."""
    sizes = st.one_of(st.just(0.0), st.floats(0.125, 1000, width=16))
    return arrays.arrays(dtype, SHAPES, elements=sizes | sizes.map(lambda x: -x))


def int8(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Levels, scale, and what is made of them."""
    with Graph().as_default(), np.errstate(all="ignore"):
        levels, scale = quantizing.quantize_int8(x)
        return tuple(map(np.asarray, evaluate([levels, scale, quantizing.dequantize_int8(levels, scale)])))


def one_bit(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bits, means, and what is made of them."""
    with Graph().as_default(), np.errstate(all="ignore"):
        bits, means = quantizing.pack_signs(x)
        return tuple(map(np.asarray, evaluate([bits, means, quantizing.unpack_signs(bits, means, x.shape)])))


@given(DTYPES.flatmap(finite))
def test_int8_is_at_most_half_a_level_off(x):
    levels, scale, back = int8(x)
    assert (levels.dtype, levels.shape, scale.dtype, scale.shape) == (np.int8, x.shape, x.dtype, ())
    assert (back.dtype, back.shape) == (x.dtype, x.shape)
    if x.size:
        exact, eps = x.astype("f8"), float(np.finfo(x.dtype).eps)
        assert float(scale) == pytest.approx(np.abs(exact).max() / 127, rel=2 * eps)
        assert np.abs(back - exact).max() <= float(scale) * (0.5 + 300 * eps)


def test_int8_by_hand():
    levels, scale, back = int8(np.array([[127, -63.4], [0.6, 2.5]], "f"))
    assert scale == 1
    assert levels.tolist() == [[127, -63], [1, 2]]
    assert back.tolist() == [[127, -63], [1, 2]]


@pytest.mark.parametrize("x", [np.zeros((2, 3), "f"), np.float32(0), np.zeros((0, 3), "f")], ids=["zeros", "a scalar", "nothing"])
def test_int8_of_nothing_but_zeros_is_zeros(x):
    levels, scale, back = int8(np.asarray(x))
    assert scale == 0
    assert not levels.any()
    np.testing.assert_array_equal(back, x)


def test_int8_of_the_least_numbers_there_are_stays_within_its_levels():
    least = np.float32(1e-45)
    levels, _, back = int8(np.array([190 * least, -190 * least], "f"))
    assert levels.tolist() == [127, -127]
    assert np.isfinite(back).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_visible(bad):
    x = np.array([1, bad, -2], "f")
    assert np.isnan(int8(x)[2]).all()
    assert not np.isfinite(one_bit(x)[2][1])


@given(DTYPES.flatmap(finite))
def test_one_bit_is_a_sign_and_the_mean_of_its_side(x):
    bits, means, back = one_bit(x)
    assert (bits.dtype, bits.nbytes, means.shape, means.dtype) == (np.uint8, -(-x.size // 8), (2,), x.dtype)
    wanted = np.empty(x.size, "f8")
    for i, value in enumerate(x.ravel()):
        wanted[i] = np.mean([v for v in x.ravel().astype("f8") if (v >= 0) == (value >= 0)])
    assert (back.dtype, back.shape) == (x.dtype, x.shape)
    np.testing.assert_allclose(back.ravel().astype("f8"), wanted, rtol=4 * np.finfo(x.dtype).eps)


def test_one_bit_by_hand():
    bits, means, back = one_bit(np.array([[1, -2, 0], [-4, 5, 0]], "f"))
    assert bits.tolist() == [0b10101100]
    assert means.tolist() == [-3, 1.5]
    assert back.tolist() == [[1.5, -3, 1.5], [-3, 1.5, 1.5]]


def test_codes_that_do_not_fit_are_refused(value):
    with pytest.raises(InvalidArgumentError, match="9 signs are packed into 2 bytes, found 1"):
        value(quantizing.unpack_signs(np.zeros(1, "uint8"), np.zeros(2, "f"), (3, 3)))
    with pytest.raises(ShapeError, match="uint8 bits and two floating means"):
        quantizing.unpack_signs(np.zeros(1, "int8"), np.zeros(2, "f"), (3,))
    with pytest.raises(ShapeError, match="int8 levels and a floating scale"):
        quantizing.dequantize_int8(np.zeros(3, "int8"), np.zeros(2, "f"))
    with pytest.raises(ShapeError, match="a floating dtype"):
        quantizing.quantize_int8(np.zeros(3, "int32"))
