"""What a queue is: its elements, and when they may be put in and taken out. No threads, no clocks."""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from pslab.errors import CancelledError, OutOfRangeError
from pslab.graph.registry import NOT_YET

Element = tuple[Any, ...]
"""One array per component."""


class Order(Protocol):
    """In which order elements leave."""

    def put(self, element: Element) -> None:
        """Keep an element."""

    def take(self) -> Element:
        """Give one up."""

    def __len__(self) -> int:
        """How many are kept."""


class FirstInFirstOut:
    """The oldest leaves first."""

    def __init__(self) -> None:
        self._elements: deque[Element] = deque()

    def put(self, element: Element) -> None:
        """Keep an element."""
        self._elements.append(element)

    def take(self) -> Element:
        """Give the oldest up."""
        return self._elements.popleft()

    def __len__(self) -> int:
        return len(self._elements)


class Shuffled:
    """Any may leave next.

    Args:
        seed: of the order; None for a fresh one.
    """

    def __init__(self, seed: int | None) -> None:
        self._random = np.random.default_rng(seed)
        self._elements: list[Element] = []

    def put(self, element: Element) -> None:
        """Keep an element."""
        self._elements.append(element)

    def take(self) -> Element:
        """Give one up, each with the same probability."""
        at = int(self._random.integers(len(self._elements)))
        self._elements[at], self._elements[-1] = self._elements[-1], self._elements[at]
        return self._elements.pop()

    def __len__(self) -> int:
        return len(self._elements)


class ByPriority:
    """That with the least first component, an integer, leaves first; of equal ones the oldest."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Element]] = []
        self._serial = itertools.count()

    def put(self, element: Element) -> None:
        """Keep an element."""
        heapq.heappush(self._heap, (int(element[0]), next(self._serial), element))

    def take(self) -> Element:
        """Give the least up."""
        return heapq.heappop(self._heap)[2]

    def __len__(self) -> int:
        return len(self._heap)


class Queue:
    """A queue with a capacity, which may be closed.

    Who takes or puts many elements waits until all can go at once. So that nobody waits in vain, the capacity gives way to those who put in more
    than there could ever be room for, and to those who wait for more elements than fit.

    Args:
        name: for messages.
        order: in which order elements leave.
        capacity: how many elements it holds; negative for any number.
        min_after_dequeue: how many must stay while it is open.
    """

    def __init__(self, name: str, order: Order, capacity: int, min_after_dequeue: int = 0) -> None:
        self._name = name
        self._order = order
        self._capacity = capacity
        self._least = min_after_dequeue
        self._wanted = 0
        self.closed = False

    def size(self) -> int:
        """How many elements are in it."""
        return len(self._order)

    def enqueue_many(self, elements: Sequence[Element]) -> Any:
        """Put elements in; `NOT_YET` while there is no room for them.

        Raises:
            CancelledError: the queue is closed.
        """
        if self.closed:
            raise CancelledError(f"queue {self._name!r} is closed")
        room = max(self._capacity, self._wanted - 1 + len(elements), self._least + len(elements))
        if self._capacity >= 0 and len(self._order) + len(elements) > room:
            return NOT_YET
        for element in elements:
            self._order.put(element)
        return None

    def dequeue_many(self, count: int) -> Any:
        """Take ``count`` elements out; `NOT_YET` while there are too few.

        Raises:
            OutOfRangeError: there are too few and the queue is closed.
        """
        return self._take(count, count)

    def dequeue_up_to(self, count: int) -> Any:
        """As `dequeue_many`, but from a closed queue fewer elements come, if there is one at least."""
        return self._take(count, min(count, max(1, len(self._order))) if self.closed else count)

    def close(self) -> None:
        """Take nothing more. What is in the queue can still be taken out."""
        self.closed = True

    def reopen(self) -> None:
        """Begin anew, empty."""
        while len(self._order):
            self._order.take()
        self._wanted = 0
        self.closed = False

    def _take(self, asked: int, count: int) -> Any:
        missing = count + (0 if self.closed else self._least) - len(self._order)
        if missing > 0 and self.closed:
            raise OutOfRangeError(
                f"queue {self._name!r} is closed and has insufficient elements (requested {asked}, current size {len(self._order)})"
            )
        if missing > 0:
            self._wanted = max(self._wanted, count + self._least)
            return NOT_YET
        self._wanted = 0
        return [self._order.take() for _ in range(count)]
