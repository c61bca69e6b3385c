"""Which checkpoints a saver keeps: the newest few, and one every so often. Pure: prefixes and times in, prefixes to delete out."""

from __future__ import annotations

from collections.abc import Iterable

from pslab.errors import UsageError


class Retention:
    """The checkpoints that a saver remembers, the oldest first.

    Args:
        max_to_keep: how many to remember; None or 0 to remember, and so to delete, none.
        every_n_hours: of those that are too many, one is spared each time this has passed.
        now: seconds since 1970 at which the saver was made.

    Raises:
        UsageError: ``max_to_keep`` is no whole number from 0 on, or ``every_n_hours`` no number.
    """

    def __init__(self, max_to_keep: int | None, every_n_hours: float, now: float) -> None:
        if not (max_to_keep is None or (isinstance(max_to_keep, int) and max_to_keep >= 0)):
            raise UsageError(f"max_to_keep is a whole number from 0 on, or None; found {max_to_keep!r}", "0 or None keeps all checkpoints")
        if not isinstance(every_n_hours, int | float):
            raise UsageError(f"keep_checkpoint_every_n_hours is a number of hours, found {every_n_hours!r}")
        self.max_to_keep = max_to_keep or 0
        self._period = every_n_hours * 3600
        self._next_spared = now + self._period
        self._kept: list[tuple[str, float]] = []

    @property
    def prefixes(self) -> list[str]:
        """Those that are remembered, the oldest first."""
        return [prefix for prefix, _ in self._kept]

    @property
    def newest(self) -> list[str]:
        """Those of them that are not too many, the oldest first."""
        return self.prefixes[-self.max_to_keep :]

    def remember(self, checkpoints: Iterable[tuple[str, float]]) -> None:
        """Take over (prefix, seconds since 1970) of checkpoints, the oldest first, in place of what was remembered."""
        self._kept = list(checkpoints)

    def record(self, prefix: str, now: float) -> None:
        """Note that ``prefix`` was written just now."""
        if self.max_to_keep:
            self._kept = [*((p, t) for p, t in self._kept if p != prefix), (prefix, now)]

    def obsolete(self) -> list[str]:
        """The prefixes to delete, which are forgotten."""
        if not self.max_to_keep:
            return []
        excess, self._kept = self._kept[: -self.max_to_keep], self._kept[-self.max_to_keep :]
        return [old for old, written in excess if not self._is_spared(written)]

    def _is_spared(self, written: float) -> bool:
        if written <= self._next_spared:
            return False
        self._next_spared += self._period
        return True
