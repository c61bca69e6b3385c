"""Simulated time: processes that wait, and the moments at which they go on."""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Callable, Generator, Hashable

Process = Generator["int | Callable[[], bool]", None, None]
"""A process yields the moment, in nanoseconds, at which it goes on; or a condition for which it waits."""


class Events:
    """Runs processes in the order of their moments. Of those of one moment, who came first goes first.

    Attributes:
        now: the present moment, in nanoseconds.
    """

    def __init__(self) -> None:
        self.now = 0
        self._ahead: list[tuple[int, int, Process]] = []
        self._numbers = itertools.count()
        self._waiting: list[tuple[Callable[[], bool], Process]] = []

    def begin(self, process: Process) -> None:
        """Begin a process now."""
        self._at(self.now, process)

    def run(self, until: Callable[[], bool]) -> bool:
        """Run until ``until`` holds; returns whether it does. It does not where all processes wait for each other."""
        while not until():
            if not self._ahead:
                return False
            self.now, _, process = heapq.heappop(self._ahead)
            self._go_on(process)
            self._wake()
        return True

    def _go_on(self, process: Process) -> None:
        wish = next(process, None)
        if callable(wish):
            self._waiting.append((wish, process))
        elif wish is not None:
            self._at(max(wish, self.now), process)

    def _wake(self) -> None:
        """Let those go on whose condition holds, one after the other: each may change what the others wait for."""
        while (ready := next((i for i, (condition, _) in enumerate(self._waiting) if condition()), None)) is not None:
            _, process = self._waiting.pop(ready)
            self._go_on(process)

    def _at(self, moment: int, process: Process) -> None:
        heapq.heappush(self._ahead, (moment, next(self._numbers), process))


class Mail:
    """What has been delivered, by key."""

    def __init__(self) -> None:
        self._due: defaultdict[Hashable, list[int]] = defaultdict(list)

    def post(self, key: Hashable, due: int) -> None:
        """A message will be there at ``due``."""
        self._due[key].append(due)

    def take(self, key: Hashable) -> Process:
        """Wait for a message, and take it."""
        due = self._due[key]
        yield lambda: bool(due)
        yield due.pop(0)
