"""Examples and their targets, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from pslab.errors import UsageError

Array = np.ndarray[Any, np.dtype[Any]]


def examples_of(x: Any, y: Any) -> tuple[Array, Array]:
    """Arrays to train on: floating examples, and int64 labels from 0 or floating targets.

    Args:
        x: examples along the first axis, at least one further axis; numbers. Integers and booleans become float32.
        y: one label (an integer from 0) or number, or row of numbers, per example.

    Raises:
        UsageError: the lengths differ, or something is not a finite number or not a label.
    """
    examples, targets = _numbers("x", x), _numbers("y", y)
    if examples.ndim < 2:
        raise UsageError(f"x needs rows of features, but has shape {examples.shape}", "x.reshape(-1, 1), if each example is one number")
    if targets.ndim < 1 or len(examples) != len(targets):
        raise UsageError(f"x has {len(examples)} examples, y has shape {targets.shape}", "x and y need one entry per example each")
    if examples.dtype.kind != "f":
        examples = examples.astype(np.float32)
    if targets.dtype.kind != "f":
        targets = targets.astype(np.int64)
        if targets.ndim != 1:
            raise UsageError(f"labels need one integer per example, but y has shape {targets.shape}", "y.argmax(axis=1) of one-hot rows; or floats")
        if targets.min() < 0:
            raise UsageError(f"labels count from 0, but y has {targets.min()}", "number the classes: _, y = numpy.unique(y, return_inverse=True)")
    return examples, targets


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
