"""What may be spent on looking."""

from __future__ import annotations


class Budget:
    """Time that looking may take: a share of all time, after a first credit.

    Args:
        share: of all time, from 0 to 1.
        credit: seconds that may be spent at once, in the beginning or after a rest.
        now: time in seconds, of any origin.
    """

    def __init__(self, share: float, credit: float, now: float) -> None:
        self._share, self._most = share, credit
        self._left, self._at = credit, now

    def affords(self, now: float) -> bool:
        """Whether something is left."""
        self._left = min(self._most, self._left + self._share * (now - self._at))
        self._at = now
        return self._left > 0

    def spend(self, seconds: float) -> None:
        """Take off what was spent; it may be more than was left, and is made up for later."""
        self._left -= seconds
