"""Both orders of arguments are understood: those of before TensorFlow 1.0 and those since."""

from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.summary.reader import summary_iterator

A = np.arange(6, dtype=np.float32).reshape(2, 3)


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concat(axis: int) -> None:
    a = tf.constant(A)
    expected = np.concatenate([A, A], axis)
    for c in (tf.concat([a, a], axis), tf.concat(axis, [a, a]), tf.concat(values=[a, a], axis=axis), tf.concat((a, a), axis, name="c")):
        np.testing.assert_array_equal(run(c), expected)


def test_concat_of_lists_of_numbers() -> None:
    np.testing.assert_array_equal(run(tf.concat(0, [[1, 2], [3]])), [1, 2, 3])
    np.testing.assert_array_equal(run(tf.concat([[1, 2], [3]], 0)), [1, 2, 3])


def test_split() -> None:
    a = tf.constant(A)
    for parts in (tf.split(a, 3, 1), tf.split(1, 3, a), tf.split(value=a, num_or_size_splits=3, axis=1)):
        assert len(parts) == 3
        np.testing.assert_array_equal(np.hstack(run(parts)), A)
        np.testing.assert_array_equal(run(parts[2]), A[:, 2:])


def test_split_into_sizes_and_along_the_first_axis_by_default() -> None:
    np.testing.assert_array_equal(run(tf.split(tf.constant(A), [1, 2], 1)[1]), A[:, 1:])
    np.testing.assert_array_equal(run(tf.split(tf.constant(A), 2)[0]), A[:1])


def test_split_of_an_array_in_the_old_order() -> None:
    np.testing.assert_array_equal(run(tf.split(0, 2, A)[1]), A[1:])


def summary_of(tensor) -> dict:
    from tensorboardX.proto.summary_pb2 import Summary

    return {value.tag: value for value in Summary.FromString(run(tensor)).value}


def test_old_summaries() -> None:
    scalar = tf.scalar_summary("loss", tf.constant(0.5))
    histogram = tf.histogram_summary("weights", tf.constant(A))
    image = tf.image_summary("digit", tf.zeros([2, 4, 4, 1]), max_images=1)
    assert summary_of(scalar)["loss"].simple_value == 0.5
    assert summary_of(histogram)["weights"].histo.num == 6
    assert list(summary_of(image)) == ["digit/image"]
    assert set(summary_of(tf.merge_all_summaries())) == {"loss", "weights", "digit/image"}


def test_an_old_summary_in_collections_of_its_own() -> None:
    tf.scalar_summary("loss", tf.constant(0.5), collections=["mine"])
    assert tf.merge_all_summaries() is None
    assert len(tf.get_collection("mine")) == 1


def test_an_old_writer_writes_them(tmp_path) -> None:
    tf.scalar_summary("loss", tf.constant(0.5))
    writer = tf.train.SummaryWriter(str(tmp_path), tf.get_default_graph())
    writer.add_summary(run(tf.merge_all_summaries()), 3)
    writer.close()
    (path,) = tmp_path.iterdir()
    found = [(event.step, value.tag, value.simple_value) for event in summary_iterator(str(path)) for value in event.summary.value]
    assert found == [(3, "loss", 0.5)]
