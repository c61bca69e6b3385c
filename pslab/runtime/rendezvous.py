"""Where tensors that other tasks sent wait for the step that needs them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from pslab.errors import CancelledError

POLL_S = 0.1
"""Seconds between two looks at whether a waiter's client is still there."""


class StepKey(NamedTuple):
    """One run of one plan."""

    plan: int
    step: int


class Rendezvous:
    """A meeting place of arrays and their receivers, by step and cut. Either may come first."""

    def __init__(self) -> None:
        self._arrived: dict[tuple[StepKey, int], tuple[tuple[Any, ...], int]] = {}
        self._dead: deque[StepKey] = deque(maxlen=1024)
        self._changed = threading.Condition()

    def put(self, step: StepKey, cut: int, arrays: tuple[Any, ...], size: int) -> None:
        """Leave the arrays of a cut, which took ``size`` bytes on the wire."""
        with self._changed:
            if step not in self._dead:
                self._arrived[step, cut] = arrays, size
                self._changed.notify_all()

    def take(self, step: StepKey, cut: int, alive: Callable[[], bool]) -> tuple[tuple[Any, ...], int]:
        """Wait for the arrays of a cut; returns them and the bytes they took.

        Raises:
            CancelledError: ``alive`` says that nobody wants the step any more.
        """
        key = (step, cut)
        with self._changed:
            while key not in self._arrived:
                if not self._changed.wait(POLL_S) and not alive():
                    raise CancelledError("the step was given up")
            return self._arrived.pop(key)

    def forget(self, step: StepKey) -> None:
        """Drop what arrived, and what may yet arrive, for a step that was given up."""
        with self._changed:
            self._dead.append(step)
            for key in [k for k in self._arrived if k[0] == step]:
                del self._arrived[key]
