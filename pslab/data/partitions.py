"""A data set in parts, of which each worker loads its own, where it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from pslab.data.batches import Batches
from pslab.data.division import Division
from pslab.data.examples import examples_of
from pslab.data.parts import Part
from pslab.errors import DataLossError, PslabError, UsageError

Array = np.ndarray[Any, np.dtype[Any]]
TEST_EVERY = 5
"""One example in so many of the first part is kept to test on."""


class Share(Protocol):
    """What a task takes its batches from."""

    def batches(self, division: Division, worker: int, workers: int) -> Batches:
        """The batches of one worker."""


class DataSource(Protocol):
    """What a training asks of its data set."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def classes(self) -> int | None:
        """The number of classes; None if the targets are numbers, not labels."""

    @property
    def examples(self) -> int | None:
        """How many there are to train on; None if that is not known before they are loaded."""

    @property
    def nbytes(self) -> int:
        """Bytes of the examples to train on, as far as they are known before they are loaded."""

    @property
    def sample(self) -> tuple[Array, Array]:
        """Examples and targets that look like those of a batch."""

    @property
    def x_test(self) -> Array:
        """Examples to test on."""

    @property
    def y_test(self) -> Array:
        """Their targets."""

    def for_tasks(self) -> Share:
        """What the tasks take their batches from."""


@dataclass(frozen=True, eq=False)
class Partitions:
    """Parts of a data set. Whoever has them loads what he needs.

    Worker k of n gets every n-th part, from number k on. If there are more workers than parts, some share one, each with its own rows. Every worker
    goes through its examples in an order of its own, so the global batches depend on how many workers there are.

    Attributes:
        parts: the parts, at least one.
        x_dtype: of the examples.
        y_dtype: of the targets.
        classes: number of classes, or None.
        x_shape: of an example.
    """

    parts: tuple[Part, ...]
    x_dtype: str
    y_dtype: str
    classes: int | None
    x_shape: tuple[int, ...]
    _loaded: dict[tuple[int, int], tuple[Array, Array]] = field(default_factory=dict, init=False, repr=False)

    def batches(self, division: Division, worker: int, workers: int) -> Batches:
        """The batches of one worker, whose parts are loaded if they were not before.

        Raises:
            UsageError: a part does not fit the others, or the worker has fewer examples than a batch.
            NotFoundError: a file is not there.
            DataLossError: a part is broken, or its computation fails.
        """
        key = worker, workers
        if key not in self._loaded:
            self._loaded[key] = self.load(worker, workers)
        return Batches(*self._loaded[key], division.sizes(workers)[worker], division.seed + worker, passes=division.passes)

    def load(self, worker: int, workers: int) -> tuple[Array, Array]:
        """Examples and targets of one worker."""
        count = len(self.parts)
        if count >= workers:
            loaded = [self._train(index) for index in range(worker, count, workers)]
        else:
            x, y = self._train(worker % count)
            sharers = len(range(worker % count, workers, count))
            loaded = [(x[worker // count :: sharers], y[worker // count :: sharers])]
        return np.concatenate([x for x, _ in loaded]), np.concatenate([y for _, y in loaded])

    def _train(self, index: int) -> tuple[Array, Array]:
        part = self.parts[index]
        x, y = _examples_in(part)
        if x.shape[1:] != self.x_shape:
            raise UsageError(
                f"an example of {part.name} has shape {x.shape[1:]}, one of {self.parts[0].name} has {self.x_shape}", "the same columns in each"
            )
        if y.dtype.kind == "f" and np.dtype(self.y_dtype).kind == "i":
            raise UsageError(f"the targets of {part.name} are {y.dtype}, those of {self.parts[0].name} are labels")
        if self.classes is not None and y.max() >= self.classes:
            raise UsageError(
                f"{part.name} has the label {y.max()}, but {self.parts[0].name} has {self.classes} classes", f"classes={y.max() + 1}, or more"
            )
        if index == 0:
            x, y = (_split(array)[0] for array in (x, y))
        return x.astype(self.x_dtype, copy=False), y.astype(self.y_dtype, copy=False)


@dataclass(frozen=True, eq=False, repr=False)
class PartitionedDataset:
    """A data set in parts. The first part tells what the others are like; one in five of its examples is kept to test on.

    Attributes:
        name: what it is called.
        partitions: the parts.
        x_test: examples to test on.
        y_test: their targets.
    """

    name: str
    partitions: Partitions
    x_test: Array
    y_test: Array

    @classmethod
    def of(cls, parts: Sequence[Part], classes: int | None = None) -> PartitionedDataset:
        """Load the first part, and see.

        Args:
            parts: at least one.
            classes: how many classes there are, of labels; by default as many as the first part has.

        Raises:
            UsageError: the first part holds no examples, or too few to test on.
            NotFoundError: it is not there.
            DataLossError: it is broken, or its computation fails.
        """
        x, y = _examples_in(parts[0])
        if len(x) < TEST_EVERY:
            raise UsageError(f"{parts[0].name} has {len(x)} examples, but at least {TEST_EVERY} are needed", "larger parts")
        if y.dtype.kind == "i":
            classes = max(classes or 0, int(y.max()) + 1)
        partitions = Partitions(tuple(parts), x.dtype.name, y.dtype.name, classes if y.dtype.kind == "i" else None, x.shape[1:])
        return cls(parts[0].name, partitions, _split(x)[1], _split(y)[1])

    @property
    def classes(self) -> int | None:
        """The number of classes; None if the targets are numbers, not labels."""
        return self.partitions.classes

    @property
    def examples(self) -> None:
        """How many there are to train on is known only when all are loaded."""
        return None

    @property
    def nbytes(self) -> int:
        """Nothing is known of what was not loaded."""
        return 0

    @property
    def sample(self) -> tuple[Array, Array]:
        """Examples and targets that look like those of a batch."""
        return self.x_test, self.y_test

    def for_tasks(self) -> Partitions:
        """What the tasks take their batches from."""
        return self.partitions

    def __repr__(self) -> str:
        features = int(np.prod(self.x_test.shape[1:]))
        kind = "targets" if self.classes is None else f"{self.classes} classes"
        return f"<PartitionedDataset {self.name}, …: {len(self.partitions.parts)} parts of {features} features, {kind}>"


def _examples_in(part: Part) -> tuple[Array, Array]:
    """The examples and targets of a part, checked. Whatever is wrong with them, the error names the part."""
    try:
        x, y = part.load()
    except (PslabError, MemoryError):
        raise
    except Exception as error:  # of pandas, Arrow, or the functions of a Dask graph
        raise DataLossError(f"{part.name} cannot be loaded: {type(error).__name__}: {error}", "is it whole, and what its name says?") from error
    try:
        return examples_of(x, y)
    except UsageError as error:
        raise UsageError(f"{part.name}: {error.message}", error.hint or "drop what is empty, or repartition") from None


def _split(array: Array) -> tuple[Array, Array]:
    """Rows to train on, and to test on."""
    test = np.arange(len(array)) % TEST_EVERY == TEST_EVERY - 1
    return array[~test], array[test]
