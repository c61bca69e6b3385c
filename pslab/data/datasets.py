"""Data sets: arrays for training and for testing, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pslab.data.batches import Examples
from pslab.data.examples import examples_of
from pslab.data.partitions import PartitionedDataset
from pslab.data.parts import parts_of
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
    def examples(self) -> int:
        """How many there are to train on."""
        return len(self.x_train)

    @property
    def nbytes(self) -> int:
        """Bytes of the examples to train on."""
        return self.x_train.nbytes + self.y_train.nbytes

    @property
    def sample(self) -> tuple[Array, Array]:
        """Examples and targets that look like those of a batch."""
        return self.x_train, self.y_train

    def for_tasks(self) -> Examples:
        """What the tasks take their batches from."""
        return Examples(self.x_train, self.y_train)

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
    examples, targets = examples_of(x, y)
    if not 0 < test_fraction < 1:
        raise UsageError(f"test_fraction must be between 0 and 1, not {test_fraction}")
    return _split(name, examples, targets, test_fraction, seed)


def load(source: Any, targets: Any = None, *, label: Any = None, classes: int | None = None) -> Dataset | PartitionedDataset:
    """The data set that ``source`` means.

    Args:
        source: a name, a data set, arrays ``(x, y)``, or data in parts: Dask collections, or URLs of files (see `pslab.data.parts`).
        targets: ``y``, where ``source`` is ``x`` alone.
        label: of data in tables, the column of the targets.
        classes: of data in parts, how many classes there are; by default as many as the first part has.

    Raises:
        UsageError: it means none, or the arrays do not fit (see `examples_of`).
    """
    if isinstance(source, Dataset | PartitionedDataset):
        return source
    if isinstance(source, str) and source in _BY_NAME:
        return _BY_NAME[source]()
    if targets is None and isinstance(source, tuple | list) and len(source) == 2 and not isinstance(source[0], str):
        source, targets = source
    parts = parts_of(source, targets, label)
    if parts is not None:
        return PartitionedDataset.of(parts, classes)
    if targets is not None:
        return from_arrays(source, targets)
    raise UsageError(f"there is no data set {source!r:.80}", f"one of: {', '.join(_BY_NAME)}; or a pair of arrays (x, y)")


_BY_NAME = {"digits": digits}


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
