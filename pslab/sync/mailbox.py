"""Mailboxes: what one worker leaves for another, whose graph it has no edge into."""

from __future__ import annotations

from collections import deque
from typing import Any

from pslab.errors import ResourceExhaustedError
from pslab.graph.registry import NOT_YET


class Mailbox:
    """Items of one sender for one receiver, first in, first out.

    Args:
        capacity: how many may lie here. A sender that is bound to wait for its receiver never has more; one that has is at fault.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._items: deque[Any] = deque()

    def put(self, item: Any) -> None:
        """Leave an item.

        Raises:
            ResourceExhaustedError: there are ``capacity`` already.
        """
        if len(self._items) >= self._capacity:
            raise ResourceExhaustedError(f"a mailbox holds at most {self._capacity} items, and nobody has taken one of them")
        self._items.append(item)

    def take(self) -> Any:
        """The oldest item, or `NOT_YET` if there is none."""
        return self._items.popleft() if self._items else NOT_YET

    def pending(self) -> int:
        """The number of items that lie here."""
        return len(self._items)
