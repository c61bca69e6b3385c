"""What a trainer is asked about its parameters and its replicas."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pslab.data.partitions import DataSource
from pslab.train.crew import PATIENCE_S, Crew
from pslab.train.distances import Distance, ReplicaParameters
from pslab.train.divergence_history import Look
from pslab.train.merge_gap import MergeGap
from pslab.train.model_session import CHUNK
from pslab.train.replica_view import ReplicaView
from pslab.train.strategy import Strategy


class ReplicaLooks:
    """The part of a `Trainer` that looks at its parameters, and compares its replicas."""

    _crew: Crew
    _dataset: DataSource
    _lock: threading.RLock
    _state: str
    _strategy: Strategy
    _view: ReplicaView

    def _until(self, true: Callable[[], bool], timeout: float | None, what: str) -> None:
        raise NotImplementedError

    def evaluate(self, chunk: int = CHUNK) -> dict[str, float]:
        """Loss and metrics on the test set, with the present parameters; ``chunk`` examples at a time."""
        return self._crew.ask("evaluate", x=self._dataset.x_test, y=self._dataset.y_test, chunk=chunk)  # type: ignore[no-any-return]

    def parameters(self) -> dict[str, np.ndarray[Any, Any]]:
        """The present values of the trained variables, by name."""
        return self._crew.ask("parameters")  # type: ignore[no-any-return]

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
