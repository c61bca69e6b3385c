"""The last steps of each worker, and what their time went into."""

from __future__ import annotations

from typing import Any

import numpy as np

from pslab.trace.recorder import Records

SHOWN = 64
"""Steps per worker that are told; a front end shows as many as are zoomed to."""
KEPT = 512
"""Steps per worker that are kept: workers are asked one after the other, and of some more is known than of others."""
AWAY_S = 2.0
"""Seconds without a step after which others do not wait for a worker."""
FIELDS = ("end", "wall", "compute", "push", "wait", "pull", "worker", "step")
"""What is told of a step; ``end`` is in seconds since the origin."""
_SOURCES = ("time", *FIELDS[1:])
_END, _WALL, _WORKER = (FIELDS.index(name) for name in ("end", "wall", "worker"))

Rows = np.ndarray[tuple[int, int], np.dtype[np.float64]]


class Timeline:
    """The last steps of each worker, up to a time until which all are known.

    Args:
        workers: number of workers; what others did is left out.

    Attributes:
        origin: Unix time of what the ends of steps are counted from: the beginning of the first step seen.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._last: dict[int, Rows] = {}
        self.origin = 0.0

    def add(self, records: Records) -> None:
        """Take records in, oldest first."""
        if not len(records):
            return
        rows = np.stack([records[name] for name in _SOURCES], axis=1, dtype=np.float64)
        if not self.origin:
            self.origin = float((rows[:, _END] - rows[:, _WALL]).min())
        for worker in range(self._workers):
            mine = rows[rows[:, _WORKER] == worker]
            if len(mine):
                before = self._last.get(worker)
                self._last[worker] = (mine if before is None else np.concatenate([before, mine]))[-KEPT:]

    def rows(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """A row of `FIELDS` per step, worker by worker, oldest first."""
        if not self._last:
            return np.zeros((0, len(FIELDS)), np.float32)
        ends = np.array([last[-1, _END] for last in self._last.values()])
        known = ends[ends >= ends.max() - AWAY_S].min()
        lasts = (self._last[worker] for worker in sorted(self._last))
        rows = np.concatenate([last[last[:, _END] - last[:, _WALL] <= known][-SHOWN:] for last in lasts])
        rows[:, _END] -= self.origin
        return rows.astype(np.float32)
