"""The quorum of an update: how many contributions it waits for, while workers run out of data and leave."""

from __future__ import annotations

from collections.abc import Iterable


class Quorum:
    """Knows who may still contribute, and who has. A state machine: no threads, no waiting of its own.

    Args:
        workers: indices of the workers.
        most: how many contributions an update waits for at most.
        backup: how many of those that may contribute it does without.
    """

    def __init__(self, workers: Iterable[int], most: int, backup: int = 0) -> None:
        self._active = set(workers)
        self._most = most
        self._backup = backup
        self._brought: list[int] = []

    def bring(self, worker: int) -> None:
        """``worker`` has brought a contribution, which is for no update yet."""
        self._brought.append(worker)

    def leave(self, worker: int) -> None:
        """``worker`` contributes no more, and no update waits for it; what it has brought stays."""
        self._active.discard(worker)

    @property
    def active(self) -> frozenset[int]:
        """Workers that may still contribute."""
        return frozenset(self._active)

    @property
    def required(self) -> int:
        """How many contributions the next update waits for: at least one, and 0 if there is nobody who could make one."""
        return min(len(self._active), max(1, min(self._most, len(self._active) - self._backup)))

    @property
    def over(self) -> bool:
        """Whether there is no further update: everybody has left, and nothing is here."""
        return not self._active and not self._brought

    @property
    def enough(self) -> bool:
        """Whether what was brought makes an update."""
        return bool(self._brought) and len(self._brought) >= self.required

    def choose(self) -> list[int]:
        """Whose contributions make the next update, each as often as it has brought one: all that are here. Empty while there are too few."""
        if not self.enough:
            return []
        chosen, self._brought = sorted(self._brought), []
        return chosen
