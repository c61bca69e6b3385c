"""Data sets: what is in them, and what is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from pslab.data.datasets import digits, from_arrays, load
from pslab.errors import UsageError


def test_digits():
    data = digits()
    assert (len(data.x_train), len(data.x_test), data.features, data.classes) == (1438, 359, 64, 10)
    assert (data.x_train.dtype, data.y_train.dtype) == (np.float32, np.int64)
    assert (data.x_train.min(), data.x_train.max()) == (0.0, 1.0)
    assert repr(data) == "<Dataset digits: 1438 + 359 examples of 64 features, 10 classes>"
    again = digits()
    np.testing.assert_array_equal(data.x_test, again.x_test)
    shares = np.bincount(data.y_test) / np.bincount(np.concatenate([data.y_train, data.y_test]))
    assert np.all(abs(shares - 0.2) < 0.01)


def test_a_split_loses_nothing_and_keeps_pairs_together():
    x, y = np.arange(60.0).reshape(30, 2), np.arange(30) % 3
    data = from_arrays(x, y, test_fraction=0.3, seed=4)
    together = np.concatenate([data.x_train, data.x_test])
    assert sorted(together[:, 0]) == x[:, 0].tolist()
    np.testing.assert_array_equal(np.concatenate([data.y_train, data.y_test]), together[:, 0] // 2 % 3)
    assert np.bincount(data.y_test).tolist() == [3, 3, 3]
    assert data.y_train.tolist() != sorted(data.y_train)
    assert from_arrays(x, y, 0.3, seed=5).x_test.tolist() != data.x_test.tolist()


@pytest.mark.parametrize(
    ("given", "x_dtype", "y_dtype", "classes"),
    [
        ((np.ones((10, 2)), np.zeros(10, int)), "float64", "int64", 1),
        ((np.ones((10, 2), "u1"), np.arange(10) % 2 == 0), "float32", "int64", 2),
        (([[1, 2]] * 10, [0.5] * 10), "float32", "float64", None),
        ((np.ones((10, 4, 4), "f4"), np.ones((10, 3), "f4")), "float32", "float32", None),
    ],
)
def test_dtypes_and_classes(given, x_dtype, y_dtype, classes):
    data = from_arrays(*given)
    assert (data.x_train.dtype, data.y_train.dtype, data.classes) == (x_dtype, y_dtype, classes)
    assert data.features == np.asarray(given[0])[0].size


good = np.ones((10, 2))
spoilt = good.copy()
spoilt[3, 1] = np.nan


@pytest.mark.parametrize(
    ("x", "y", "says"),
    [
        (good, np.zeros(9, int), r"x has 10 examples, y has shape \(9,\)"),
        (good, np.int64(3), r"y has shape \(\)"),
        (spoilt, np.zeros(10), r"x has values that are not finite, the first at index \(3, 1\): nan"),
        (good, np.full(10, np.inf), r"y has values .* index \(0,\): inf"),
        (good.astype(object), np.zeros(10), "x must be numbers, but its dtype is object"),
        (good, np.asarray(list("abcdefghij")), "y must be numbers, but its dtype is <U1"),
        (good[:0], np.zeros(0), r"x is empty: its shape is \(0, 2\)"),
        (good[:, 0], np.zeros(10), r"x needs rows of features, but has shape \(10,\)"),
        ([[1, 2], [3]], [0, 1], "x makes no array"),
        (good, np.arange(10) - 1, "labels count from 0, but y has -1"),
        (good, np.eye(10, dtype=int), r"one integer per example, but y has shape \(10, 10\)"),
        (good[:1], np.zeros(1), "split into 1 to train on and 0 to test on"),
    ],
)
def test_arrays_that_do_not_fit(x, y, says):
    with pytest.raises(UsageError, match=says):
        from_arrays(x, y)


@pytest.mark.parametrize("fraction", [0, 1, -0.5, 2])
def test_a_fraction_out_of_range(fraction):
    with pytest.raises(UsageError, match="between 0 and 1"):
        from_arrays(good, np.zeros(10), test_fraction=fraction)


def test_load():
    data = digits()
    assert load(data) is data
    assert load("digits").name == "digits"
    assert load((good, np.zeros(10, int))).classes == 1
    for source in ("mnist", 3, (good,)):
        with pytest.raises(UsageError, match="one of: digits; or a pair of arrays"):
            load(source)


def test_scikit_learn_is_imported_only_when_needed():
    code = "import sys, pslab.data.datasets, pslab.data.batches; print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
