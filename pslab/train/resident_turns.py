"""What the loops of the modes without a parameter server do in a turn."""

from __future__ import annotations

from time import perf_counter_ns

import numpy as np

from pslab.data.batches import Batches
from pslab.runtime.session import Session
from pslab.train.job import Job
from pslab.train.reading import Supply
from pslab.train.ring import RingGraph
from pslab.train.turns import StepRecorder


class RingTurn:
    """A worker's step in the ring: compute, exchange, update its own copy.

    Where one worker computes long, or the one that claims the updates is not granted any, all others wait for what it sends.
    """

    def __init__(self, graph: RingGraph, session: Session, job: Job, batches: Batches, supply: Supply, records: StepRecorder) -> None:
        worker, tower = graph.replica.worker, graph.replica.tower
        self._session = session
        self._batches = batches
        self._supply = supply
        self._records = records
        self._task, self._right = f"worker:{worker}", f"worker:{(worker + 1) % job.workers}"
        self._take = tower.source.take
        supply.begin(tower.source, batches)
        granted = [] if graph.granted is None else [graph.granted]
        self._metrics = len(tower.metrics)
        self._step = session.prepare([graph.next_step, graph.stood, tower.loss, *tower.metrics.values(), *granted, *graph.pushes], graph.feeds)
        self._claim = None if graph.claim is None else session.prepare([graph.claim], [])
        self._paused = 0

    def claim(self) -> None:
        """Wait for a claim, where this worker claims for all."""
        if self._claim is not None:
            began = perf_counter_ns()
            self._claim.run(())
            self._paused = perf_counter_ns() - began

    def take(self) -> bool:
        """One step."""
        with self._supply.explained():
            result = self._step.run((*self._take(self._batches), np.asarray(self._paused, np.int64)))
        next_step, stood, loss, *rest = result.values
        times = result.times[self._task]
        times.wait += self._paused
        if self._right != self._task:
            times.bytes_received += result.times[self._right].bytes_received  # as much as comes from the left neighbour, whose step it is a part of
        self._paused = 0
        self._records.record(int(next_step), loss, rest[: self._metrics], 0, np.nan, times, min(int(stood), times.wait), False)
        return self._claim is None or bool(rest[self._metrics])

    def cancel(self) -> None:
        """Give up the step in flight."""
        self._session.cancel()
