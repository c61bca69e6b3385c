"""The recorder: the latest records of a process, for readers that come back with a cursor."""

from __future__ import annotations

import mmap
import threading
from typing import Any, NamedTuple

import numpy as np

from pslab.errors import UsageError

Records = np.ndarray[Any, np.dtype[np.void]]


class Fetched(NamedTuple):
    """What `Recorder.since` found.

    Attributes:
        records: a copy, oldest first.
        cursor: where to go on reading.
        lost: how many records were overwritten before they were read.
    """

    records: Records
    cursor: int
    lost: int


class Recorder:
    """A ring of records, safe to use from many threads. Who reads too seldom loses the oldest, and is told how many.

    Args:
        dtype: structured dtype of a record, such as `pslab.trace.records.step_dtype`.
        capacity: how many records are kept.

    Raises:
        UsageError: ``capacity`` is less than 1.
    """

    def __init__(self, dtype: np.dtype[np.void], capacity: int) -> None:
        if capacity < 1:
            raise UsageError(f"a recorder needs room for at least 1 record, not {capacity}")
        room = mmap.mmap(-1, capacity * dtype.itemsize)  # pages that no record has reached cost nothing, and all are given back
        self._ring: Records = np.frombuffer(room, dtype)
        self._capacity = capacity
        self._count = 0
        self._lock = threading.Lock()

    @property
    def dtype(self) -> np.dtype[np.void]:
        """The dtype of a record."""
        return self._ring.dtype

    def append(self, record: tuple[Any, ...]) -> None:
        """Add a record: one value per field, in the order of the fields."""
        with self._lock:
            self._ring[self._count % self._capacity] = record
            self._count += 1

    def since(self, cursor: int) -> Fetched:
        """The records appended since ``cursor``: 0 at first, then the cursor of the last call.

        Raises:
            UsageError: the cursor is not one of this recorder's.
        """
        with self._lock:
            count = self._count
            if not 0 <= cursor <= count:
                raise UsageError(f"cursor {cursor} is not one of this recorder, which has had {count} records", "begin anew with 0")
            first = max(cursor, count - self._capacity)
            records = self._ring[np.arange(first, count) % self._capacity]
        return Fetched(records, count, first - cursor)
