"""What the loops of the modes without a parameter server do in a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter_ns

import numpy as np

from pslab.data.batches import Batches
from pslab.runtime.session import Session
from pslab.train.distances import ReplicaParameters
from pslab.train.job import Job
from pslab.train.leaving import Exit
from pslab.train.pipeline import PipelineGraph
from pslab.train.reading import Supply
from pslab.train.ring import RingGraph
from pslab.train.turns import StepRecorder


class RingTurn:
    """A worker's step in the ring: compute, exchange, update its own copy.

    Where one worker computes long, or the one that claims the updates is not granted any, all others wait for what it sends.
    """

    def __init__(self, graph: RingGraph, session: Session, job: Job, batches: Batches, supply: Supply, records: StepRecorder) -> None:
        worker, tower = graph.replica.worker, graph.replica.tower
        self.replicas: list[ReplicaParameters] = []
        self._session = session
        self._batches = batches
        self._supply = supply
        self._records = records
        self._task, self._right = f"worker:{worker}", f"worker:{(worker + 1) % job.workers}"
        self._take = tower.source.take
        supply.begin(tower.source, batches)
        granted = [] if graph.granted is None else [graph.granted]
        self._metrics = len(tower.metrics)
        self._step = session.prepare([graph.next_step, graph.stood, *graph.results, *granted, *graph.pushes], graph.feeds)
        self._claim = None if graph.claim is None else session.prepare([graph.claim], [])
        self._exit = Exit(session, graph.leaving)
        self._paused = 0

    @property
    def left(self) -> float:
        """How many batches are to come."""
        return self._batches.left

    def leave(self, claimed: bool) -> None:
        """Give back what is claimed. The others cannot go on without this worker: whoever steers the training ends it."""
        self._exit.take(claimed and self._claim is not None)

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
        self._records.record(int(next_step), loss, rest[: self._metrics], times, staleness=0, paused_ns=min(int(stood), times.wait))
        return self._claim is None or bool(rest[self._metrics])

    def cancel(self) -> None:
        """Give up the step in flight."""
        self._session.cancel()


class PipelineTurn:
    """The client's step of a pipeline: the workers' batches of a step, as one."""

    def __init__(self, graph: PipelineGraph, session: Session, batches: Sequence[Batches], records: Mapping[int, StepRecorder]) -> None:
        self.replicas: list[ReplicaParameters] = []
        self._session = session
        self._batches = batches
        self._records = records
        self._step = session.prepare([graph.next_step, graph.granted, graph.loss, *graph.metrics.values()], graph.feeds)
        self._claim = session.prepare([graph.claim], [])
        self._exit = Exit(session, graph.leaving)
        self._paused = 0

    @property
    def left(self) -> float:
        """How many whole batches are to come: each is cut into microbatches that were weighed when the graph was built."""
        return min(batches.whole for batches in self._batches)

    def leave(self, claimed: bool) -> None:
        """Give back what is claimed."""
        self._exit.take(claimed)

    def claim(self) -> None:
        """Wait for a claim."""
        began = perf_counter_ns()
        self._claim.run(())
        self._paused = perf_counter_ns() - began

    def take(self) -> bool:
        """One step."""
        xs, ys = zip(*map(next, self._batches), strict=True)
        result = self._step.run((np.concatenate(xs), np.concatenate(ys)))
        next_step, granted, loss, *metrics = result.values
        for worker, records in self._records.items():
            times = result.times[f"worker:{worker}"]
            times.wait += times.idle  # the worker waits for its client
            records.record(int(next_step), loss, metrics, times, staleness=0, paused_ns=self._paused)
        self._paused = 0
        return bool(granted)

    def cancel(self) -> None:
        """Give up the step in flight."""
        self._session.cancel()
