"""What a trainer is asked about its replicas."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from pslab.errors import FailedPreconditionError, UnavailableError
from pslab.train.crew import PATIENCE_S
from pslab.train.distances import Distance, ReplicaParameters
from pslab.train.divergence_history import Look
from pslab.train.merge_gap import MergeGap
from pslab.train.model_session import CHUNK
from pslab.train.replica_view import ReplicaView
from pslab.train.trained_model import TrainedModel


class ReplicaLooks(TrainedModel):
    """The part of a `Trainer` that compares its replicas."""

    _view: ReplicaView

    def replicas(self) -> list[ReplicaParameters]:
        """The replicas as they came to their last commits; of a pause where all take part in each update, to the last update.

        Raises:
            FailedPreconditionError: there are none: nothing was trained, or the training was stopped.
        """
        with self._lock:
            self._come_together()
            return self._view.replicas()

    def divergence(self) -> list[Distance]:
        """How far the replicas are from the parameters on the ps and from each other, as `replicas` are."""
        with self._lock:
            self._come_together()
            return self._view.divergence()

    def divergence_history(self) -> Sequence[Look]:
        """How far they were, looked at now and then while it trained."""
        return self._view.looks

    def merge_gap(self, chunk: int = CHUNK) -> MergeGap:
        """What averaging the replicas does to the loss on the test set, ``chunk`` examples at a time, as `replicas` are."""
        with self._lock:
            self._come_together()
            return self._view.merge_gap(chunk)

    def _come_together(self) -> None:
        """Wait until the replicas have the answers to their commits, where nothing goes on."""
        if self._crew.active and self._state != "running" and self._strategy.in_step:
            self._until(self._view.together, PATIENCE_S, "the replicas")

    def _inspect(self) -> None:
        ran = self._state == "running"
        super()._inspect()
        if ran and self._crew.active:
            with suppress(UnavailableError, FailedPreconditionError):  # a task that is lost, or came back with nothing, is told at the next look
                self._view.sample()
