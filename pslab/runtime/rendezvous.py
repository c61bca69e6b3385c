"""Where tensors that other tasks sent wait for the step that needs them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from pslab.errors import AbortedError, CancelledError

POLL_S = 0.1
"""Seconds between two looks at whether a waiter's client is still there."""


class StepKey(NamedTuple):
    """One run of one plan."""

    plan: int
    step: int


class Rendezvous:
    """A meeting place of arrays and their receivers, by step and cut. Either may come first."""

    def __init__(self) -> None:
        self._arrived: dict[tuple[StepKey, int], tuple[Any, ...] | str] = {}
        self._dead: deque[StepKey] = deque(maxlen=1024)
        self._changed = threading.Condition()

    def put(self, step: StepKey, cut: int, arrays: tuple[Any, ...]) -> None:
        """Leave the arrays of a cut."""
        self._leave(step, cut, arrays)

    def put_failure(self, step: StepKey, cut: int, reason: str) -> None:
        """Tell the receiver of a cut that it will not come."""
        self._leave(step, cut, reason)

    def _leave(self, step: StepKey, cut: int, what: tuple[Any, ...] | str) -> None:
        with self._changed:
            if step not in self._dead:
                self._arrived[step, cut] = what
                self._changed.notify_all()

    def take(self, step: StepKey, cut: int, alive: Callable[[], bool]) -> tuple[Any, ...]:
        """Wait for the arrays of a cut.

        Raises:
            AbortedError: the sender's part of the step failed.
            CancelledError: ``alive`` says that nobody wants the step any more.
        """
        key = (step, cut)
        with self._changed:
            while key not in self._arrived:
                if not self._changed.wait(POLL_S) and not alive():
                    raise CancelledError("the step's client went away")
            found = self._arrived.pop(key)
        if isinstance(found, str):
            raise AbortedError(found)
        return found

    def forget(self, step: StepKey) -> None:
        """Drop what arrived, and what may yet arrive, for a step that was given up."""
        with self._changed:
            self._dead.append(step)
            for key in [k for k in self._arrived if k[0] == step]:
                del self._arrived[key]
