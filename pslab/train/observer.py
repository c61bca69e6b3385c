"""When to look at what is costly to see."""

from __future__ import annotations

SHARE = 0.02
"""Part of the training time that looking may take."""
FIRST_INTERVAL_S = 0.05
"""Seconds between two looks at the least."""


class Observer:
    """Decides which steps are observed, so that the extra time of those stays within `SHARE` of all time. Never two in a row are.

    Args:
        now: time in seconds, of any origin.
        observers: how many look in turn at the same ps, which may have to send more for each: a look takes the time of all.
    """

    def __init__(self, now: float, observers: int = 1) -> None:
        self._share = SHARE / observers
        self._next = now
        self._usual: float | None = None
        self._extra: float | None = None
        self._again = False

    def due(self, now: float) -> bool:
        """Whether the step that begins now should be observed."""
        return now >= self._next and not self._again

    def note(self, began: float, ended: float, observed: bool) -> None:
        """Learn from a step how long one takes, and when the next look can be afforded."""
        took, self._again = ended - began, observed
        if not observed:
            self._usual = _smoothed(self._usual, took, 0.1)
            return
        if self._usual is not None:
            self._extra = _smoothed(self._extra, max(0.0, took - self._usual), 0.3)  # where steps vary by more, one alone says nothing
        self._next = ended + max((self._extra or 0.0) / self._share, FIRST_INTERVAL_S)


def _smoothed(mean: float | None, value: float, weight: float) -> float:
    return value if mean is None else (1 - weight) * mean + weight * value
