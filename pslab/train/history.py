"""The step records of all tasks, gathered."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pslab.errors import UsageError
from pslab.trace.recorder import Fetched, Records
from pslab.trace.records import step_dtype

LIMIT = 2_000_000
"""Records that are kept; the oldest go first."""


class History:
    """Step records by time, fetched from each task with a cursor.

    Attributes:
        lost: records that a task overwrote before they were fetched, or that were dropped here.
    """

    def __init__(self, metrics: Sequence[str]) -> None:
        self._dtype = step_dtype(metrics)
        self._parts: list[Records] = []
        self._count = 0
        self._cursors: dict[str, int] = {}
        self.lost = 0

    def fetch(self, task: str, since: Callable[[int], Fetched]) -> None:
        """Add a task's new records. A task whose cursors do not know ours was started anew."""
        try:
            fetched = since(self._cursors.get(task, 0))
        except UsageError:
            fetched = since(0)
        self._cursors[task] = fetched.cursor
        self.lost += fetched.lost
        if len(fetched.records) and fetched.records.dtype == self._dtype:
            self._parts.append(fetched.records)
            self._count += len(fetched.records)
        while self._count > LIMIT and len(self._parts) > 1:
            dropped = self._parts.pop(0)
            self._count -= len(dropped)
            self.lost += len(dropped)

    def begin_cursors_anew(self) -> None:
        """The records of all tasks are to be read from their beginning; those that are here stay."""
        self._cursors = {}

    def records(self) -> Records:
        """All records, by time."""
        if len(self._parts) != 1:
            self._parts = [np.concatenate(self._parts) if self._parts else np.zeros(0, self._dtype)]
        records = self._parts[0]
        return records[np.argsort(records["time"], kind="stable")]
