"""A training loop: turn after turn in a thread of its own, each with a claim where it makes an update."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from pslab.errors import InternalError, PslabError
from pslab.train.distances import ReplicaParameters

GRACE_S = 0.02
"""Seconds in which a turn that makes no update may still take the answer to its last one."""
LOOK_S = 0.005
"""Seconds between two looks at whether a loop has ended."""


class Turn(Protocol):
    """One step of a loop."""

    @property
    def replicas(self) -> list[ReplicaParameters]:
        """The replicas that it steps, as they came to their last commits."""

    def claim(self) -> None:
        """Wait until the next update may be made, and claim it."""

    def take(self) -> bool:
        """Make a step; returns whether the next update is claimed already."""

    def cancel(self) -> None:
        """Give up what runs, from another thread."""


@dataclass(frozen=True)
class LoopStatus:
    """How a loop fares.

    Attributes:
        name: whose it is, such as ``"worker:1"``.
        state: ``"running"``, ``"waiting"`` for a claim, ``"stopped"`` or ``"failed"``.
        steps: steps it made.
        error: why it failed, or None.
    """

    name: str
    state: str
    steps: int
    error: PslabError | None


class Loop:
    """Runs turns in a daemon thread until it is stopped or one fails.

    Args:
        name: whose loop it is.
        turn: what a turn does.
        makes_updates: whether its turns make updates, for which it needs claims. Where they do not, a stop cuts them short: their gradient is
            lost anyway.
    """

    def __init__(self, name: str, turn: Turn, makes_updates: bool = True) -> None:
        self.name = name
        self.makes_updates = makes_updates
        self._turn = turn
        self._stopping = threading.Event()
        self._waiting = False
        self._steps = 0
        self._error: PslabError | None = None
        self._thread = threading.Thread(target=self._run, name=f"pslab loop of {name}", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, patience: float) -> None:
        """End after the turn in flight; where it only waits, now. Returns when the loop has ended.

        Args:
            patience: seconds after which a turn in flight is given up.
        """
        self._stopping.set()
        deadline = monotonic() + (patience if self.makes_updates else GRACE_S)
        while self._thread.is_alive():
            if self._waiting or monotonic() > deadline:
                self._turn.cancel()
            self._thread.join(LOOK_S)

    @property
    def replicas(self) -> list[ReplicaParameters]:
        """The replicas that its turns step, as they came to their last commits."""
        return self._turn.replicas

    def status(self) -> LoopStatus:
        """How it fares now."""
        if self._error is not None:
            state = "failed"
        elif not self._thread.is_alive():
            state = "stopped"
        else:
            state = "waiting" if self._waiting else "running"
        return LoopStatus(self.name, state, self._steps, self._error)

    def _run(self) -> None:
        granted = False
        try:
            while not self._stopping.is_set():
                if not granted:
                    self._claim()
                if self._stopping.is_set():
                    return
                granted = self._turn.take()
                self._steps += 1
        except Exception as error:  # whatever it is, it ends the loop, and is told to whoever looks
            if not self._stopping.is_set():
                self._error = error if isinstance(error, PslabError) else InternalError(f"{self.name}: {type(error).__name__}: {error}")

    def _claim(self) -> None:
        self._waiting = True
        try:
            self._turn.claim()
        finally:
            self._waiting = False
