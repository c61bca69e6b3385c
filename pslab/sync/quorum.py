"""The quorum of an update: how many contributions it waits for, while workers run out of data and leave."""

from __future__ import annotations

from collections.abc import Iterable


class Quorum:
    """Knows who may still contribute. A state machine: no threads, no waiting of its own.

    Args:
        workers: indices of the workers.
        most: how many contributions an update waits for at most.
        backup: how many of those that may contribute it does without.
    """

    def __init__(self, workers: Iterable[int], most: int, backup: int = 0) -> None:
        self._active = set(workers)
        self._most = most
        self._backup = backup

    def leave(self, worker: int) -> None:
        """``worker`` contributes no more, and no update waits for it."""
        self._active.discard(worker)

    @property
    def active(self) -> frozenset[int]:
        """Workers that may still contribute."""
        return frozenset(self._active)

    @property
    def required(self) -> int:
        """How many contributions the next update waits for: at least one, and 0 if there is nobody who could make one."""
        return min(len(self._active), max(1, min(self._most, len(self._active) - self._backup)))
