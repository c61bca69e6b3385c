"""When a port is busy."""

from __future__ import annotations

import threading
from bisect import bisect_left

_KEPT = 64
"""Busy stretches that are remembered: what is asked for later than so many of them find the port busy all the time before."""


class Timeline:
    """The busy stretches of something that serves one at a time, to be reserved in any order.

    Who asks gets the free time from a moment on, in pieces if need be: so that what is asked for late, because a thread was slow to read its message, still
    finds the time at which the message really came.
    """

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []
        self._lock = threading.Lock()

    def reserve(self, earliest: int, duration: int) -> tuple[int, int]:
        """Take ``duration`` of the free time from ``earliest`` on.

        Args:
            earliest: in nanoseconds.
            duration: in nanoseconds.

        Returns:
            When the first and the last of it is.
        """
        if duration <= 0:
            return earliest, earliest
        with self._lock:
            begins, ends = self._begins, self._ends
            first = i = bisect_left(ends, earliest)  # those before have ended
            now, left, began = earliest, duration, None
            while left:
                gap = begins[i] - now if i < len(begins) else left
                if gap > 0:
                    began = now if began is None else began
                    taken = min(gap, left)
                    left -= taken
                    now += taken
                else:
                    now = max(now, ends[i])
                    i += 1
            if i < len(begins) and begins[i] == now:
                end, i = ends[i], i + 1
            else:
                end = now
            begin = min(earliest, begins[first]) if first < i else earliest
            begins[first:i] = [begin]  # all of it is busy now
            ends[first:i] = [end]
            if len(begins) > _KEPT:
                begins[0:2], ends[0:2] = begins[:1], ends[1:2]
        assert began is not None
        return began, now
