"""The step records of all tasks, gathered."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pslab.trace.recorder import Fetched, Records
from pslab.trace.records import step_dtype

LIMIT = 2_000_000
"""Records that are kept; the oldest go first."""


_NUMBERS = itertools.count(1)


class Place(NamedTuple):
    """How far someone has read, and in which history.

    Attributes:
        history: the number of a `History`, which no other has.
        read: records of it that were read, or dropped before.
    """

    history: int
    read: int


class News(NamedTuple):
    """What came since a `Place`.

    Attributes:
        records: in the order they came.
        place: where to go on reading.
        anew: these are of another history than those before.
    """

    records: Records
    place: Place
    anew: bool


class _Counted(NamedTuple):
    """How many steps of an epoch were counted up to a place, by worker."""

    epoch: int
    place: Place | None
    steps: Counter[int]


class History:
    """Step records by time, read from each task with a cursor. One thread adds, others may read.

    Attributes:
        lost: records that a task overwrote before they were fetched, or that were dropped here.
    """

    def __init__(self, metrics: Sequence[str]) -> None:
        self._number = next(_NUMBERS)
        self._lock = threading.Lock()
        self._dtype = step_dtype(metrics)
        self._parts: list[Records] = []
        self._count = self._came = 0
        self._cursors: dict[str, int] = {}
        self._counted = _Counted(-1, None, Counter())
        self.lost = 0

    @property
    def cursors(self) -> dict[str, int]:
        """How far the records of each task were read, as `Recorder.since` gives it."""
        return dict(self._cursors)

    def add(self, task: str, fetched: Fetched) -> None:
        """Add a task's new records."""
        self._cursors[task] = fetched.cursor
        self.lost += fetched.lost
        with self._lock:
            if len(fetched.records) and fetched.records.dtype == self._dtype:
                self._parts.append(fetched.records)
                self._count += len(fetched.records)
                self._came += len(fetched.records)
            while self._count > LIMIT and len(self._parts) > 1:
                dropped = self._parts.pop(0)
                self._count -= len(dropped)
                self.lost += len(dropped)

    def begin_cursors_anew(self) -> None:
        """The records of all tasks are to be read from their beginning; those that are here stay."""
        self._cursors = {}

    def records(self) -> Records:
        """All records, by time."""
        with self._lock:
            if len(self._parts) != 1:
                self._parts = [np.concatenate(self._parts) if self._parts else np.zeros(0, self._dtype)]
            records = self._parts[0]
        return records[np.argsort(records["time"], kind="stable")]

    def since(self, place: Place | None) -> News:
        """What has come since ``place``; None begins at the oldest that is kept. Costs as much as there is news."""
        with self._lock:
            anew = place is None or place.history != self._number
            wanted = min(self._count, self._came - (0 if anew or place is None else place.read))
            parts: list[Records] = []
            for part in reversed(self._parts):
                if wanted <= 0:
                    break
                parts.append(part[-wanted:])
                wanted -= len(part)
            news = np.concatenate([np.zeros(0, self._dtype), *parts[::-1]], dtype=self._dtype)
            return News(news, Place(self._number, self._came), anew)

    def steps(self, epoch: int) -> Mapping[int, int]:
        """How many steps each worker made in an epoch. Costs as much as has come since the same was asked last; one thread at a time asks."""
        before = self._counted if self._counted.epoch == epoch else _Counted(epoch, None, Counter())
        news = self.since(before.place)
        workers, times = np.unique(news.records["worker"][news.records["strategy"] == epoch], return_counts=True)
        steps = before.steps + Counter(dict(zip(workers.tolist(), times.tolist(), strict=True)))
        self._counted = _Counted(epoch, news.place, steps)
        return steps
