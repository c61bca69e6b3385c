"""A between-graph worker's turn."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from pslab.data.batches import Batches
from pslab.errors import CancelledError
from pslab.graph.tensor import Tensor
from pslab.runtime.session import Session, Step
from pslab.train.between_graph import ReplicaGraph
from pslab.train.distances import ReplicaParameters
from pslab.train.divergence import relative_distance
from pslab.train.job import CHIEF, Job
from pslab.train.observer import Observer
from pslab.train.participant import Participant
from pslab.train.reading import Supply
from pslab.train.step_recorder import StepRecorder


class ReplicaTurn:
    """A between-graph worker's way from one commit to the next: compute at the parameters it has, push, be answered with the next parameters.

    Args:
        graph: the worker's graph.
        session: of that graph.
        batches: what it computes on.
        supply: what brings the batches.
        records: where its steps are written.
        task: its name.
        job: what it takes part in.
    """

    def __init__(self, graph: ReplicaGraph, session: Session, batches: Batches, supply: Supply, records: StepRecorder, task: str, job: Job) -> None:
        self._batches = batches
        self._supply = supply
        self._records = records
        self._task = task
        self._names = [v.op.name for v in graph.replica.variables]
        self._commit_every = job.strategy.commit_every
        tower = graph.replica.tower
        self._source, self._take = tower.source, tower.source.take
        self._seen = [tower.loss, *tower.metrics.values()]
        known = [graph.staleness, graph.next_step, graph.paused_ns, *_optional(graph.granted), *_optional(graph.torn), *self._seen]
        self._may_tear, self._steps_apart = graph.torn is not None, bool(graph.local)
        self._parameters = len(graph.next_parameters)
        fetches = [*known, *graph.next_parameters, *(graph.arrived if self._steps_apart else ())]
        self._known, self._fetched = len(known), len(fetches)
        self._plain = session.prepare([*fetches, *graph.further], graph.feeds)
        self._observed = session.prepare([*fetches, *graph.distances, *graph.further], graph.feeds)
        self._local = session.prepare([*self._seen, *graph.local, *graph.local_ops], graph.feeds) if self._commit_every > 1 else None
        self.participant = Participant(session, graph.claim, graph.leaving)
        self._observer = Observer(perf_counter(), job.workers)
        self._prepare = session.prepare(list(graph.prepare), []) if task == CHIEF else None
        self._pull = session.prepare([*graph.pull, *graph.pull_ops], [])

    def begin(self) -> None:
        """Have the batches supplied, and read the first parameters; the chief prepares the ps before."""
        if self._prepare is not None:
            self._prepare.run(())
        self._supply.begin(self._source, self._batches)
        read_step, paused, *self._held = self._pull.run(()).values
        self._read_step, self._paused_ns = np.asarray(read_step), int(paused)
        self._came: tuple[Any, Sequence[Any], Sequence[Any]] = (read_step, self._held, self._held)

    @property
    def left(self) -> float:
        """How many batches are to come."""
        return self._batches.left

    def take(self) -> bool:
        """All steps to the next commit: the last round is as long as there are batches for it."""
        base = self._held
        if self._local is not None:
            for _ in range(int(min(self._commit_every, self.left)) - 1):
                if self.participant.cancelled:
                    raise CancelledError(f"{self._task} was stopped before it came to its next commit")
                self._step_apart(self._local)
        return self._commit(base)

    def _step_apart(self, step: Step) -> None:
        with self._supply.explained():
            result = step.run((*self._take(self._batches), self._read_step, *self._held))
        loss, *metrics = result.values[: len(self._seen)]
        if self._steps_apart:
            self._held = list(result.values[len(self._seen) :])
        self._records.record(int(self._read_step), loss, metrics, result.times[self._task])

    def _commit(self, base: Sequence[Any]) -> bool:
        batch = self._take(self._batches)
        began = perf_counter()
        observed = self._observer.due(began)
        with self._supply.explained():
            result = (self._observed if observed else self._plain).run((*batch, self._read_step, *self._held))
        stale, next_step, paused, *values = result.values[: self._known]
        granted = bool(values.pop(0)) if self.participant.claims else True
        torn = int(values.pop(0)) if self._may_tear else 0
        loss, *metrics = values
        end = self._known + self._parameters
        arrived = result.values[end : self._fetched] if self._steps_apart else self._held
        self._held = list(result.values[self._known : end])
        times = result.times[self._task]
        stood = min(int(paused) - self._paused_ns, times.wait + self.participant.waited_ns())  # what it did meanwhile was no pause
        self._records.record(
            int(next_step),
            loss,
            metrics,
            times,
            staleness=int(stale),
            divergence=relative_distance(result.values[self._fetched :]) if observed else np.nan,
            paused_ns=stood,
            torn=torn,
            observed=observed,
        )
        self._observer.note(began, perf_counter(), observed)
        self._read_step, self._paused_ns = np.asarray(next_step), int(paused)
        self._came = next_step, base, arrived
        return granted

    @property
    def replicas(self) -> list[ReplicaParameters]:
        """One: with which parameters it came to its last commit. They are references, no copies: what is fetched is never changed in place."""
        step, *ends = self._came
        began, arrived = (dict(zip(self._names, values, strict=True)) for values in ends)
        return [ReplicaParameters(self._task, int(step), began, arrived)]


def _optional(tensor: Tensor | None) -> list[Tensor]:
    return [] if tensor is None else [tensor]
