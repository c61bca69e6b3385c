"""Batches: an endless, reproducible stream of examples, dealt out to workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pslab.errors import UsageError

Array = np.ndarray[Any, np.dtype[Any]]


class Batches:
    """An endless iterator over ``(x_batch, y_batch)``: one worker's share of a stream of global batches.

    The stream is the data set in a new order every epoch, one epoch after another; an order depends on ``seed`` and the epoch alone. The global
    batch of a step is the next ``shards · batch_size`` examples of the stream, and shard k gets the k-th ``batch_size`` of them. So the shards'
    batches of one step, in the shards' order, are what a single process with that larger batch would get, however many shards there are. Every
    example comes once per epoch; a batch may reach over the end of one into the next.

    Args:
        x: examples along the first axis.
        y: as many targets.
        batch_size: examples per batch of this shard.
        seed: non-negative.
        shard: which shard this is, from 0.
        shards: how many shards there are.
        shuffle: whether to shuffle; otherwise every epoch is in the given order.

    Attributes:
        x: the examples.
        y: the targets.
        step: the step whose batch comes next.

    Raises:
        UsageError: the lengths of ``x`` and ``y`` differ, the global batch is larger than the data, or a number is out of its range.
    """

    def __init__(self, x: Array, y: Array, batch_size: int, seed: int, shard: int = 0, shards: int = 1, shuffle: bool = True) -> None:
        if len(x) != len(y):
            raise UsageError(f"{len(x)} examples, but {len(y)} targets", "x and y need one entry per example each")
        if batch_size < 1 or shards < 1 or seed < 0:
            raise UsageError(f"batch_size={batch_size} and shards={shards} must be at least 1, seed={seed} at least 0")
        if not 0 <= shard < shards:
            raise UsageError(f"there is no shard {shard} of {shards}; they are numbered from 0")
        if batch_size * shards > len(x):
            raise UsageError(
                f"{shards} × a batch of {batch_size} is {batch_size * shards} examples, but there are {len(x)}",
                f"a batch of at most {len(x) // shards}" if len(x) >= shards else "fewer workers, or more data",
            )
        self.x = np.asarray(x)
        self.y = np.asarray(y)
        self._batch_size = batch_size
        self._seed = seed
        self._shard = shard
        self._shards = shards
        self._shuffle = shuffle
        self._epoch = -1
        self._order = np.empty(0, np.intp)
        self.step = 0

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> tuple[Array, Array]:
        chosen = self.next_rows()
        return self.x.take(chosen, axis=0), self.y.take(chosen, axis=0)

    def next_rows(self) -> Array:
        """The rows of ``x`` and ``y`` that the next batch is made of, in place of the batch itself."""
        chosen = self._indices(self.step)
        self.step += 1
        return chosen

    def share(self) -> tuple[Array, Array]:
        """Every so many-th example, so that no two shards have one in common, in an order that depends on the seed."""
        rows = self._order_of(0)[self._shard :: self._shards]
        return self.x[rows], self.y[rows]

    def seek(self, step: int) -> None:
        """Go on with the batch of ``step``.

        Raises:
            UsageError: it is negative.
        """
        if step < 0:
            raise UsageError(f"there is no step {step}; the first is 0")
        self.step = step

    def _indices(self, step: int) -> Array:
        position = (step * self._shards + self._shard) * self._batch_size
        epoch, first = divmod(position, len(self.x))
        chosen = self._order_of(epoch)[first : first + self._batch_size]
        missing = self._batch_size - len(chosen)
        return np.concatenate([chosen, self._order_of(epoch + 1)[:missing]]) if missing else chosen

    def _order_of(self, epoch: int) -> Array:
        if epoch != self._epoch:
            count = len(self.x)
            self._order = np.random.default_rng([self._seed, epoch]).permutation(count) if self._shuffle else np.arange(count)
            self._epoch = epoch
        return self._order


@dataclass(frozen=True, eq=False)
class Examples:
    """A whole data set, of which each worker takes its share of every global batch.

    Attributes:
        x: examples along the first axis.
        y: as many targets.
    """

    x: Array
    y: Array

    def batches(self, batch_size: int, seed: int, worker: int, workers: int) -> Batches:
        """The batches of one worker."""
        return Batches(self.x, self.y, batch_size, seed, worker, workers)
