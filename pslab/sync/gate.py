"""The gate of a task: what comes to it is let in one at a time, in an order that is given from outside."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any


class Gate:
    """Holds arrivals until it is their turn. A state machine: no threads, no waiting of its own.

    Attributes:
        passed: how many have come in and are through.
        inside: whose arrival is in, and not through yet; None where none is.
        keep_after: after how many the task's variables are to be kept; None keeps none.
        kept: the variables that were kept, by name.
    """

    def __init__(self) -> None:
        self.passed = 0
        self.inside: int | None = None
        self.keep_after: int | None = None
        self.kept: Mapping[str, Any] = {}
        self._order: deque[int] = deque()
        self._waiting: dict[int, str] = {}
        self._open = False

    def arrive(self, worker: int, what: str = "") -> bool:
        """Something of ``worker`` is before the gate, ``what`` in a word; whether it comes in now. Ask again after each `leave`, `admit` and `open`."""
        self._waiting.setdefault(worker, what)
        if self.inside is not None or not self._may(worker):
            return False
        if self._order:
            self._order.popleft()
        del self._waiting[worker]
        self.inside = worker
        return True

    def leave(self, worker: int) -> None:
        """What had come in of ``worker`` is through."""
        if self.inside != worker:
            raise ValueError(f"worker {worker} leaves, but {self.inside} is in")
        self.inside = None
        self.passed += 1

    def admit(self, workers: Iterable[int]) -> None:
        """Let arrivals of these workers in, in this order, after those of whom that was said before."""
        self._order.extend(workers)

    def open(self) -> None:
        """Hold nothing any more: when all that were admitted are through, the others come in in the order of their arrival."""
        self._open = True

    @property
    def waiting(self) -> dict[int, str]:
        """Who waits with what, in the order of arrival."""
        return dict(self._waiting)

    @property
    def left(self) -> int:
        """How many are admitted, and have not come in yet."""
        return len(self._order)

    def _may(self, worker: int) -> bool:
        if self._order:
            return self._order[0] == worker
        return self._open and next(iter(self._waiting)) == worker
