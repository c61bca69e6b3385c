"""Data sets: arrays for training and for testing, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pslab.errors import UsageError

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Examples and targets, split into a part to train on and a part to test on.

    Attributes:
        name: what it is called.
        x_train: examples along the first axis, floating.
        y_train: targets: int64 labels from 0, or floating numbers.
        x_test: like ``x_train``.
        y_test: like ``y_train``.
    """

    name: str
    x_train: Array
    y_train: Array
    x_test: Array
    y_test: Array

    @property
    def classes(self) -> int | None:
        """The number of classes, one more than the greatest label; None if the targets are numbers, not labels."""
        if self.y_train.dtype.kind != "i":
            return None
        return 1 + int(max(self.y_train.max(), self.y_test.max()))

    @property
    def features(self) -> int:
        """Numbers per example."""
        return int(np.prod(self.x_train.shape[1:]))

    def __repr__(self) -> str:
        kind = "targets" if self.classes is None else f"{self.classes} classes"
        return f"<Dataset {self.name}: {len(self.x_train)} + {len(self.x_test)} examples of {self.features} features, {kind}>"


def digits() -> Dataset:
    """scikit-learn's handwritten digits: 1797 images of 8 × 8 pixels from 0 to 1, in 64 float32 features; ten classes; one fifth to test on.

    The split is always the same, and stratified.
    """
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    return _split("digits", (x / 16).astype(np.float32), y.astype(np.int64), test_fraction=0.2, seed=0)


def from_arrays(x: Any, y: Any, test_fraction: float = 0.2, seed: int = 0, name: str = "arrays") -> Dataset:
    """A data set of your own arrays.

    Args:
        x: examples along the first axis, at least one further axis; numbers. Integers and booleans become float32.
        y: one label (an integer from 0) or number, or row of numbers, per example.
        test_fraction: share of the examples to test on, between 0 and 1. The split is stratified by label.
        seed: seed of the split.
        name: what it is called.

    Raises:
        UsageError: the lengths differ, there are too few examples, or something is not a finite number or not a label.
    """
    examples, targets = _numbers("x", x), _numbers("y", y)
    if examples.ndim < 2:
        raise UsageError(f"x needs rows of features, but has shape {examples.shape}", "x.reshape(-1, 1), if each example is one number")
    if targets.ndim < 1 or len(examples) != len(targets):
        raise UsageError(f"x has {len(examples)} examples, y has shape {targets.shape}", "x and y need one entry per example each")
    if not 0 < test_fraction < 1:
        raise UsageError(f"test_fraction must be between 0 and 1, not {test_fraction}")
    if examples.dtype.kind != "f":
        examples = examples.astype(np.float32)
    if targets.dtype.kind != "f":
        targets = targets.astype(np.int64)
        if targets.ndim != 1:
            raise UsageError(f"labels need one integer per example, but y has shape {targets.shape}", "y.argmax(axis=1) of one-hot rows; or floats")
        if targets.min() < 0:
            raise UsageError(f"labels count from 0, but y has {targets.min()}", "number the classes: _, y = numpy.unique(y, return_inverse=True)")
    return _split(name, examples, targets, test_fraction, seed)


def load(source: Any) -> Dataset:
    """The data set that ``source`` means: a name, a `Dataset`, or a pair of arrays ``(x, y)``.

    Raises:
        UsageError: it means none, or the arrays do not fit (see `from_arrays`).
    """
    if isinstance(source, Dataset):
        return source
    if isinstance(source, str) and source in _BY_NAME:
        return _BY_NAME[source]()
    if isinstance(source, tuple | list) and len(source) == 2:
        return from_arrays(*source)
    raise UsageError(f"there is no data set {source!r:.80}", f"one of: {', '.join(_BY_NAME)}; or a pair of arrays (x, y)")


_BY_NAME = {"digits": digits}


def _numbers(name: str, values: Any) -> Array:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise UsageError(f"{name} makes no array: {error}", "all rows need the same length") from None
    if array.dtype.kind not in "biuf":
        raise UsageError(f"{name} must be numbers, but its dtype is {array.dtype}", f"{name}.astype('float32'), once every entry is a number")
    if array.size == 0:
        raise UsageError(f"{name} is empty: its shape is {array.shape}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        bad = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise UsageError(f"{name} has values that are not finite, the first at index {bad}: {array[bad]}", "drop or fill those examples first")
    return array


def _split(name: str, x: Array, y: Array, test_fraction: float, seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(x))
    groups = [order[y[order] == label] for label in np.unique(y)] if y.dtype.kind == "i" and y.ndim == 1 else [order]
    test = np.zeros(len(x), bool)
    for group in groups:
        test[group[: round(test_fraction * len(group))]] = True
    testing, training = order[test[order]], order[~test[order]]
    if not len(testing) or not len(training):
        raise UsageError(
            f"{len(x)} examples in {len(groups)} groups split into {len(training)} to train on and {len(testing)} to test on",
            "more examples, or another test_fraction",
        )
    return Dataset(name, x[training], y[training], x[testing], y[testing])
