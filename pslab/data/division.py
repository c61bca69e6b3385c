"""How the training data are divided among the workers, as one value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pslab.errors import UsageError

Rows = np.ndarray[Any, np.dtype[np.intp]]


@dataclass(frozen=True)
class Division:
    """Who gets which examples, how many at a time, and how often.

    Without ``shares`` all workers draw from one stream of examples: each step's next ΣB examples are dealt out, the k-th worker getting its B. So N
    workers of batch B are one process of batch N·B. With them, each worker has rows of its own, and shuffles those.

    Attributes:
        batch_size: examples per step of a worker: one number for all, or one per worker.
        shares: which part of the training examples each worker has as its own; they add up to 1. None deals out one stream.
        passes: how often a worker goes through what it gets before it is out of data; None is for ever.
        seed: of the order of the examples.
    """

    batch_size: int | Sequence[int] = 64
    shares: Sequence[float] | None = None
    passes: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.batch_size, Sequence):
            object.__setattr__(self, "batch_size", self.batch_size[0] if len(self.batch_size) == 1 else tuple(self.batch_size))
        sizes = self.batch_size if isinstance(self.batch_size, tuple) else (self.batch_size,)
        if not sizes or not all(_whole(size) and size >= 1 for size in sizes):
            raise UsageError(f"batch_size must be a whole number from 1 on, or one per worker; found {self.batch_size!r}")
        if self.shares is not None:
            object.__setattr__(self, "shares", tuple(float(share) for share in self.shares))
            if not all(share > 0 for share in self.shares) or not math.isclose(sum(self.shares), 1, abs_tol=1e-6):
                raise UsageError(f"shares must be greater than 0 and add up to 1, found {', '.join(f'{s:g}' for s in self.shares)}")
        if self.passes is not None and not (_whole(self.passes) and self.passes >= 1):
            raise UsageError(f"passes must be at least 1, or None for ever; found {self.passes}")
        if not _whole(self.seed) or self.seed < 0:
            raise UsageError(f"seed must be a whole number from 0 on, found {self.seed}")

    @property
    def numbers(self) -> int:
        """For how many workers there are numbers; 1 where one is for all."""
        return max(len(given) if isinstance(given, tuple) else 1 for given in (self.batch_size, self.shares))

    def sizes(self, workers: int) -> tuple[int, ...]:
        """Examples per step of each worker."""
        return (self.batch_size,) * workers if isinstance(self.batch_size, int) else tuple(self.batch_size)

    def together(self, workers: int) -> int:
        """Examples of a step of all workers."""
        return sum(self.sizes(workers))

    def of(self, worker: int) -> str:
        """What a worker gets, for people."""
        size = self.batch_size if isinstance(self.batch_size, int) else self.batch_size[worker]
        return f"batches of {size}" + ("" if self.shares is None else f", {self.shares[worker]:.3g} of the examples")

    def check_workers(self, workers: int) -> None:
        """Whether there is a number for each worker, where there are several.

        Raises:
            UsageError: there are more or fewer.
        """
        for name, given in (("batch_size", self.batch_size), ("shares", self.shares)):
            if isinstance(given, tuple) and len(given) != workers:
                raise UsageError(f"{name} has {len(given)} numbers, but there are {workers} workers", f"lab.data({name}=…) with one per worker")

    def check(self, workers: int, examples: int | None) -> None:
        """Whether so many examples can be divided so among so many workers.

        Args:
            workers: how many there are.
            examples: how many there are to train on; None where that is not known yet, because each worker loads its own.

        Raises:
            UsageError: they cannot.
        """
        self.check_workers(workers)
        if examples is None:
            if self.shares is not None:
                raise UsageError("of data in parts each worker has its own already", "shares=None")
        elif self.shares is None:
            self._check_dealt(workers, examples)
        else:
            for worker, (size, mine) in enumerate(zip(self.sizes(workers), np.diff(self._bounds(examples)), strict=True)):
                if size > mine:
                    raise UsageError(f"worker:{worker} has batches of {size}, but its share is {mine} examples", f"at most {mine}, or a larger share")

    def own_rows(self, worker: int, examples: int) -> Rows | None:
        """The rows of so many examples that a worker has as its own; None where it has none of its own."""
        if self.shares is None:
            return None
        bounds = self._bounds(examples)
        return np.random.default_rng([self.seed]).permutation(examples)[bounds[worker] : bounds[worker + 1]]

    def _bounds(self, examples: int) -> Rows:
        assert self.shares is not None
        return np.round(np.cumsum([0.0, *self.shares]) * examples).astype(np.intp)

    def _check_dealt(self, workers: int, examples: int) -> None:
        if self.together(workers) > examples:
            size = ", ".join(map(str, dict.fromkeys(self.sizes(workers))))
            raise UsageError(
                f"{workers} workers with batches of {size} need more than the {examples} examples", f"at most {examples // workers} per worker"
            )


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
