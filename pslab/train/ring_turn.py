"""A worker's turn in a ring."""

from __future__ import annotations

import numpy as np

from pslab.data.batches import Batches
from pslab.runtime.session import Session
from pslab.train.distances import ReplicaParameters
from pslab.train.job import Job
from pslab.train.participant import Participant
from pslab.train.reading import Supply
from pslab.train.ring import RingGraph
from pslab.train.step_recorder import StepRecorder


class RingTurn:
    """A worker's step in the ring: compute, exchange, update its own copy.

    Where one worker computes long, or the one that claims the updates is not granted any, all others wait for what it sends.
    """

    def __init__(self, graph: RingGraph, session: Session, job: Job, batches: Batches, supply: Supply, records: StepRecorder) -> None:
        worker, tower = graph.replica.worker, graph.replica.tower
        self.replicas: list[ReplicaParameters] = []
        self._batches = batches
        self._supply = supply
        self._records = records
        self._task, self._right = f"worker:{worker}", f"worker:{(worker + 1) % job.workers}"
        self._source, self._take = tower.source, tower.source.take
        granted = [] if graph.granted is None else [graph.granted]
        self._metrics = len(tower.metrics)
        self._step = session.prepare([graph.next_step, graph.stood, *graph.results, *granted, *graph.pushes], graph.feeds)
        self.participant = Participant(session, graph.claim, graph.leaving)

    def begin(self) -> None:
        """Have the batches supplied."""
        self._supply.begin(self._source, self._batches)

    @property
    def left(self) -> float:
        """How many batches are to come."""
        return self._batches.left

    def take(self) -> bool:
        """One step."""
        paused_ns = self.participant.waited_ns()
        with self._supply.explained():
            result = self._step.run((*self._take(self._batches), np.asarray(paused_ns, np.int64)))
        next_step, stood, loss, *rest = result.values
        times = result.times[self._task]
        times.wait += paused_ns
        if self._right != self._task:
            times.bytes_received += result.times[self._right].bytes_received  # as much as comes from the left neighbour, whose step it is a part of
        self._records.record(int(next_step), loss, rest[: self._metrics], times, staleness=0, paused_ns=min(int(stood), times.wait))
        return not self.participant.claims or bool(rest[self._metrics])
