"""The replicas of a training, seen from outside."""

from __future__ import annotations

from collections.abc import Sequence

from pslab.data.partitions import DataSource
from pslab.errors import FailedPreconditionError
from pslab.train.crew import Crew
from pslab.train.distances import Distance, ReplicaParameters, distances, mean_of
from pslab.train.divergence_history import DivergenceHistory, Look
from pslab.train.merge_gap import MergeGap


class ReplicaView:
    """Compares the replicas with each other and with the parameters on the ps.

    Args:
        crew: the tasks.
        dataset: whose test set losses are taken on.
    """

    def __init__(self, crew: Crew, dataset: DataSource) -> None:
        self._crew = crew
        self._dataset = dataset
        self._history = DivergenceHistory()

    @property
    def looks(self) -> Sequence[Look]:
        """What was seen while it trained, by time."""
        return list(self._history.looks)

    def forget(self) -> None:
        """Begin the history anew."""
        self._history = DivergenceHistory()

    def sample(self) -> None:
        """Look for the history, if that can be afforded now; the epoch is on."""
        self._history.look(len(self._crew.strategies) - 1, self._see)

    def replicas(self) -> list[ReplicaParameters]:
        """The replicas as they came to their last commits.

        Raises:
            FailedPreconditionError: there are none.
        """
        found = self._crew.replicas()
        if not found:
            raise FailedPreconditionError("no replica has come to a commit in this mode", "train first; a stopped training has no replicas left")
        return found

    def divergence(self) -> list[Distance]:
        """The distances of the replicas as they are now.

        Raises:
            FailedPreconditionError: there are none.
        """
        return distances(self.replicas(), self._crew.ask("parameters"))

    def merge_gap(self, chunk: int) -> MergeGap:
        """What averaging the replicas does to the loss on the test set, ``chunk`` examples at a time.

        Raises:
            FailedPreconditionError: there are none.
        """
        replicas = self.replicas()
        points = [*(r.arrived for r in replicas), mean_of(replicas)]
        *losses, average = self._crew.ask("losses", points=points, x=self._dataset.x_test, y=self._dataset.y_test, chunk=chunk)
        workers = [r.worker for r in replicas]
        steps = {r.worker: r.global_step for r in replicas}
        return MergeGap(steps, dict(zip(workers, losses, strict=True)), average)

    def together(self) -> bool:
        """Whether all replicas that are not out of data have come to the last update, and have its answer."""
        self._crew.loops()
        gone = [f"worker:{worker}" for worker in self._crew.places.out()]
        return all(r.worker in gone or r.global_step == self._crew.progress.global_step for r in self._crew.replicas())

    def _see(self) -> tuple[int, Sequence[Distance]]:
        replicas = self._crew.replicas()
        if not replicas:
            return 0, ()
        return max(r.global_step for r in replicas), distances(replicas, self._crew.ask("parameters"))
