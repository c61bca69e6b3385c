"""Values of the first two tests are TensorFlow's own."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import ShapeError
from pslab.graph.ops.resizing import ResizeMethod, resize_bilinear, resize_images, resize_nearest_neighbor
from pslab.graph.ops.sources import placeholder

X = np.array([[0, 10, 20], [30, 40, 50]], "uint8")[:, :, None]


@pytest.mark.parametrize(
    ("align", "wanted"),
    [
        (False, [[0, 7.5, 15, 20], [20, 27.5, 35, 40], [30, 37.5, 45, 50]]),
        (True, [[0, 20 / 3, 40 / 3, 20], [15, 15 + 20 / 3, 15 + 40 / 3, 35], [30, 30 + 20 / 3, 30 + 40 / 3, 50]]),
    ],
)
def test_bilinear(value, align, wanted):
    found = value(resize_images(X, (3, 4), align_corners=align))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[:, :, 0], wanted, rtol=1e-5)


@pytest.mark.parametrize(
    ("align", "wanted"), [(False, [[0, 0, 10, 20], [0, 0, 10, 20], [30, 30, 40, 50]]), (True, [[0, 10, 10, 20], [30, 40, 40, 50], [30, 40, 40, 50]])]
)
def test_nearest(value, align, wanted):
    found = value(resize_images(X, (3, 4), ResizeMethod.NEAREST_NEIGHBOR, align))
    assert found.dtype == np.uint8
    assert found[:, :, 0].tolist() == wanted


def test_by_the_methods_own_names(value):
    batch = X[None]
    np.testing.assert_array_equal(value(resize_bilinear(batch, (3, 4), True)), value(resize_images(batch, (3, 4), 0, True)))
    np.testing.assert_array_equal(value(resize_nearest_neighbor(batch, (3, 4))), value(resize_images(batch, (3, 4), 1)))


def test_proportions_may_be_kept(graph):
    assert resize_images(X, (10, 6), preserve_aspect_ratio=True).shape == [4, 6, 1]
    images = placeholder("uint8", [None, 2, 3, 1])
    assert resize_images(images, (2, 3)) is images
    assert resize_images(placeholder("float32", [None, None, None, 3]), (4, 5)).shape == [None, 4, 5, 3]


def test_refuses(graph):
    with pytest.raises(ShapeError, match="no resize method 2"):
        resize_images(X, (4, 4), 2)
    with pytest.raises(ShapeError, match="known height and width"):
        resize_images(X, (0, 4))
    with pytest.raises(ShapeError, match="proportions"):
        resize_images(placeholder("float32", [None, None, None, 3]), (4, 5), preserve_aspect_ratio=True)
