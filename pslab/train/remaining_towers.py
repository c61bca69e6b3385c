"""The towers of one step while they have data: each time some run out, the step is built anew for those that remain."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pslab.data.batches import Batches
from pslab.train.distances import ReplicaParameters
from pslab.train.in_graph import TowersGraph, TowersStep, sync_towers
from pslab.train.job import Job
from pslab.train.participant import Participant
from pslab.train.towers_turn import TowersTurn


class RemainingTowers:
    """The client's step of all towers that have data.

    A step of fewer towers is another graph. What compression has kept back in the one before is given up, as at a change of mode.

    Args:
        job: the job.
        data: the batches of each worker.
        turn_of: a turn of a graph's step.
    """

    def __init__(self, job: Job, data: Mapping[int, Batches], turn_of: Callable[[TowersGraph, TowersStep], TowersTurn]) -> None:
        self._job = job
        self._data = data
        self._turn_of = turn_of
        self._workers = self._with_data() or list(data)
        self._turn = self._build()

    def _with_data(self) -> list[int]:
        return [worker for worker, batches in self._data.items() if batches.left]

    def _build(self) -> TowersTurn:
        graph = sync_towers(self._job, self._workers)
        return self._turn_of(graph, graph.steps[0])

    def begin(self) -> None:
        """Begin with the towers that have data by now."""
        self._leave_out()
        self._turn.begin()

    @property
    def participant(self) -> Participant:
        """The turn's of the towers that remain."""
        return self._turn.participant

    @property
    def replicas(self) -> list[ReplicaParameters]:
        """Those of the towers that remain."""
        return self._turn.replicas

    @property
    def left(self) -> float:
        """How many steps there are data for, in one tower at least."""
        return max(batches.left for batches in self._data.values())

    def take(self) -> bool:
        """One step of the towers that have data for it."""
        if self._leave_out():
            self._turn.begin()
        return self._turn.take()

    def _leave_out(self) -> bool:
        """Build the step anew where it has other towers than there are data for; whether it was."""
        remaining = self._with_data() or self._workers
        if remaining == self._workers:
            return False
        self._workers = remaining
        self._turn = self._build()
        return True
