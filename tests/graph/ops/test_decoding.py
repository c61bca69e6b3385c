from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import pslab as tf
from pslab.errors import InvalidArgumentError, ShapeError

PIXELS = np.arange(60, dtype="uint8").reshape(4, 5, 3) * 4


def written(pixels: np.ndarray, kind: str) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


def test_pixels_of_a_file(graph):
    contents = tf.placeholder(tf.string, [])
    own, grey = tf.image.decode_png(contents), tf.image.decode_image(contents, channels=1)
    assert grey.shape == [None, None, 1]
    with tf.Session() as session:
        found, shades = session.run([own, grey], {contents: written(PIXELS, "png")})
        np.testing.assert_array_equal(found, PIXELS)
        assert (found.dtype, shades.shape) == (np.dtype("uint8"), (4, 5, 1))
        assert session.run(own, {contents: written(PIXELS[:, :, 0], "png")}).shape == (4, 5, 1)
        flat = np.full((16, 16, 3), 90, "uint8")
        jpeg = session.run(tf.image.decode_jpeg(contents, channels=3), {contents: written(flat, "jpeg")})
        assert np.abs(jpeg.astype(int) - 90).max() <= 2


def test_refuses(graph):
    contents = tf.placeholder(tf.string, [])
    with tf.Session() as session, pytest.raises(InvalidArgumentError, match="these 3 bytes are no picture"):
        session.run(tf.image.decode_png(contents), {contents: b"abc"})
    with pytest.raises(ShapeError, match="1, 3 or 4 channels"):
        tf.image.decode_png(contents, channels=2)
    with pytest.raises(ShapeError, match="ratio of 2"):
        tf.image.decode_jpeg(contents, ratio=2)
    with pytest.raises(ShapeError, match="string scalar"):
        tf.image.decode_png(tf.zeros([3]))


def test_a_picture_that_is_cut_off():
    flat = np.full((40, 40, 3), 7, np.uint8)
    whole = written(flat, "png")
    with tf.Session() as session, pytest.raises(InvalidArgumentError, match=r"the picture in these \d+ bytes cannot be read"):
        session.run(tf.image.decode_png(tf.constant(whole[: len(whole) // 2])))
