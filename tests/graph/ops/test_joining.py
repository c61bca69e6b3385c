from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import ShapeError
from pslab.graph.ops import joining
from pslab.graph.ops.sources import placeholder

X = np.arange(12.0).reshape(2, 6)


def test_concat(graph, value):
    np.testing.assert_array_equal(value(joining.concat([X, X], 0)), np.concatenate([X, X]))
    np.testing.assert_array_equal(value(joining.concat(1, [X, X])), np.concatenate([X, X], 1))
    a, b = placeholder("float32", [None, 3]), placeholder("float32", [None, 4])
    assert joining.concat([a, b], 1).shape == [None, 7]
    assert joining.concat([a, a], -2).shape == [None, 3]
    assert joining.concat([a, placeholder("float32")], 1).shape == [None, None]


def test_concat_of_what_does_not_fit(graph):
    with pytest.raises(ShapeError, match="do not fit"):
        joining.concat([placeholder("float32", [2, 3]), placeholder("float32", [4, 3])], 1)
    with pytest.raises(ShapeError, match="ranks differ"):
        joining.concat([placeholder("float32", [2, 3]), placeholder("float32", [3])], 0)
    with pytest.raises(ShapeError, match="dtypes differ"):
        joining.concat([placeholder("float32", [3]), placeholder("int32", [3])], 0)
    with pytest.raises(ShapeError, match="at least one"):
        joining.concat([], 0)


def test_split(graph, value):
    for parts, wanted in (
        (joining.split(X, 3, 1), np.split(X, 3, 1)),
        (joining.split(X, [1, 2, 3], axis=-1), np.split(X, [1, 3], 1)),
        (joining.split(X, [1, -1], 1), np.split(X, [1], 1)),
        (joining.split(X, 1), [X]),
    ):
        for found, part in zip(value(parts), wanted, strict=True):
            np.testing.assert_array_equal(found, part)
    x = placeholder("float32", [None, 6])
    assert joining.split(1, 2, x)[0].shape == [None, 3]
    assert joining.split(x, 2)[0].shape == [None, 6]


def test_split_of_what_does_not_divide(graph):
    with pytest.raises(ShapeError, match="does not split into 4 equal parts"):
        joining.split(X, 4, 1)
    with pytest.raises(ShapeError, match="add up to 5"):
        joining.split(X, [2, 3], 1)
    with pytest.raises(ShapeError, match="at least one part"):
        joining.split(X, 0)


def test_stack_and_unstack(graph, value):
    np.testing.assert_array_equal(value(joining.stack([X, X], axis=1)), np.stack([X, X], 1))
    for found, row in zip(value(joining.unstack(X)), X, strict=True):
        np.testing.assert_array_equal(found, row)
    assert len(joining.unpack(X, axis=-1)) == 6
    assert joining.pack([1.0, 2.0]).shape == (2,)
    with pytest.raises(ShapeError, match="without num="):
        joining.unstack(placeholder("float32", [None, 2]))
    assert len(joining.unstack(placeholder("float32", [None, 2]), 3)) == 3


def test_lists_with_tensors_become_stacks(graph, value):
    from pslab.graph.build import convert_to_tensor

    x = placeholder("float32", [])
    stacked = convert_to_tensor([x, 1.0, x])
    assert stacked.shape == (3,)
    assert value(stacked, {x: np.float32(7)}).tolist() == [7, 1, 7]
