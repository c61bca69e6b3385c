"""What a trainer does one message at a time."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from pslab.errors import OpError, UsageError
from pslab.train.job import Gates
from pslab.train.race import Message, Race
from pslab.train.replica_looks import ReplicaLooks
from pslab.train.stepping import Passage, Stepper
from pslab.train.strategy import Replication

MEASURED_ON = 256
"""Test examples that the loss is taken on after each message."""


class ByMessage(ReplicaLooks):
    """The part of a `Trainer` that lets one message in after the other; the training is paused then."""

    _race: Race | None = None

    def messages(self) -> tuple[Message, ...]:
        """What waits at the gates of the ps."""
        with self._lock:
            return self._begin_race().messages()

    def advance(self, worker: int | None = None, ps: int | None = None) -> Passage:
        """Let one message in: the first that waits, or the first of ``worker``, or at ``ps``.

        Raises:
            UsageError: there is no such worker or ps, or the mode has no messages that could wait.
            FailedPreconditionError: none of that worker can come: it waits for others.
        """
        with self._lock:
            stepper = self._begin_race()
            passage = stepper.advance(worker, ps)
            self._measure(stepper)
            self._race = stepper.seen
            return passage

    def race(self) -> Race | None:
        """What has happened message by message, in the race that is on or was last; None if there was none. Waits for nobody who is at work."""
        if self._lock.acquire(blocking=False):
            try:
                stepper = self._crew.stepper
                with suppress(OpError):  # of a task that was lost, the last that was seen
                    if stepper is not None:
                        self._race = stepper.race()
                    elif self._race is not None and self._race.live:
                        self._race = replace(self._race, live=False)
            finally:
                self._lock.release()
        return self._race

    def _begin_race(self) -> Stepper:
        if self._strategy.resident:
            raise UsageError(f"{self._strategy} has no ps at which messages could wait", "choose async, ssp or sync")
        if self._strategy.gathered and self._strategy.replication is Replication.IN_GRAPH:
            raise UsageError(f"{self._strategy} has one step of all towers, of which none can be first", "choose async, or replicate between graphs")
        self._check_data()
        before = self._crew.stepper
        self._crew.begin(self._strategy, gates=Gates.MESSAGES)
        self._crew.limit(np.iinfo(np.int64).max)
        self._set_state("paused")
        stepper = self._crew.stepper
        assert stepper is not None
        if stepper is not before:
            self._measure(stepper)
            self._race = stepper.race()
        return stepper

    def _measure(self, stepper: Stepper) -> None:
        x, y = self._dataset.x_test[:MEASURED_ON], self._dataset.y_test[:MEASURED_ON]
        stepper.measured(*self._crew.ask("measure", x=x, y=y))
