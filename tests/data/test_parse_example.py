"""Examples: TensorFlow's bytes, and the tensors it makes of them."""

from __future__ import annotations

import pytest

import pslab as tf
from pslab.errors import GraphError, InvalidArgumentError, ShapeError
from tests.data.pipelines import run

WRITTEN = bytes.fromhex("0a350a110a0161120c120a0a080000803f000000400a0a0a016212050a030a01780a140a0163120f1a0d0a0b03fcffffffffffffffff01")
"""What TensorFlow writes for `example`."""


def example():
    train = tf.train
    features = {
        "a": train.Feature(float_list=train.FloatList(value=[1, 2])),
        "b": train.Feature(bytes_list=train.BytesList(value=[b"x"])),
        "c": train.Feature(int64_list=train.Int64List(value=[3, -4])),
    }
    return train.Example(features=train.Features(feature=features))


def test_messages_are_tensorflows():
    assert example().SerializeToString(deterministic=True) == WRITTEN
    read = tf.train.Example.FromString(WRITTEN)
    assert list(read.features.feature["c"].int64_list.value) == [3, -4]
    assert read.features.feature["b"].WhichOneof("kind") == "bytes_list"
    read.features.feature["d"].float_list.value.append(0.5)
    assert sorted(read.features.feature) == ["a", "b", "c", "d"]


def test_one_example():
    wanted = {"a": tf.FixedLenFeature([2], tf.float32), "b": tf.FixedLenFeature([], tf.string), "c": tf.FixedLenFeature([2, 1], tf.int64)}
    parsed = tf.parse_single_example(WRITTEN, wanted)
    assert [(parsed[k].dtype, parsed[k].shape) for k in "abc"] == [(tf.float32, [2]), (tf.string, []), (tf.int64, [2, 1])]
    assert run(parsed) == {"a": [1.0, 2.0], "b": b"x", "c": [[3], [-4]]}


def test_many_examples_and_what_they_lack():
    wanted = {
        "a": tf.FixedLenFeature([2], tf.float32),
        "q": tf.FixedLenFeature([], tf.int64, default_value=9),
        "r": tf.FixedLenFeature([2], tf.string, default_value="no"),
        "s": tf.FixedLenFeature([2], tf.float32, default_value=[5, 6]),
    }
    strings = tf.placeholder(tf.string, [None])
    parsed = tf.parse_example(strings, wanted)
    assert parsed["a"].shape.as_list() == [None, 2]
    with tf.Session() as sess:
        got = {k: v.tolist() for k, v in sess.run(parsed, {strings: [WRITTEN, WRITTEN]}).items()}
    assert got == {"a": [[1, 2]] * 2, "q": [9, 9], "r": [[b"no"] * 2] * 2, "s": [[5, 6]] * 2}


@pytest.mark.parametrize(
    ("serialized", "feature", "says"),
    [
        (WRITTEN, {"z": ([2], "float32")}, "feature 'z' is required, but example 0 lacks it"),
        (WRITTEN, {"a": ([3], "float32")}, r"feature 'a' of example 0 has 2 values, but its shape \(3,\) needs 3"),
        (WRITTEN, {"a": ([2], "int64")}, "feature 'a' of example 0 is a float_list, but int64 was expected"),
        (b"junk", {"a": ([2], "int64")}, "could not parse example 0: its 4 bytes"),
    ],
)
def test_examples_that_do_not_fit(serialized, feature, says):
    with pytest.raises(InvalidArgumentError, match=says):
        run(tf.parse_single_example(serialized, {k: tf.FixedLenFeature(*v) for k, v in feature.items()}))


def test_what_cannot_be_meant():
    good = {"a": tf.FixedLenFeature([], tf.float32)}
    with pytest.raises(GraphError, match="parse_single_example takes one"):
        tf.parse_single_example([WRITTEN], good)
    with pytest.raises(GraphError, match="no features"):
        tf.parse_single_example(WRITTEN, {})
    with pytest.raises(ShapeError, match="are strings, found int32"):
        tf.parse_single_example(1, good)
    for feature, says in (
        ((None, tf.float32), "must be fully known"),
        (([], tf.int32), "not int32"),
        (([3], tf.float32, [1, 2]), r"has shape \(2,\), but \(3,\) is needed"),
    ):
        with pytest.raises(GraphError, match=says):
            tf.parse_single_example(WRITTEN, {"a": tf.FixedLenFeature(*feature)})
    with pytest.raises(GraphError, match="must be a FixedLenFeature, not list"):
        tf.parse_single_example(WRITTEN, {"a": []})
