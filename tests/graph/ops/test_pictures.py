from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import ShapeError
from pslab.graph.ops import pictures
from pslab.graph.ops.sources import constant, placeholder

RNG = np.random.default_rng(2)
BYTES = RNG.integers(0, 256, (5, 6, 3)).astype("uint8")
FLOATS = RNG.random((2, 5, 6, 3)).astype("f")


def test_element_types_are_scaled(value):
    found = value(pictures.convert_image_dtype(np.array([0, 51, 255], "uint8"), "float32"))
    np.testing.assert_allclose(found, [0, 0.2, 1])
    assert value(pictures.convert_image_dtype(np.array([0, 0.2, 1], "f"), "uint8")).tolist() == [0, 51, 255]
    assert value(pictures.convert_image_dtype(np.array([-0.5, 0.5, 1.5], "f"), "uint8", saturate=True)).tolist() == [0, 127, 255]
    assert value(pictures.convert_image_dtype(np.array([1, 255], "uint8"), "uint16")).tolist() == [256, 65280]
    assert value(pictures.convert_image_dtype(np.array([256, 65535], "uint16"), "uint8")).tolist() == [1, 255]
    image = constant(BYTES)
    assert pictures.convert_image_dtype(image, "uint8") is image


def test_grey(value):
    found = value(pictures.rgb_to_grayscale(FLOATS))
    np.testing.assert_allclose(found, (FLOATS * [0.2989, 0.587, 0.114]).sum(-1, keepdims=True), rtol=1e-5)
    assert value(pictures.rgb_to_grayscale(BYTES)).shape == (5, 6, 1)


def test_brightness(value):
    np.testing.assert_allclose(value(pictures.adjust_brightness(FLOATS, -0.3)), FLOATS - np.float32(0.3), atol=1e-6)
    found = value(pictures.adjust_brightness(BYTES, 0.3)).astype(int)
    assert np.abs(found - np.minimum(BYTES + 76.5, 255)).max() <= 1


def test_contrast(value):
    mean = FLOATS.mean((1, 2), keepdims=True)
    np.testing.assert_allclose(value(pictures.adjust_contrast(FLOATS, 0.4)), (FLOATS - mean) * 0.4 + mean, atol=1e-6)


def test_standardization(value):
    found = value(pictures.per_image_standardization(FLOATS))
    np.testing.assert_allclose(found.mean((1, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(found.std((1, 2, 3)), 1, rtol=1e-4)
    assert value(pictures.per_image_standardization(np.full((2, 2, 1), 7, "uint8"))).tolist() == [[[0], [0]]] * 2


def test_turning_over(value):
    np.testing.assert_array_equal(value(pictures.flip_left_right(BYTES)), BYTES[:, ::-1])
    np.testing.assert_array_equal(value(pictures.flip_up_down(FLOATS)), FLOATS[:, ::-1])
    np.testing.assert_array_equal(value(pictures.transpose_image(FLOATS)), FLOATS.transpose(0, 2, 1, 3))


@pytest.mark.parametrize(
    ("turn", "other"), [(pictures.random_flip_left_right, BYTES[:, ::-1]), (pictures.random_flip_up_down, BYTES[::-1])], ids=["columns", "rows"]
)
def test_turning_over_half_of_the_time(value, turn, other):
    outcomes = value([turn(BYTES, seed=seed) for seed in range(60)])
    turned = sum(np.array_equal(o, other) for o in outcomes)
    assert turned + sum(np.array_equal(o, BYTES) for o in outcomes) == 60
    assert 15 < turned < 45


def test_random_changes_stay_within_bounds(value):
    deltas = [float((o - FLOATS).mean()) for o in value([pictures.random_brightness(FLOATS, 0.2, seed=s) for s in range(40)])]
    assert -0.2 <= min(deltas) < -0.1 < 0.1 < max(deltas) < 0.2
    spread = FLOATS.std((1, 2)).mean()
    factors = [float(o.std((1, 2)).mean() / spread) for o in value([pictures.random_contrast(FLOATS, 0.5, 1.5, seed=s) for s in range(40)])]
    assert 0.5 <= min(factors) < 0.7 < 1.3 < max(factors) < 1.5
    with pytest.raises(ShapeError, match="not be negative"):
        pictures.random_brightness(FLOATS, -1)
    with pytest.raises(ShapeError, match="0 <= lower < upper"):
        pictures.random_contrast(FLOATS, 2, 1)


def test_cut_outs(value):
    np.testing.assert_array_equal(value(pictures.crop_to_bounding_box(BYTES, 1, 2, 3, 4)), BYTES[1:4, 2:6])
    np.testing.assert_array_equal(value(pictures.central_crop(BYTES, 0.5)), BYTES[1:4, 1:5])
    padded = np.zeros((8, 9, 3), "uint8")
    padded[2:7, 1:7] = BYTES
    np.testing.assert_array_equal(value(pictures.pad_to_bounding_box(BYTES, 2, 1, 8, 9)), padded)
    found = value(pictures.resize_image_with_crop_or_pad(FLOATS, 3, 9))
    np.testing.assert_array_equal(found[:, :, 1:7], FLOATS[:, 1:4])
    assert found.shape == (2, 3, 9, 3)
    assert not found[:, :, 0].any()
    assert not found[:, :, 7:].any()


def test_cut_outs_must_be_inside_and_sizes_known(graph):
    with pytest.raises(ShapeError, match="outside 5 x 6"):
        pictures.crop_to_bounding_box(BYTES, 3, 0, 3, 3)
    with pytest.raises(ShapeError, match="does not fit into 5 x 7"):
        pictures.pad_to_bounding_box(BYTES, 1, 0, 5, 7)
    with pytest.raises(ShapeError, match="known height and width"):
        pictures.resize_image_with_crop_or_pad(placeholder("uint8", [None, None, 3]), 3, 3)
    with pytest.raises(ShapeError, match=r"in \(0, 1\], found 0"):
        pictures.central_crop(BYTES, 0)
