"""A training loop: turn after turn in a thread of its own, each with a claim where it makes an update."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Protocol

from pslab.data.batches import Batches
from pslab.errors import InternalError, OutOfRangeError, PslabError
from pslab.train.distances import ReplicaParameters
from pslab.train.participant import Participant
from pslab.train.places import DataPlace

GRACE_S = 0.02
"""Seconds in which a turn that makes no update may still take the answer to its last one."""
LOOK_S = 0.005
"""Seconds between two looks at whether a loop has ended."""
OUT_OF_DATA = "out of data"
"""The state of a loop that has made all its steps."""
CHIEFS = "chief"
"""The name of the loop that has no data of its own."""


class Turn(Protocol):
    """One step of a loop."""

    @property
    def participant(self) -> Participant:
        """How the loop takes part: claims updates, is cut short, leaves."""

    @property
    def replicas(self) -> list[ReplicaParameters]:
        """The replicas that it steps, as they came to their last commits."""

    @property
    def left(self) -> float:
        """How many steps there are data for: a whole number, or infinity."""

    def begin(self) -> None:
        """Do what is to be done before the first step, such as to read the parameters."""

    def take(self) -> bool:
        """Make a step; returns whether the next update is claimed already.

        Raises:
            OutOfRangeError: there is nothing to make it of, nor will there be.
        """


@dataclass(frozen=True)
class LoopStatus:
    """How a loop fares.

    Attributes:
        name: whose it is, such as ``"worker:1"``.
        state: ``"running"``, ``"waiting"`` for a claim, ``"out of data"``, ``"stopped"`` or ``"failed"``.
        steps: steps it made.
        error: why it failed, or None.
        places: how far its workers are in their data, where those come to an end.
    """

    name: str
    state: str
    steps: int
    error: PslabError | None
    places: tuple[DataPlace, ...] = ()

    @property
    def out(self) -> bool:
        """Whether it has ended because it is out of data."""
        return self.state == OUT_OF_DATA


class Loop:
    """Runs turns in a daemon thread until it is stopped or one fails.

    Args:
        name: whose loop it is.
        turn: what a turn does.
        makes_updates: whether its turns make updates, for which it needs claims. Where they do not, a stop cuts them short: their gradient is
            lost anyway.
        data: what it computes on, by worker.
    """

    def __init__(self, name: str, turn: Turn, makes_updates: bool = True, data: Mapping[int, Batches] | None = None) -> None:
        self.name = name
        self.makes_updates = makes_updates
        self._turn = turn
        self._data = {worker: batches for worker, batches in (data or {}).items() if batches.total < inf}
        self._stopping = threading.Event()
        self._waiting = False
        self._steps = 0
        self._out = False
        self._error: PslabError | None = None
        self._thread = threading.Thread(target=self._run, name=f"pslab loop of {name}", daemon=True)

    def begin(self) -> None:
        """Do what is to be done before the first turn."""
        self._turn.begin()

    def start(self) -> None:
        """Take turns."""
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
                self._turn.participant.cancel()
            self._thread.join(LOOK_S)

    @property
    def replicas(self) -> list[ReplicaParameters]:
        """The replicas that its turns step, as they came to their last commits."""
        return self._turn.replicas

    def status(self) -> LoopStatus:
        """How it fares now."""
        if self._error is not None:
            state = "failed"
        elif self._out:
            state = OUT_OF_DATA
        elif not self._thread.is_alive():
            state = "stopped"
        else:
            state = "waiting" if self._waiting else "running"
        in_flight = len(self._data) == 1 and not self._out  # among several towers, one that is out makes no step while others do
        places = tuple(DataPlace.of(worker, batches, in_flight) for worker, batches in self._data.items())
        return LoopStatus(self.name, state, self._steps, self._error, places)

    def _run(self) -> None:
        try:
            self._take_turns()
        except Exception as error:  # whatever it is, it ends the loop, and is told to whoever looks
            if not self._stopping.is_set():
                self._error = error if isinstance(error, PslabError) else InternalError(f"{self.name}: {type(error).__name__}: {error}")

    def _take_turns(self) -> None:
        granted = False
        with suppress(OutOfRangeError):
            while self._turn.left and not self._stopping.is_set():
                if not granted:
                    self._claim()
                    granted = True
                if self._stopping.is_set():
                    return
                granted = self._turn.take()
                self._steps += 1
        if not self._stopping.is_set():
            self._turn.participant.leave(granted)
            self._out = True

    def _claim(self) -> None:
        self._waiting = True
        try:
            self._turn.participant.claim()
        finally:
            self._waiting = False
