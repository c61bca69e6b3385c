"""How far the replicas were apart, over time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic, time
from typing import NamedTuple

from pslab.train.distances import Distance

SHARE = 0.01
"""Part of the time that looking may take."""
FIRST_INTERVAL_S = 0.5
"""Seconds between two looks at the least."""
KEPT = 2000
"""Looks that are kept: the latest."""


class Look(NamedTuple):
    """The distances at one moment.

    Attributes:
        time: Unix time in seconds.
        global_step: the latest of the replicas' last commits.
        strategy: number of the epoch's strategy.
        distances: all pairs, per parameter and over all.
    """

    time: float
    global_step: int
    strategy: int
    distances: Sequence[Distance]


class DivergenceHistory:
    """Looks as often as keeps the time of looking within `SHARE` of all time.

    Args:
        clock: monotonic time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._next = clock()
        self.looks: deque[Look] = deque(maxlen=KEPT)

    def look(self, strategy: int, see: Callable[[], tuple[int, Sequence[Distance]]]) -> None:
        """Have a look if one can be afforded, and nothing was seen at that step before; ``see`` gives the global step and the distances."""
        began = self._clock()
        if began < self._next:
            return
        try:
            step, found = see()
        finally:
            ended = self._clock()
            self._next = ended + max((ended - began) / SHARE, FIRST_INTERVAL_S)
        if found and (not self.looks or (step, strategy) != (self.looks[-1].global_step, self.looks[-1].strategy)):
            self.looks.append(Look(time(), step, strategy, found))
