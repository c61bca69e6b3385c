"""Queues of tokens: what lets workers begin their next step."""

from __future__ import annotations

from collections import deque
from typing import Any

from pslab.errors import InvalidArgumentError
from pslab.graph.registry import NOT_YET


class TokenQueue:
    """A first-in first-out queue of tokens. A token is the global step that its taker computes at; there is no limit to their number.

    One queue per worker gives each exactly one token a step; one queue for all is TensorFlow's ``SyncReplicasOptimizer``, where a fast worker may
    take a slow one's token.
    """

    def __init__(self) -> None:
        self._tokens: deque[int] = deque()

    def enqueue_many(self, token: int, count: int) -> None:
        """Add ``token`` ``count`` times.

        Raises:
            InvalidArgumentError: ``count`` is negative.
        """
        if count < 0:
            raise InvalidArgumentError(f"cannot add {count} tokens")
        self._tokens.extend([token] * count)

    def dequeue(self) -> Any:
        """The oldest token, or `NOT_YET` if there is none."""
        return self._tokens.popleft() if self._tokens else NOT_YET

    def pending(self) -> int:
        """The number of tokens in the queue."""
        return len(self._tokens)
