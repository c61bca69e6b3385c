"""Summary ops give what TensorFlow's give, and TensorBoard reads it."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image
from tensorboard.compat.proto.summary_pb2 import Summary

import pslab as tf
from pslab.errors import InvalidArgumentError, ShapeError


def value(op: object, feed: dict | None = None) -> Summary:
    with tf.Session() as sess:
        return Summary.FromString(sess.run(op, feed))


def test_a_scalar_has_the_tag_of_its_scope() -> None:
    with tf.name_scope("train"):
        op = tf.summary.scalar("loss", tf.constant(0.5))
    found = value(op)
    assert [(v.tag, v.simple_value) for v in found.value] == [("train/loss", 0.5)]
    assert tf.get_collection(tf.GraphKeys.SUMMARIES) == [op]


def test_the_second_of_a_name_has_another_tag() -> None:
    tf.summary.scalar("loss", 1.0)
    assert value(tf.summary.scalar("loss", 2.0)).value[0].tag == "loss_1"


def test_a_family_comes_first() -> None:
    assert value(tf.summary.scalar("loss", 1.0, family="losses")).value[0].tag == "losses/losses/loss"


def test_a_scalar_summary_takes_one_number() -> None:
    with pytest.raises(ShapeError, match=r"of one number.*\(2,\)"):
        tf.summary.scalar("loss", tf.constant([1.0, 2.0]))


def test_a_histogram_counts_in_tensorflows_buckets() -> None:
    found = value(tf.summary.histogram("weights", tf.constant([-1.0, 0.0, 1.02, 1.05]))).value[0].histo
    assert (found.min, found.max, found.num, found.sum) == (-1.0, pytest.approx(1.05), 4.0, pytest.approx(1.07))
    assert found.sum_squares == pytest.approx(1 + 1.02**2 + 1.05**2)
    filled = [(limit, count) for limit, count in zip(found.bucket_limit, found.bucket, strict=True) if count]
    assert sum(count for _, count in filled) == 4
    # 1.02 and 1.05 share a bucket, whose upper limit is
    limit, count = filled[-1]
    assert count == 2
    assert limit == pytest.approx(1e-12 * 1.1**291)


def test_a_histogram_of_nan_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="Nan in summary histogram for: weights"):
        value(tf.summary.histogram("weights", tf.constant([float("nan")])))


def test_pictures_are_scaled_and_tagged() -> None:
    pictures = np.zeros((5, 2, 3, 1), np.float32)
    pictures[0, 0, 0, 0] = 0.5
    pictures[1, 0, 0, 0] = -1.0
    found = value(tf.summary.image("x", tf.constant(pictures), max_outputs=2)).value
    assert [v.tag for v in found] == ["x/image/0", "x/image/1"]
    first, second = (np.asarray(Image.open(io.BytesIO(v.image.encoded_image_string))) for v in found)
    assert (first[0, 0], first[1, 1]) == (255, 0)
    assert (second[0, 0], second[1, 1]) == (1, 128)
    assert (found[0].image.height, found[0].image.width, found[0].image.colorspace) == (2, 3, 1)


def test_a_single_picture_has_no_number() -> None:
    found = value(tf.summary.image("x", np.full((1, 2, 2, 3), 7, np.uint8), max_outputs=1)).value[0]
    assert found.tag == "x/image"
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(found.image.encoded_image_string))), np.full((2, 2, 3), 7))


def test_pictures_have_four_dimensions() -> None:
    with pytest.raises(ShapeError, match="pictures are"):
        tf.summary.image("x", tf.constant(np.zeros((2, 2, 1), np.float32)))


def test_merge_all_is_none_where_there_are_none() -> None:
    assert tf.summary.merge_all() is None


def test_merge_all_takes_all() -> None:
    tf.summary.scalar("a", 1.0)
    tf.summary.scalar("b", 2.0)
    merged = tf.summary.merge_all()
    assert {v.tag: v.simple_value for v in value(merged).value} == {"a": 1.0, "b": 2.0}


def test_a_tag_comes_once() -> None:
    one = tf.summary.scalar("a", 1.0)
    with pytest.raises(InvalidArgumentError, match="Duplicate tag a"):
        value(tf.summary.merge([one, one]))


def test_old_names_are_these() -> None:
    assert [v.tag for v in value(tf.scalar_summary("old", tf.constant(1.0))).value] == ["old"]
    assert tf.merge_all_summaries() is not None
