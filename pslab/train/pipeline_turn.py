"""The client's turn of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pslab.data.batches import Batches
from pslab.runtime.session import Session
from pslab.train.distances import ReplicaParameters
from pslab.train.participant import Participant
from pslab.train.pipeline import PipelineGraph
from pslab.train.step_recorder import StepRecorder


class PipelineTurn:
    """The client's step of a pipeline: the workers' batches of a step, as one."""

    def __init__(self, graph: PipelineGraph, session: Session, batches: Sequence[Batches], records: Mapping[int, StepRecorder]) -> None:
        self.replicas: list[ReplicaParameters] = []
        self._batches = batches
        self._records = records
        self._step = session.prepare([graph.next_step, graph.granted, graph.loss, *graph.metrics.values()], graph.feeds)
        self.participant = Participant(session, graph.claim, graph.leaving)

    def begin(self) -> None:
        """Nothing: its batches are fed, and the parameters are where they are."""

    @property
    def left(self) -> float:
        """How many whole batches are to come: each is cut into microbatches that were weighed when the graph was built."""
        return min(batches.whole for batches in self._batches)

    def take(self) -> bool:
        """One step."""
        xs, ys = zip(*map(next, self._batches), strict=True)
        result = self._step.run((np.concatenate(xs), np.concatenate(ys)))
        next_step, granted, loss, *metrics = result.values
        paused_ns = self.participant.waited_ns()
        for worker, records in self._records.items():
            times = result.times[f"worker:{worker}"]
            times.wait += times.idle  # the worker waits for its client
            records.record(int(next_step), loss, metrics, times, staleness=0, paused_ns=paused_ns)
        return bool(granted)
