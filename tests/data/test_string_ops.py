"""Strings and numbers: the values are TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import GraphError, InvalidArgumentError, ShapeError, UsageError
from tests.data.pipelines import run


def test_decode_raw():
    decoded = tf.decode_raw(["abcd", "efgh"], tf.int16)
    assert decoded.shape.as_list() == [2, None]
    assert run(decoded) == [[25185, 25699], [26213, 26727]]
    assert run(tf.decode_raw(b"abcd", tf.int16, little_endian=False)) == [24930, 25444]
    assert run(tf.decode_raw(bytes=np.float64(2.5).tobytes(), out_type=tf.float64)) == [2.5]
    assert run(tf.decode_raw(tf.constant([], tf.string), tf.uint8)) == []


@pytest.mark.parametrize(
    ("strings", "says"), [("abc", "3 bytes are no whole number of int16, of 2 bytes each"), (["ab", "abcd"], r"must have one length, found \[2, 4\]")]
)
def test_bytes_that_are_no_numbers(strings, says):
    with pytest.raises(InvalidArgumentError, match=says):
        run(tf.decode_raw(strings, tf.int16))


def test_string_to_number():
    assert run(tf.string_to_number(["1.5", " -2 ", "1e3"])) == [1.5, -2.0, 1000.0]
    assert run(tf.string_to_number("7", tf.int64)) == 7
    for text, dtype in (("1.5", tf.int32), ("abc", tf.float32), ("", tf.float64)):
        with pytest.raises(InvalidArgumentError, match=f"{text!r} is not a valid {dtype.name}"):
            run(tf.string_to_number([text], dtype))


@pytest.mark.parametrize(
    ("values", "options", "strings"),
    [
        ([1.5, 2.25], {}, [b"1.500000", b"2.250000"]),
        ([1.5], {"precision": 2}, [b"1.50"]),
        ([1.5], {"scientific": True}, [b"1.500000e+00"]),
        ([1.5, 1e20], {"shortest": True}, [b"1.5", b"1e+20"]),
        ([1, -2], {"width": 5, "fill": "0"}, [b"00001", b"-0002"]),
        ([7], {"width": 4, "fill": "-"}, [b"7   "]),
        ([1.5], {"width": 8}, [b"1.500000"]),
        ([True, False], {}, [b"true", b"false"]),
    ],
)
def test_as_string(values, options, strings):
    assert run(tf.as_string(values, **options)) == strings


def test_string_join():
    assert run(tf.string_join([["a", b"b"], ["c", "d"]], "-")) == [b"a-c", b"b-d"]
    assert run(tf.string_join(["a", ["c", "d"]])) == [b"ac", b"ad"]
    with pytest.raises(ShapeError, match="do not fit"):
        tf.string_join([["a"], ["c", "d"]])


def test_what_cannot_be_meant():
    with pytest.raises(ShapeError, match="expected strings, found int32"):
        tf.decode_raw([1], tf.int16)
    with pytest.raises(UsageError, match="needs strings and the numbers' type"):
        tf.decode_raw("a")
    with pytest.raises(GraphError, match="not uint8"):
        tf.string_to_number("1", tf.uint8)
    with pytest.raises(GraphError, match="cannot both be meant"):
        tf.as_string([1.0], scientific=True, shortest=True)
    with pytest.raises(GraphError, match="int32 has no digits after the point"):
        tf.as_string([1], precision=2)
    with pytest.raises(GraphError, match="there is no fill 'x'"):
        tf.as_string([1], fill="x")
