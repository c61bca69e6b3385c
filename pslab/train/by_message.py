"""What a trainer does one message at a time."""

from __future__ import annotations

import numpy as np

from pslab.errors import UsageError
from pslab.train.job import Gates
from pslab.train.replica_looks import ReplicaLooks
from pslab.train.stepping import Message, Passage, Stepper


class ByMessage(ReplicaLooks):
    """The part of a `Trainer` that lets one message in after the other; the training is paused then."""

    def messages(self) -> tuple[Message, ...]:
        """What waits at the gates of the ps."""
        with self._lock:
            return self._stepper().messages()

    def advance(self, worker: int | None = None) -> Passage:
        """Let one message in: the first that waits, or the first of ``worker``.

        Raises:
            UsageError: there is no such worker, or the mode has no ps at which messages could wait.
            FailedPreconditionError: none of that worker can come: it waits for slower ones.
        """
        with self._lock:
            return self._stepper().advance(worker)

    def _stepper(self) -> Stepper:
        if self._strategy.resident:
            raise UsageError(f"{self._strategy} has no ps at which messages could wait", "choose async, ssp or sync")
        self._check_data()
        self._crew.begin(self._strategy, gates=Gates.MESSAGES)
        self._crew.limit(np.iinfo(np.int64).max)
        self._set_state("paused")
        return self._crew.stepper()
