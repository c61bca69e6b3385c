"""Strings are bytes everywhere, as in TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pslab as tf
from pslab.errors import GraphError, InvalidArgumentError
from pslab.graph.strings import as_bytes, as_strings, as_text


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("é", "é".encode()),
        (b"\xff\x00", b"\xff\x00"),  # NumPy's own bytes would lose the zero
        (["a", b"bc\x00"], [b"a", b"bc\x00"]),
        ([["a"], ["b"]], [[b"a"], [b"b"]]),
        (np.array(["a", "bcd"]), [b"a", b"bcd"]),
        ([], []),
    ],
)
def test_what_a_program_gives_becomes_bytes(given: Any, expected: Any) -> None:
    assert as_strings(given).tolist() == expected
    placeholder = tf.placeholder(tf.string)
    for value in tf.Session().run([tf.constant(given, tf.string), tf.identity(placeholder)], {placeholder: given}):
        assert np.asarray(value, object).tolist() == expected


def test_the_given_array_stays_as_it_is() -> None:
    given = np.array(["a", "b"], object)
    as_strings(given)
    assert given.tolist() == ["a", "b"]


def test_what_is_no_string_is_refused() -> None:
    assert as_strings(["a", None]) is None
    with pytest.raises(GraphError, match="cannot make a tensor of list"):
        tf.constant(["a", None])
    name = tf.placeholder(tf.string, name="name")
    with pytest.raises(InvalidArgumentError, match="name:0 is string, but a value of int64 was fed"):
        tf.Session().run(name, {name: 5})


def test_bytes_that_are_no_text_come_back() -> None:
    assert as_bytes(as_text(b"\xff\xfe")) == b"\xff\xfe"


def test_a_function_is_called_with_scalars_and_bytes() -> None:
    seen: list[Any] = []
    called = tf.py_func(lambda *given: seen.extend(given) or "é", [tf.constant(1.5), tf.constant("a"), tf.constant(["b"])], tf.string)
    assert tf.Session().run(called) == "é".encode()
    number, text, texts = seen
    assert isinstance(number, np.float32) and text == b"a" and texts.tolist() == [b"b"]
