"""Marks: where in the training something was changed, whoever changed it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

KEPT = 40
"""Marks at most; the oldest go."""


class Mark(NamedTuple):
    """A change.

    Attributes:
        step: the global step at which it was seen.
        time: Unix time at which it was seen.
        words: what is in force since.
    """

    step: int
    time: float
    words: str


class Marks:
    """Compares what is in force with what was."""

    def __init__(self) -> None:
        self._in_force: Mapping[str, str] = {}
        self._marks: deque[Mark] = deque(maxlen=KEPT)

    def see(self, step: int, time: float, settings: Mapping[str, str]) -> bool:
        """Look at the settings in force, by name and in words; returns whether there is a new mark. The first look makes none, nor does a new name."""
        words = [said for name, said in settings.items() if said and self._in_force.get(name, said) != said]
        self._in_force = settings
        return self._add(step, time, words)

    def reword(self, settings: Mapping[str, str]) -> None:
        """Take the same settings in the words of another language: nothing has changed."""
        self._in_force = settings

    def note(self, step: int, time: float, words: str) -> None:
        """Mark something that is no setting."""
        self._add(step, time, [words])

    def _add(self, step: int, time: float, words: list[str]) -> bool:
        if words:
            self._marks.append(Mark(step, time, ", ".join(words)))
        return bool(words)

    def cut(self, step: int) -> None:
        """Forget marks after a global step: a training has gone back to it."""
        self._marks = deque((mark for mark in self._marks if mark.step <= step), maxlen=KEPT)

    def all(self) -> list[Mark]:
        """The marks, oldest first."""
        return list(self._marks)
