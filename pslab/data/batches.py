"""Batches: a reproducible stream of examples, dealt out to workers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pslab.data.division import Division
from pslab.errors import OutOfRangeError, UsageError

Array = np.ndarray[Any, np.dtype[Any]]


class Batches:
    """An iterator over ``(x_batch, y_batch)``: one worker's share of a stream of global batches.

    The stream is the data set in a new order every epoch, one epoch after another; an order depends on ``seed`` and the epoch alone. The global batch of
    a step is the next examples of the stream, as many as the batches of all shards have together, and shard k gets those of the k-th batch. So the
    shards' batches of one step, in the shards' order, are what a single process with that larger batch would get, however many shards there are, and
    whatever their sizes. Every example comes once per epoch; a batch may reach over the end of one into the next. At the end of the last epoch, if there
    is one, the last global batch has what is left: a shard's last batch may be smaller, and some shards have one batch less than others.

    Args:
        x: examples along the first axis.
        y: as many targets.
        batch_size: examples per batch of this shard and all others; or of each shard.
        seed: non-negative.
        shard: which shard this is, from 0.
        shards: how many shards there are.
        shuffle: whether to shuffle; otherwise every epoch is in the given order.
        passes: how many epochs there are; None is for ever.
        rows: which rows of ``x`` and ``y`` the data set is; all if None.

    Attributes:
        x: the examples.
        y: the targets.
        step: the step whose batch comes next.

    Raises:
        UsageError: the lengths of ``x`` and ``y`` differ, the global batch is larger than the data, or a number is out of its range.
    """

    def __init__(
        self,
        x: Array,
        y: Array,
        batch_size: int | Sequence[int],
        seed: int,
        shard: int = 0,
        shards: int = 1,
        shuffle: bool = True,
        *,
        passes: int | None = None,
        rows: Array | None = None,
    ) -> None:
        sizes = (batch_size,) * shards if isinstance(batch_size, int) else tuple(batch_size)
        if len(x) != len(y):
            raise UsageError(f"{len(x)} examples, but {len(y)} targets", "x and y need one entry per example each")
        if shards < 1 or seed < 0 or min(sizes) < 1 or (passes is not None and passes < 1):
            raise UsageError(f"batch_size={batch_size}, shards={shards} and passes={passes} must be at least 1, seed={seed} at least 0")
        if len(sizes) != shards or not 0 <= shard < shards:
            raise UsageError(f"there is no shard {shard} of {shards} with batches of {batch_size}; they are numbered from 0")
        self._count = len(x) if rows is None else len(rows)
        if sum(sizes) > self._count:
            raise UsageError(
                f"{shards} × a batch of {batch_size} is {sum(sizes)} examples, but there are {self._count}",
                f"a batch of at most {self._count // shards}" if self._count >= shards else "fewer workers, or more data",
            )
        self.x = np.asarray(x)
        self.y = np.asarray(y)
        self._rows = rows
        self._sizes = sizes
        self._seed = seed
        self._shard = shard
        self._shuffle = shuffle
        self._passes = passes
        self._epoch = -1
        self._order = np.empty(0, np.intp)
        self.step = 0

    @property
    def left(self) -> float:
        """How many batches are to come: a whole number, or infinity."""
        return max(0, self.total - self.step)

    @property
    def total(self) -> float:
        """How many batches there are: a whole number, or infinity."""
        if self._passes is None:
            return math.inf
        examples = self._passes * self._count - sum(self._sizes[: self._shard])
        return max(0, -(-examples // sum(self._sizes)))

    @property
    def whole(self) -> float:
        """How many of those to come have all their examples: all but the last, perhaps."""
        if self._passes is None:
            return math.inf
        before_last = self._passes * self._count - sum(self._sizes[: self._shard + 1])
        return max(0, before_last // sum(self._sizes) + 1 - self.step)

    def examples_before(self, step: int) -> int:
        """How many examples the batches before that of ``step`` have, together."""
        size, whole = self._sizes[self._shard], sum(self._sizes)
        if self._passes is None:
            return step * size
        rounds, rest = divmod(self._passes * self._count, whole)
        return min(step * size, rounds * size + min(size, max(0, rest - sum(self._sizes[: self._shard]))))

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> tuple[Array, Array]:
        chosen = self.next_rows()
        return self.x.take(chosen, axis=0), self.y.take(chosen, axis=0)

    def next_rows(self) -> Array:
        """The rows of ``x`` and ``y`` that the next batch is made of, in place of the batch itself.

        Raises:
            OutOfRangeError: there is none.
        """
        if not self.left:
            raise OutOfRangeError(f"all {self._passes} passes over the data are over", "more passes, or passes=None for as many as it takes")
        chosen = self._indices(self.step)
        self.step += 1
        return chosen

    def share(self) -> tuple[Array, Array]:
        """Its part of one epoch, in an order that depends on the seed.

        No two shards have an example in common, and each has the more of them the larger its batches are.
        """
        parts = np.array(self._sizes) // math.gcd(*self._sizes)
        before, mine = int(parts[: self._shard].sum()), int(parts[self._shard])
        turn = np.arange(self._count) % int(parts.sum())
        rows = self._order_of(0)[(before <= turn) & (turn < before + mine)]
        return self.x[rows], self.y[rows]

    def seek(self, step: int) -> None:
        """Go on with the batch of ``step``, which may be after the last.

        Raises:
            UsageError: it is negative.
        """
        if step < 0:
            raise UsageError(f"there is no step {step}; the first is 0")
        self.step = step

    def _indices(self, step: int) -> Array:
        size, position = self._sizes[self._shard], step * sum(self._sizes) + sum(self._sizes[: self._shard])
        epoch, first = divmod(position, self._count)
        chosen = self._order_of(epoch)[first : first + size]
        missing = size - len(chosen)
        return np.concatenate([chosen, self._order_of(epoch + 1)[:missing]]) if missing and epoch + 1 != self._passes else chosen

    def _order_of(self, epoch: int) -> Array:
        if epoch != self._epoch:
            order = np.random.default_rng([self._seed, epoch]).permutation(self._count) if self._shuffle else np.arange(self._count)
            self._order = order if self._rows is None else self._rows[order]
            self._epoch = epoch
        return self._order


@dataclass(frozen=True, eq=False)
class Examples:
    """A whole data set, of which each worker takes its share of every global batch, or has rows of its own.

    Attributes:
        x: examples along the first axis.
        y: as many targets.
    """

    x: Array
    y: Array

    def batches(self, division: Division, worker: int, workers: int) -> Batches:
        """The batches of one worker."""
        sizes, rows = division.sizes(workers), division.own_rows(worker, len(self.x))
        if rows is None:
            return Batches(self.x, self.y, sizes, division.seed, worker, workers, passes=division.passes)
        return Batches(self.x, self.y, sizes[worker], division.seed, passes=division.passes, rows=rows)
