"""The client's turn, where one graph has the towers of all workers."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from pslab.data.batches import Batches
from pslab.graph.tensor import Tensor
from pslab.runtime.session import Session, Step
from pslab.train.distances import ReplicaParameters
from pslab.train.divergence import relative_distance
from pslab.train.in_graph import TowersGraph, TowersStep
from pslab.train.observer import Observer
from pslab.train.participant import Participant
from pslab.train.reading import Supply
from pslab.train.step_recorder import StepRecorder


class TowersTurn:
    """The client's step of some towers.

    Attributes:
        replicas: the towers as they came to their last commits; their parameters are not here, but where they were read (`pslab.sync.last_read_ops`).
    """

    def __init__(
        self, graph: TowersGraph, step: TowersStep, session: Session, batches: Sequence[Batches], supply: Supply, records: Sequence[StepRecorder]
    ) -> None:
        self._batches = batches
        self._supply = supply
        self._records = records
        self._workers = step.workers
        self._takes = [tower.source.take for tower in step.towers]
        self._sources = [tower.source for tower in step.towers]
        self._metrics = len(step.towers[0].metrics)
        values = [t for tower in step.towers for t in (tower.loss, *tower.metrics.values())]
        fetches: list[Tensor] = [step.staleness, step.next_step, step.granted, *values]
        self._plain: Step = session.prepare([*fetches, *step.further], step.feeds)
        self._observed: Step = session.prepare([*fetches, *step.distances, *step.further], step.feeds)
        self.participant = Participant(session, graph.claim, step.leaving)
        self._fetched = len(fetches)
        self.replicas: list[ReplicaParameters] = []
        self._observer = Observer(perf_counter())
        self._begin = session.prepare(list(step.begin), [])

    def begin(self) -> None:
        """Have the batches supplied, and the towers' own state begin."""
        for source, batches in zip(self._sources, self._batches, strict=True):
            self._supply.begin(source, batches)
        self._begin.run(())

    @property
    def left(self) -> float:
        """How many batches are to come for all of these towers."""
        return min(batches.left for batches in self._batches)

    def take(self) -> bool:
        """One step of the towers."""
        feeds = [array for take, batches in zip(self._takes, self._batches, strict=True) for array in take(batches)]
        began = perf_counter()
        observed = self._observer.due(began)
        with self._supply.explained():
            result = (self._observed if observed else self._plain).run(feeds)
        stale, next_step, granted, *values = result.values[: self._fetched]
        divergence = relative_distance(result.values[self._fetched :]) if observed else np.nan
        self.replicas = [ReplicaParameters(f"worker:{worker}", int(next_step), {}, {}) for worker in self._workers]
        width, paused_ns = self._metrics + 1, self.participant.waited_ns()
        for i, (worker, records) in enumerate(zip(self._workers, self._records, strict=True)):
            loss, *metrics = values[i * width : (i + 1) * width]
            times = result.times[f"worker:{worker}"]
            times.wait += times.idle  # the worker waits for its client, and through it for the others
            records.record(int(next_step), loss, metrics, times, staleness=int(stale), divergence=divergence, paused_ns=paused_ns, observed=observed)
        self._observer.note(began, perf_counter(), observed)
        return bool(granted)
