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
    """

    def __init__(self, now: float) -> None:
        self._next = now
        self._usual: float | None = None
        self._again = False

    def due(self, now: float) -> bool:
        """Whether the step that begins now should be observed."""
        return now >= self._next and not self._again

    def note(self, began: float, ended: float, observed: bool) -> None:
        """Learn from a step how long one takes, and when the next look can be afforded."""
        took, self._again = ended - began, observed
        if observed:
            extra = took - self._usual if self._usual is not None else 0.0
            self._next = ended + max(extra / SHARE, FIRST_INTERVAL_S)
        else:
            self._usual = took if self._usual is None else 0.9 * self._usual + 0.1 * took
