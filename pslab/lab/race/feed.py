"""What a race's front ends are told: all of it where something has changed; it is small."""

from __future__ import annotations

import math
from typing import Any

from pslab.lab.language import language
from pslab.lab.panel.desk import Desk
from pslab.lab.race.scene import scene
from pslab.train.race import Race

BEAT_S = 1.0
"""Seconds after which something is said even if nothing has changed: who hears nothing knows that the kernel is gone."""


class RaceFeed:
    """Looks at a lab and its desk.

    Args:
        desk: the desk of the race.

    Attributes:
        race: what was seen last.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.race: Race | None = None
        self._scene: dict[str, Any] | None = None
        self._language = language()
        self._told: dict[str, Any] = {}
        self._whole = True
        self._due = -math.inf

    def begin_anew(self) -> None:
        """Let the next message be the whole picture."""
        self._whole = True

    def next(self, clock: float) -> dict[str, Any] | None:
        """The entries that have changed; None if none has, and something was said of late.

        Args:
            clock: seconds, of any origin.
        """
        state = self._state()
        whole, self._whole = self._whole, False
        changes = {name: value for name, value in state.items() if whole or self._told.get(name, _NOTHING) != value}
        self._told = state
        if not changes and clock < self._due:
            return None
        self._due = clock + BEAT_S
        return changes

    def _state(self) -> dict[str, Any]:
        lab, desk = self._desk.lab, self._desk
        trainer = lab.trainer
        race = trainer.race() if trainer is not None else None
        if (race, language()) != (self.race, self._language):
            self.race, self._language, self._scene = race, language(), None if race is None else scene(race)
        return {
            "scene": self._scene,
            "strategy": str(lab.strategy),
            "training": trainer.seen().state if trainer is not None else "idle",
            "pending": desk.pending,
            "refusal": desk.refusal and desk.refusal._asdict(),
        }


_NOTHING = object()
