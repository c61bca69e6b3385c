"""The ledger of a task: whose contributions were applied to its parameters, and when each worker read them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np


class Entry(NamedTuple):
    """Something that happened to a task's parameters.

    Attributes:
        worker: whose doing it was.
        applied: whether its contribution was applied, or it was noted; otherwise it read.
    """

    worker: int
    applied: bool


class Ledger:
    """Counts updates, and keeps the order of updates and reads, which is all that there is to know about an interleaving: four bytes an entry.

    Attributes:
        updates: contributions that were applied.
    """

    def __init__(self) -> None:
        self.updates = 0
        self._read_at: dict[int, int] = {}
        self._seen: dict[int, Mapping[str, Any]] = {}
        self._entries = array("i")

    def read(self, worker: int, parameters: Mapping[str, Any]) -> None:
        """``worker`` reads the parameters as they are now; those given are kept until it reads again."""
        self._read_at[worker] = self.updates
        self._seen[worker] = parameters
        self._entries.append(~worker)

    def seen(self, worker: int) -> Mapping[str, Any]:
        """The parameters that were kept when ``worker`` read last."""
        return self._seen[worker]

    def apply(self, worker: int) -> int:
        """A contribution of ``worker`` is applied; returns its staleness: the updates that others made since it read."""
        stale = self.updates - self._read_at[worker]
        self.updates += 1
        self._entries.append(worker)
        return stale

    def note(self, worker: int, updates: int = 0) -> None:
        """Something else of ``worker`` happens, whoever that stands for, and makes so many updates."""
        self.updates += updates
        self._entries.append(worker)

    def order(self) -> np.ndarray[Any, Any]:
        """The entries so far as int32: ``worker`` where its contribution was applied, or noted, ``~worker`` (less than 0) where it read."""
        return np.array(self._entries, np.int32)

    def __iter__(self) -> Iterator[Entry]:
        return (Entry(e, True) if e >= 0 else Entry(~e, False) for e in self._entries)

    def __len__(self) -> int:
        return len(self._entries)
