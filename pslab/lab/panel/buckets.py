"""A history of steps that never grows: means over equal stretches of the global step, which become longer as the training does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pslab.trace.recorder import Records
from pslab.trace.records import METRIC

MOST = 512
"""Stretches that are kept at most."""
COSTS = ("bytes_pushed", "bytes_pulled", "bytes_fed", "compute", "wait", "push", "pull")
"""Fields that observed steps say nothing about."""

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


class Stretch(NamedTuple):
    """Some consecutive buckets.

    Attributes:
        first: number of the first.
        means: float32, a row per column and a column per bucket; NaN where nothing is known.
    """

    first: int
    means: np.ndarray[Any, np.dtype[np.float32]]


class Buckets:
    """Means of what step records say, by stretches of the global step.

    Args:
        metrics: names of the model's metrics.
        workers: number of workers.

    Attributes:
        columns: what there is a mean of: ``"step"`` is the global step itself, ``"divergence:k"`` that of worker k.
        width: global steps per bucket, a power of two.
        origin: global step at which bucket 0 begins.
    """

    def __init__(self, metrics: Sequence[str], workers: int) -> None:
        self._fields = ("loss", *(METRIC + name for name in metrics), "staleness", *COSTS)
        self._workers = workers
        self.columns = ("step", "loss", *metrics, "staleness", *COSTS, *(f"divergence:{k}" for k in range(workers)))
        self.width, self.origin = 1, -1
        self._sums = np.zeros((len(self.columns), MOST))
        self._counts = np.zeros((len(self.columns), MOST))
        self._low, self._high = MOST, 0

    def add(self, records: Records) -> bool:
        """Take records in, in any order; returns whether all stretches have changed, because they have become longer."""
        if not len(records):
            return False
        steps, before = records["global_step"], (self.width, self.origin)
        if self.origin < 0:
            self.origin = int(steps.min())
        while int(steps.max()) - self.origin >= MOST * self.width:
            self._merge()
        place = np.maximum(steps - self.origin, 0) // self.width
        low, high = int(place.min()), int(place.max()) + 1
        values = self._values(records)
        known = ~np.isnan(values)
        for column, (row, seen) in enumerate(zip(values, known, strict=True)):
            self._counts[column, low:high] += np.bincount(place[seen] - low, minlength=high - low)
            self._sums[column, low:high] += np.bincount(place[seen] - low, row[seen], high - low)
        self._low, self._high = min(self._low, low), max(self._high, high)
        return (self.width, self.origin) != before

    def cut(self, step: int) -> None:
        """Forget what came after a global step: a training has gone back to it."""
        keep = max(0, min(MOST, (step - self.origin) // self.width + 1))
        self._sums[:, keep:] = self._counts[:, keep:] = 0
        self._low, self._high = 0, MOST

    def changed(self) -> Stretch:
        """The buckets that have changed since the last call."""
        low, high = self._low, max(self._low, self._high)
        self._low, self._high = MOST, 0
        return self._stretch(low, high)

    def all(self) -> Stretch:
        """All buckets up to the last that has something."""
        return self._stretch(0, self._used())

    def last(self, n: int) -> Stretch:
        """The last ``n`` of them."""
        used = self._used()
        return self._stretch(max(0, used - n), used)

    def _used(self) -> int:
        """How many buckets there are up to the last that has something."""
        used = np.flatnonzero(self._counts[0])
        return int(used[-1]) + 1 if len(used) else 0

    def _stretch(self, low: int, high: int) -> Stretch:
        with np.errstate(invalid="ignore"):
            return Stretch(low, (self._sums[:, low:high] / self._counts[:, low:high]).astype(np.float32))

    def _values(self, records: Records) -> Matrix:
        values = np.full((len(self.columns), len(records)), np.nan)
        values[0] = records["global_step"]
        for row, name in enumerate(self._fields, start=1):
            values[row] = records[name]
            if name in COSTS:
                values[row, records["observed"]] = np.nan
        mine = records["worker"] < self._workers
        values[len(self._fields) + 1 + records["worker"][mine], np.flatnonzero(mine)] = records["divergence"][mine]
        return values

    def _merge(self) -> None:
        for table in (self._sums, self._counts):
            table[:, : MOST // 2] = table[:, ::2] + table[:, 1::2]
            table[:, MOST // 2 :] = 0
        self.width *= 2
        self._low, self._high = 0, MOST
