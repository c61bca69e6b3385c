from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pslab.errors import ShapeError
from pslab.graph.gradients import gradients
from pslab.graph.graph import Graph
from pslab.graph.ops import convolution
from pslab.graph.ops.sources import constant, placeholder
from pslab.graph.registry import op_def
from pslab.testing.gradcheck import evaluate

RNG = np.random.default_rng(0)


def padded(images, size, strides, padding, fill):
    """The images with what TensorFlow's documentation says "SAME" adds: half of the overhang before, the rest after."""
    if padding == "VALID":
        return images
    over = [max((-(-n // s) - 1) * s + k - n, 0) for n, k, s in zip(images.shape[1:3], size, strides, strict=True)]
    return np.pad(images, [(0, 0), *((o // 2, o - o // 2) for o in over), (0, 0)], constant_values=fill)


def windows(images, size, strides):
    """Every window of padded images, one by one."""
    for row, top in enumerate(range(0, images.shape[1] - size[0] + 1, strides[0])):
        for column, left in enumerate(range(0, images.shape[2] - size[1] + 1, strides[1])):
            yield row, column, images[:, top : top + size[0], left : left + size[1]]


@settings(max_examples=60)
@given(
    st.tuples(st.integers(1, 7), st.integers(1, 7)),
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.sampled_from(["SAME", "VALID"]),
)
def test_against_windows_one_by_one(area, size, strides, padding):
    if padding == "VALID" and any(k > n for k, n in zip(size, area, strict=True)):
        return
    images, filters = RNG.normal(size=(2, *area, 2)), RNG.normal(size=(*size, 2, 3))
    with Graph().as_default():
        conv = convolution.conv2d(images, filters, [1, *strides, 1], padding)
        pool = convolution.max_pool(images, [1, *size, 1], [1, *strides, 1], padding)
        got_conv, got_pool = evaluate([conv, pool])
    assert conv.shape == got_conv.shape
    assert pool.shape == got_pool.shape
    wanted_conv, wanted_pool = np.full_like(got_conv, np.nan), np.full_like(got_pool, np.nan)
    for row, column, window in windows(padded(images, size, strides, padding, 0), size, strides):
        wanted_conv[:, row, column] = np.einsum("nhwc,hwcf->nf", window, filters)
    for row, column, window in windows(padded(images, size, strides, padding, -np.inf), size, strides):
        wanted_pool[:, row, column] = window.max((1, 2))
    np.testing.assert_allclose(got_conv, wanted_conv, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(got_pool, wanted_pool)


def test_static_shapes(graph):
    x = placeholder("float32", [None, 28, 28, 1])
    hidden = convolution.conv2d(x, placeholder("float32", [5, 5, 1, 32]), [1, 1, 1, 1], "SAME")
    assert hidden.shape == [None, 28, 28, 32]
    assert convolution.max_pool(hidden, [1, 2, 2, 1], [1, 2, 2, 1], "SAME").shape == [None, 14, 14, 32]
    assert convolution.conv2d(placeholder("float32"), placeholder("float32"), [1, 1, 1, 1], "SAME").shape == [None] * 4


def test_of_several_greatest_pixels_the_first_gets_the_gradient(value):
    x = constant(np.ones((1, 2, 2, 1)))
    [g] = gradients(convolution.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), x)
    assert value(g).ravel().tolist() == [1, 0, 0, 0]


def test_keeps_float32(value):
    x, w = np.ones((1, 3, 3, 1), "f"), np.ones((2, 2, 1, 1), "f")
    assert value(convolution.conv2d(x, w, [1, 1, 1, 1], "SAME")).dtype == np.float32
    assert value(convolution.max_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], "SAME")).dtype == np.float32


def test_flops(graph):
    y = convolution.conv2d(placeholder("float32", [1, 8, 8, 3]), placeholder("float32", [5, 5, 3, 16]), [1, 1, 1, 1], "SAME")
    assert op_def("Conv2D").flops(y.op) == 2 * 8 * 8 * 16 * 5 * 5 * 3


def test_what_does_not_fit(graph):
    x, w = placeholder("float32", [None, 4, 4, 3]), placeholder("float32", [5, 5, 1, 8])
    with pytest.raises(ShapeError, match="the images have 3 channels, the filters take 1"):
        convolution.conv2d(x, w, [1, 1, 1, 1], "SAME")
    with pytest.raises(ShapeError, match="a window of 5 x 5 does not fit"):
        convolution.conv2d(x, placeholder("float32", [5, 5, 3, 8]), [1, 1, 1, 1], "VALID")
    with pytest.raises(ShapeError, match=r"strides must be \[1, down, across, 1\], found \[2, 2\]"):
        convolution.conv2d(x, w, [2, 2], "SAME")
    with pytest.raises(ShapeError, match="padding is 'SAME' or 'VALID', not 'same'"):
        convolution.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "same")
    with pytest.raises(ShapeError, match="channels last"):
        convolution.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME", "NCHW")
    with pytest.raises(ShapeError, match="do not fit"):
        convolution.conv2d(placeholder("float32", [4, 4, 3]), w, [1, 1, 1, 1], "SAME")
