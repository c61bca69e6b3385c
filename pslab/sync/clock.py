"""The clock of bounded staleness: nobody gets more than so many steps ahead of the slowest.

The rule of stale synchronous parallel (Ho et al., 2013, "More Effective Distributed ML via a Stale Synchronous Parallel Parameter Server").
"""

from __future__ import annotations

from collections.abc import Iterable


class StalenessClock:
    """Counts the steps of each worker. A state machine: no threads, no waiting of its own.

    Args:
        workers: indices of the workers.
        staleness: how many steps one may be ahead of the slowest when it begins another.
    """

    def __init__(self, workers: Iterable[int], staleness: int) -> None:
        self._steps = dict.fromkeys(workers, 0)
        self._staleness = staleness
        self._held: set[int] = set()
        self._open = False

    def tick(self, worker: int) -> list[int]:
        """``worker`` has made a step; returns who may begin the next one now and could not before, ``worker`` perhaps among them."""
        self._steps[worker] += 1
        self._held.add(worker)
        return self._release()

    def leave(self, worker: int) -> list[int]:
        """``worker`` makes no more steps, and nobody waits for it; returns who may begin the next step now."""
        self._steps.pop(worker, None)
        self._held.discard(worker)
        return self._release()

    def holds(self, worker: int) -> bool:
        """Whether ``worker`` has to wait before its next step."""
        return worker in self._held

    @property
    def held(self) -> frozenset[int]:
        """Workers that have to wait before their next step."""
        return frozenset(self._held)

    def ahead(self, worker: int) -> int:
        """How many steps more than the slowest ``worker`` has made."""
        return self._steps[worker] - min(self._steps.values())

    def open(self) -> list[int]:
        """Hold nobody any more: the training ends; returns who may begin the next step now."""
        self._open = True
        return self._release()

    def _release(self) -> list[int]:
        released = sorted(w for w in self._held if self._open or self.ahead(w) <= self._staleness)
        self._held.difference_update(released)
        return released
