"""Which checkpoints a saver keeps: the newest few, and one every so often. Pure: prefixes and times in, prefixes to delete out."""

from __future__ import annotations

from collections.abc import Iterable


class Retention:
    """The checkpoints that a saver remembers, the oldest first.

    Args:
        max_to_keep: how many to remember; None or 0 to remember, and so to delete, none.
        every_n_hours: of those that are too many, one is spared each time this has passed.
        now: seconds since 1970 at which the saver was made.
    """

    def __init__(self, max_to_keep: int | None, every_n_hours: float, now: float) -> None:
        self.max_to_keep = max_to_keep or 0
        self._period = every_n_hours * 3600
        self._next_spared = now + self._period
        self._kept: list[tuple[str, float]] = []

    @property
    def prefixes(self) -> list[str]:
        """Those that are remembered, the oldest first."""
        return [prefix for prefix, _ in self._kept]

    def remember(self, checkpoints: Iterable[tuple[str, float]]) -> None:
        """Take over (prefix, seconds since 1970) of checkpoints, the oldest first, in place of what was remembered."""
        self._kept = list(checkpoints)

    def record(self, prefix: str, now: float) -> list[str]:
        """Note that ``prefix`` was written just now; returns the prefixes to delete."""
        if not self.max_to_keep:
            return []
        self._kept = [*((p, t) for p, t in self._kept if p != prefix), (prefix, now)]
        excess, self._kept = self._kept[: -self.max_to_keep], self._kept[-self.max_to_keep :]
        return [old for old, written in excess if not self._is_spared(written)]

    def _is_spared(self, written: float) -> bool:
        if written <= self._next_spared:
            return False
        self._next_spared += self._period
        return True
