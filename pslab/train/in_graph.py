"""The graph of in-graph replication: one client's, with a tower per worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pslab.graph.clone import clone
from pslab.graph.gradients import gradients
from pslab.graph.operation import Operation
from pslab.graph.ops.math import add_n, divide
from pslab.graph.ops.sources import identity
from pslab.graph.tensor import Tensor
from pslab.sync.claim_ops import claim, try_claim
from pslab.train.divergence import squared_distances
from pslab.train.exchange import Exchange, exchange
from pslab.train.job import Job
from pslab.train.model import Tower
from pslab.train.reading import source_of
from pslab.train.replica import PS_0, Replica, build_replica, guarded, worker_device
from pslab.train.staleness import staleness


@dataclass(frozen=True)
class TowersStep:
    """A step of some towers that ends in one update.

    Attributes:
        workers: indices of the workers whose towers take part.
        towers: their towers.
        staleness: updates that others made between the read and the update.
        next_step: the global step after the update.
        distances: squared distances of the towers' parameters from those on the ps, just before the update.
        granted: whether the next update is claimed already.
        begin: to run once, before the first step.
    """

    workers: Sequence[int]
    towers: Sequence[Tower]
    staleness: Tensor
    next_step: Tensor
    distances: Sequence[Tensor]
    granted: Tensor
    begin: Sequence[Operation]

    @property
    def feeds(self) -> list[Tensor]:
        """What the towers' sources are fed, tower by tower."""
        return [t for tower in self.towers for t in tower.source.feeds]


@dataclass(frozen=True)
class TowersGraph:
    """The client's graph.

    Attributes:
        replica: the first tower, and what it shares with the others.
        steps: what the client runs: one step of all towers, or one per tower.
        claim: waits until the next update is claimed.
    """

    replica: Replica
    steps: Sequence[TowersStep]
    claim: Tensor


def sync_towers(job: Job) -> TowersGraph:
    """All towers in one step; the mean of their gradients is applied once."""
    first = build_replica(job, 0)
    replicas = [first, *(_tower(job, first, worker) for worker in range(1, job.workers))]
    with first.graph.as_default():
        exchanges = [_exchange(job, r) for r in replicas]
        means = []
        for variable, parts in zip(first.variables, zip(*(e.arrived for e in exchanges), strict=True), strict=True):
            with first.graph.colocate_with(variable.op):
                means.append(divide(add_n(parts), float(job.workers)) if job.workers > 1 else identity(parts[0]))
        step = _step(job, first, replicas, exchanges, means)
    return TowersGraph(first, [step], _claim(job, first))


def async_towers(job: Job) -> TowersGraph:
    """A step per tower; the client runs each in a thread of its own."""
    first = build_replica(job, 0)
    replicas = [first, *(_tower(job, first, worker) for worker in range(1, job.workers))]
    with first.graph.as_default():
        exchanges = [_exchange(job, r) for r in replicas]
        steps = [_step(job, first, [replica], [sent], sent.arrived) for replica, sent in zip(replicas, exchanges, strict=True)]
    return TowersGraph(first, steps, _claim(job, first))


def _tower(job: Job, first: Replica, worker: int) -> Replica:
    """The first tower again, on another worker, with the same parameters."""
    graph, tower = first.graph, first.tower
    names = [*tower.metrics, *tower.outputs]
    with graph.as_default(), graph.device(worker_device(worker)), graph.name_scope(f"tower_{worker}"):
        source = source_of(job, worker)
        loss, *named = clone([tower.loss, *tower.metrics.values(), *tower.outputs.values()], {tower.x: source.x, tower.y: source.y})
        copies = dict(zip(names, named, strict=True))
        found = [g for g in gradients(loss, list(first.variables)) if g is not None]
        copy = Tower(source, loss, {n: copies[n] for n in tower.metrics}, {n: copies[n] for n in tower.outputs})
        return replace(first, worker=worker, tower=copy, gradients=guarded(loss, found, worker))


def _exchange(job: Job, replica: Replica) -> Exchange:
    return exchange(job, replica.worker, replica.gradients, replica.variables)


def _step(job: Job, first: Replica, replicas: Sequence[Replica], exchanges: Sequence[Exchange], applied: Sequence[Tensor]) -> TowersStep:
    """One update of ``applied``, and what is to be known about it."""
    graph = first.graph
    arrived = [g.op for r in replicas for g in r.gradients]
    with graph.device(PS_0):
        read_step = identity(first.global_step.value())  # read at the same time as the parameters
        with graph.control_dependencies(arrived):
            stale = staleness(first.global_step, read_step)
    with graph.control_dependencies(arrived):
        before = [v.read_value() for v in first.variables]
    for sent in exchanges:
        sent.precede([stale.op, *(old.op for old in before)])
    updates = first.optimizer.update(zip(applied, first.variables, strict=True))
    for update, old in zip(updates, before, strict=True):
        update.op.add_control_input(old.op)
    next_step = first.count_after([stale.op, *(u.op for u in updates)])
    with graph.device(PS_0), graph.control_dependencies([next_step]):
        granted = try_claim(job.epoch_id)
    distances = []
    for read, old, variable in zip(first.reads, before, first.variables, strict=True):
        with graph.colocate_with(variable.op):
            distances.extend(squared_distances([read], [old]))
    begin = [op for sent in exchanges for op in sent.begin]
    return TowersStep([r.worker for r in replicas], [r.tower for r in replicas], stale, next_step, distances, granted, begin)


def _claim(job: Job, first: Replica) -> Tensor:
    with first.graph.as_default(), first.graph.device(PS_0):
        return claim(job.epoch_id)
