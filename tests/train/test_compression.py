"""Compressions as values: checked when they are made, told apart in words, and what each makes of a tensor."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pslab.errors import UsageError
from pslab.graph.graph import Graph
from pslab.graph.ops.sources import placeholder
from pslab.testing.gradcheck import evaluate
from pslab.train.compression import Compression, Float16, Int8, OneBit, RandomK, TopK

ALL = [Float16(), Int8(), Int8(error_feedback=True), TopK(), RandomK(0.1), OneBit(), TopK(0.5, error_feedback=False)]
SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6)
NUMBERS = arrays.arrays("float32", SHAPES, elements=st.floats(-1000, 1000, width=32))


def sent_and_made(compression: Compression, x: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """The code of ``x``, and what is made of it."""
    with Graph().as_default(), np.errstate(all="ignore"):
        fed = placeholder(x.dtype, x.shape)
        code = compression.encode(fed, seed=1)
        *values, made = map(np.asarray, evaluate([*code, compression.decode(code, fed)], {fed: x}))
    return values, made


@pytest.mark.parametrize(
    ("compression", "words"),
    [
        (Float16(), "float16"),
        (Int8(), "int8"),
        (Int8(error_feedback=True), "int8, error feedback"),
        (TopK(0.01), "top-k 1 %"),
        (TopK(0.0025, error_feedback=False), "top-k 0.25 %, no error feedback"),
        (RandomK(1), "random-k 100 %"),
        (OneBit(), "one-bit"),
        (OneBit(error_feedback=False), "one-bit, no error feedback"),
    ],
)
def test_in_words(compression, words):
    assert str(compression) == words


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TopK(0), r"TopK\(keep=…\) must be a number above 0 and at most 1, found 0"),
        (lambda: RandomK(1.5), r"RandomK\(keep=…\) must be .* found 1.5"),
        (lambda: TopK(float("nan")), "found nan"),
        (lambda: TopK("1%"), "found '1%'"),
        (lambda: TopK(True), "found True"),
        (lambda: OneBit(error_feedback=1), r"OneBit\(error_feedback=…\) must be True or False, found 1"),
    ],
)
def test_what_cannot_be_meant_is_refused(make, message):
    with pytest.raises(UsageError, match=message):
        make()


def test_those_that_make_near_the_same_may_send_parameters():
    assert {str(c) for c in ALL if c.close} == {"float16", "int8"}


@pytest.mark.parametrize("compression", ALL, ids=str)
def test_it_travels(compression):
    assert pickle.loads(pickle.dumps(compression)) == compression
    assert len({compression, pickle.loads(pickle.dumps(compression))}) == 1


@pytest.mark.parametrize("compression", ALL, ids=str)
@given(x=NUMBERS)
def test_what_is_made_has_the_dtype_and_the_shape_and_is_finite(compression, x):
    _, made = sent_and_made(compression, x)
    assert (made.dtype, made.shape) == (x.dtype, x.shape)
    assert np.isfinite(made).all()


@given(NUMBERS)
def test_half_precision_is_within_its_rounding(x):
    [half], made = sent_and_made(Float16(), x)
    assert half.dtype == np.float16
    least = 2.0**-24  # below 2⁻¹⁴ numbers are this far apart
    assert (np.abs(made - x) <= np.maximum(np.abs(x) * 2.0**-11, least / 2)).all()


def test_half_precision_goes_to_the_greatest_it_has_and_no_further():
    _, made = sent_and_made(Float16(), np.array([1e6, -1e6, np.nan], "f"))
    np.testing.assert_array_equal(made, np.array([65504, -65504, np.nan], "f"))


@pytest.mark.parametrize("kind", [TopK, RandomK])
@given(x=NUMBERS, keep=st.floats(0.01, 1))
def test_a_sparsifier_sends_what_it_sends_exactly(kind, x, keep):
    code, made = sent_and_made(kind(keep), x)
    count = min(x.size, max(1, round(keep * x.size)))
    assert code[1].size == count
    changed = made != x
    assert (made[changed] == 0).all()
    assert np.count_nonzero(changed) <= x.size - count


@pytest.mark.parametrize("kind", [TopK, RandomK])
@given(x=NUMBERS)
def test_all_of_it_is_all_of_it(kind, x):
    np.testing.assert_array_equal(sent_and_made(kind(1.0), x)[1], x)


@pytest.mark.parametrize(
    ("compression", "wanted"),
    [(Float16(), 2000), (Int8(), 1000 + 4), (TopK(0.01), 10 * 8), (RandomK(0.01), 10 * 4 + 4), (OneBit(), 125 + 8)],
    ids=str,
)
def test_the_bytes_are_those_of_the_format(compression, wanted):
    code, _ = sent_and_made(compression, np.linspace(-1, 1, 1000, dtype="f").reshape(20, 50))
    assert sum(part.nbytes for part in code) == wanted
