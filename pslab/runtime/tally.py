"""What the tensors weigh that a task sends: how many bytes of which tensor went to whom."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple


class Weight(NamedTuple):
    """A tensor on its way to a task, weighed.

    Attributes:
        to: the task that receives it.
        tensor: its name.
        times: how often it was weighed.
        bytes: of its arrays in all, without headers.
    """

    to: str
    tensor: str
    times: int
    bytes: int


def is_weighed(run: int) -> bool:
    """Whether the tensors of a plan's run of this number are weighed: of 0, 1, 2, 4, 8, …, so that it costs nothing in the long run."""
    return run & (run - 1) == 0


class Tally:
    """Bytes by receiver and tensor."""

    def __init__(self) -> None:
        self._weights: dict[tuple[str, str], tuple[int, int]] = {}
        self._lock = threading.Lock()

    def weigh(self, to: str, tensors: Sequence[str], arrays: Sequence[Any]) -> None:
        """Note the arrays of ``tensors``, which go to a task."""
        with self._lock:
            for tensor, array in zip(tensors, arrays, strict=True):
                times, size = self._weights.get((to, tensor), (0, 0))
                self._weights[to, tensor] = times + 1, size + int(array.nbytes)

    def begin_anew(self) -> None:
        """Forget all."""
        with self._lock:
            self._weights.clear()

    def weights(self) -> list[Weight]:
        """What was weighed."""
        with self._lock:
            return [Weight(to, tensor, times, size) for (to, tensor), (times, size) in self._weights.items()]
