"""What the loops of training do in a turn: feed, run, record."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from time import perf_counter, perf_counter_ns, time
from typing import Any

import numpy as np

from pslab.data.batches import Batches
from pslab.graph.tensor import Tensor
from pslab.runtime.driver import PhaseTimes
from pslab.runtime.session import Session, Step
from pslab.trace.recorder import Recorder
from pslab.train.between_graph import ChiefGraph, ReplicaGraph
from pslab.train.distances import ReplicaParameters
from pslab.train.divergence import relative_distance
from pslab.train.in_graph import TowersGraph, TowersStep
from pslab.train.leaving import Exit
from pslab.train.observer import Observer
from pslab.train.reading import Supply

_NS = 1e-9


class StepRecorder:
    """Writes the records of one worker's steps in one epoch.

    Args:
        recorder: where to.
        worker: index of the worker.
        epoch: the epoch, which stands for the strategy.
    """

    def __init__(self, recorder: Recorder, worker: int, epoch: int) -> None:
        self._recorder = recorder
        self._worker = worker
        self._epoch = epoch
        self._steps = 0
        self._ended = perf_counter()

    def record(
        self,
        global_step: int,
        loss: Any,
        metrics: Sequence[Any],
        times: PhaseTimes,
        *,
        staleness: float = np.nan,
        divergence: float = np.nan,
        paused_ns: int = 0,
        torn: int = 0,
        observed: bool = False,
    ) -> None:
        """Write one step, which has just ended; of its time, ``paused_ns`` is not to be counted."""
        now = perf_counter()
        self._steps += 1
        self._recorder.append(
            (
                time(),
                self._worker,
                self._steps,
                global_step,
                self._epoch,
                float(loss),
                *(float(m) for m in metrics),
                staleness,
                divergence,
                now - self._ended - paused_ns * _NS,
                times.compute * _NS,
                max(0, times.wait - paused_ns) * _NS,
                times.push * _NS,
                times.pull * _NS,
                times.bytes_sent,
                times.bytes_received,
                times.bytes_fed,
                torn,
                observed,
            )
        )
        self._ended = now


class ReplicaTurn:
    """A between-graph worker's way from one commit to the next: compute at the parameters it has, push, be answered with the next parameters.

    Args:
        graph: the worker's graph.
        session: of that graph.
        batches: what it computes on.
        supply: what brings the batches.
        records: where its steps are written.
        task: its name.
        commit_every: after how many steps it commits.
    """

    def __init__(
        self, graph: ReplicaGraph, session: Session, batches: Batches, supply: Supply, records: StepRecorder, task: str, commit_every: int
    ) -> None:
        self._session = session
        self._batches = batches
        self._supply = supply
        self._records = records
        self._task = task
        self._names = [v.op.name for v in graph.replica.variables]
        self._commit_every = commit_every
        tower = graph.replica.tower
        self._take = tower.source.take
        supply.begin(tower.source, batches)
        self._seen = [tower.loss, *tower.metrics.values()]
        known = [graph.staleness, graph.next_step, graph.paused_ns, *optional(graph.granted), *optional(graph.torn), *self._seen]
        self._makes_updates, self._may_tear, self._steps_apart = graph.granted is not None, graph.torn is not None, bool(graph.local)
        self._parameters = len(graph.next_parameters)
        fetches = [*known, *graph.next_parameters, *(graph.arrived if self._steps_apart else ())]
        self._known, self._fetched = len(known), len(fetches)
        self._plain = session.prepare([*fetches, *graph.further], graph.feeds)
        self._observed = session.prepare([*fetches, *graph.distances, *graph.further], graph.feeds)
        self._local = session.prepare([*self._seen, *graph.local, *graph.local_ops], graph.feeds) if commit_every > 1 else None
        self._claim = None if graph.claim is None else session.prepare([graph.claim], [])
        self._exit = Exit(session, graph.leaving)
        self._observer = Observer(perf_counter())
        read_step, paused, *self._held = session.prepare([*graph.pull, *graph.pull_ops], []).run(()).values
        self._read_step, self._paused_ns, self._claiming_ns = np.asarray(read_step), int(paused), 0
        self._came: tuple[Any, Sequence[Any], Sequence[Any]] = (read_step, self._held, self._held)

    @property
    def left(self) -> float:
        """How many batches are to come."""
        return self._batches.left

    def leave(self, claimed: bool) -> None:
        """Let nobody wait for this worker any more."""
        self._exit.take(claimed and self._makes_updates)

    def claim(self) -> None:
        """Wait for a claim, where this replica makes the updates itself."""
        if self._claim is not None:
            began = perf_counter_ns()
            self._claim.run(())
            self._claiming_ns = perf_counter_ns() - began

    def take(self) -> bool:
        """All steps to the next commit: the last round is as long as there are batches for it."""
        base = self._held
        if self._local is not None:
            for _ in range(int(min(self._commit_every, self.left)) - 1):
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
        granted = bool(values.pop(0)) if self._makes_updates else True
        torn = int(values.pop(0)) if self._may_tear else 0
        loss, *metrics = values
        end = self._known + self._parameters
        arrived = result.values[end : self._fetched] if self._steps_apart else self._held
        self._held = list(result.values[self._known : end])
        times = result.times[self._task]
        stood = min(int(paused) - self._paused_ns, times.wait + self._claiming_ns)  # what it did meanwhile was no pause
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
        self._read_step, self._paused_ns, self._claiming_ns = np.asarray(next_step), int(paused), 0
        self._came = next_step, base, arrived
        return granted

    @property
    def replicas(self) -> list[ReplicaParameters]:
        """One: with which parameters it came to its last commit. They are references, no copies: what is fetched is never changed in place."""
        step, *ends = self._came
        began, arrived = (dict(zip(self._names, values, strict=True)) for values in ends)
        return [ReplicaParameters(self._task, int(step), began, arrived)]

    def cancel(self) -> None:
        """Give up the step in flight."""
        self._session.cancel()


def optional(tensor: Tensor | None) -> list[Tensor]:
    """``tensor``, if there is one."""
    return [] if tensor is None else [tensor]


class ChiefTurn:
    """The chief's step: wait for what is gathered, apply it, count it.

    Attributes:
        left: it has no data of its own: it ends when there is nobody left who brings something.
    """

    left = inf

    def __init__(self, graph: ChiefGraph, session: Session) -> None:
        self.replicas: list[ReplicaParameters] = []
        self._session = session
        self._step = session.prepare([graph.next_step, graph.granted, *graph.further], [])
        self._claim = session.prepare([graph.claim], [])
        self._exit = Exit(session, graph.leaving)
        session.prepare(list(graph.begin), []).run(())

    def leave(self, claimed: bool) -> None:
        """Give back what is claimed."""
        self._exit.take(claimed)

    def claim(self) -> None:
        """Wait for a claim."""
        self._claim.run(())

    def take(self) -> bool:
        """One update."""
        return bool(self._step.run(()).values[1])

    def cancel(self) -> None:
        """Give up the update in flight."""
        self._session.cancel()


class TowersTurn:
    """The client's step of some towers.

    Attributes:
        replicas: the towers' parameters as they were read in the last step that was observed.
    """

    def __init__(
        self, graph: TowersGraph, step: TowersStep, session: Session, batches: Sequence[Batches], supply: Supply, records: Sequence[StepRecorder]
    ) -> None:
        self._session = session
        self._batches = batches
        self._supply = supply
        self._records = records
        self._workers = step.workers
        self._takes = [tower.source.take for tower in step.towers]
        for tower, own in zip(step.towers, batches, strict=True):
            supply.begin(tower.source, own)
        self._metrics = len(step.towers[0].metrics)
        values = [t for tower in step.towers for t in (tower.loss, *tower.metrics.values())]
        fetches: list[Tensor] = [step.staleness, step.next_step, step.granted, *values]
        self._plain: Step = session.prepare([*fetches, *step.further], step.feeds)
        self._observed: Step = session.prepare([*fetches, *step.distances, *graph.replica.reads, *step.further], step.feeds)
        self._claim: Step = session.prepare([graph.claim], [])
        self._exit = Exit(session, step.leaving)
        self._fetched, self._seen = len(fetches), len(fetches) + len(step.distances)
        self._names = [v.op.name for v in graph.replica.variables]
        self.replicas: list[ReplicaParameters] = []
        self._observer = Observer(perf_counter())
        session.prepare(list(step.begin), []).run(())
        self._paused = 0

    @property
    def left(self) -> float:
        """How many batches are to come for all of these towers."""
        return min(batches.left for batches in self._batches)

    def leave(self, claimed: bool) -> None:
        """Let nobody wait for these towers any more."""
        self._exit.take(claimed)

    def claim(self) -> None:
        """Wait for a claim."""
        began = perf_counter_ns()
        self._claim.run(())
        self._paused = perf_counter_ns() - began

    def take(self) -> bool:
        """One step of the towers."""
        feeds = [array for take, batches in zip(self._takes, self._batches, strict=True) for array in take(batches)]
        began = perf_counter()
        observed = self._observer.due(began)
        with self._supply.explained():
            result = (self._observed if observed else self._plain).run(feeds)
        stale, next_step, granted, *values = result.values[: self._fetched]
        divergence = relative_distance(result.values[self._fetched : self._seen]) if observed else np.nan
        if observed:
            read = dict(zip(self._names, result.values[self._seen :], strict=True))
            self.replicas = [ReplicaParameters(f"worker:{worker}", int(next_step), read, read) for worker in self._workers]
        width = self._metrics + 1
        for i, (worker, records) in enumerate(zip(self._workers, self._records, strict=True)):
            loss, *metrics = values[i * width : (i + 1) * width]
            times = result.times[f"worker:{worker}"]
            times.wait += times.idle  # the worker waits for its client, and through it for the others
            records.record(
                int(next_step), loss, metrics, times, staleness=int(stale), divergence=divergence, paused_ns=self._paused, observed=observed
            )
        self._observer.note(began, perf_counter(), observed)
        self._paused = 0
        return bool(granted)

    def cancel(self) -> None:
        """Give up the step in flight."""
        self._session.cancel()
