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
from pslab.sync.weighing_ops import mean_of
from pslab.train.applying import apply_at_once, keep_reads, note_read, pace_of
from pslab.train.divergence import squared_distances
from pslab.train.exchange import Exchange, send
from pslab.train.job import Job
from pslab.train.leaving import Leaving, giving_back, leaving
from pslab.train.model import Tower
from pslab.train.reading import source_of
from pslab.train.replica import PS_0, Replica, build_replica, guarded, worker_device
from pslab.train.round_tally import examples_of, weighs
from pslab.train.staleness import staleness
from pslab.train.updates import Aggregation, Sync


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
        further: further ops of the step.
        begin: to run once before the first step.
        leaving: how the workers leave, when they are out of data.
    """

    workers: Sequence[int]
    towers: Sequence[Tower]
    staleness: Tensor
    next_step: Tensor
    distances: Sequence[Tensor]
    granted: Tensor
    further: Sequence[Operation]
    begin: Sequence[Operation]
    leaving: Leaving

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


def towers_graph(job: Job) -> TowersGraph:
    """The client's graph in the job's mode."""
    return sync_towers(job, range(job.workers)) if job.strategy.gathered else async_towers(job)


def sync_towers(job: Job, workers: Sequence[int]) -> TowersGraph:
    """The towers of these workers in one step; the mean of their gradients, or the sum, is applied once."""
    update = job.strategy.update
    assert isinstance(update, Sync)
    first = build_replica(job, workers[0])
    replicas = [first, *(_tower(job, first, worker) for worker in workers[1:])]
    with first.graph.as_default():
        exchanges = [_send(job, r) for r in replicas]
        examples = [_sent_with(e, examples_of(r)) for e, r in zip(exchanges, replicas, strict=True)] if weighs(job) else []
        together = []
        for variable, parts in zip(first.variables, zip(*(e.arrived for e in exchanges), strict=True), strict=True):
            with first.graph.colocate_with(variable.op):
                together.append(_together(update.aggregation, parts, examples))
        arrived = [op for e in exchanges for op in e.sent]
        with first.graph.device(PS_0):
            read_step = identity(first.global_step.value())  # read at the same time as the parameters
            with first.graph.control_dependencies(arrived):
                stale = staleness(first.global_step, read_step)
        before = _read_after(first, arrived)
        updates = first.optimizer.update(zip(together, first.variables, strict=True))
        for update_op, old in zip(updates, before, strict=True):
            update_op.op.add_control_input(old.op)
        next_step = first.count_after([stale.op, *(u.op for u in updates)])
        step = _step(job, first, replicas, stale, next_step, next_step.op, before, (), exchanges)
    return TowersGraph(first, [step], _claim(job, first))


def _together(aggregation: Aggregation, parts: Sequence[Tensor], examples: Sequence[Tensor]) -> Tensor:
    """What towers bring for one variable, as one gradient; ``examples`` are what they weigh, if they do."""
    if aggregation is Aggregation.WEIGHTED:
        return mean_of(parts, examples)
    total = add_n(parts) if len(parts) > 1 else identity(parts[0])
    return divide(total, float(len(parts))) if aggregation is Aggregation.MEAN and len(parts) > 1 else total


def _sent_with(exchange: Exchange, tensor: Tensor) -> Tensor:
    """A tensor on the worker, as one more that travels with what it sends."""
    with tensor.graph.control_dependencies(exchange.sent), tensor.graph.colocate_with(tensor.op):
        return identity(tensor)


def async_towers(job: Job) -> TowersGraph:
    """A step per tower; the client runs each in a thread of its own."""
    first = build_replica(job, 0)
    replicas = [first, *(_tower(job, first, worker) for worker in range(1, job.workers))]
    with first.graph.as_default():
        steps = [_async_step(job, replica) for replica in replicas]
    return TowersGraph(first, steps, _claim(job, first))


def _async_step(job: Job, replica: Replica) -> TowersStep:
    """What one tower brings, applied as it comes; its parameters are read at the beginning of its step."""
    exchange = _send(job, replica)
    before = _read_after(replica, exchange.sent)
    exchange.precede([old.op for old in before])
    read = note_read(job, replica, replica.worker)
    applied = apply_at_once(job, replica, replica.worker, replica.optimizer, exchange.arrived, before, exchange.sent)
    next_step = replica.count_after(applied.counted)
    pace = pace_of(job)
    go = next_step.op if pace is None else applied.read_in_pace(pace, next_step.op)[0]
    return _step(job, replica, [replica], applied.staleness, next_step, go, before, [*read, *(u.op for u in applied.updates)], [exchange])


def _send(job: Job, replica: Replica) -> Exchange:
    return send(job, replica.worker, replica.gradients, replica.variables)


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


def _step(
    job: Job,
    first: Replica,
    replicas: Sequence[Replica],
    stale: Tensor,
    next_step: Tensor,
    go: Operation,
    before: Sequence[Tensor],
    further: Sequence[Operation],
    exchanges: Sequence[Exchange],
) -> TowersStep:
    """A step of ``replicas`` that ends in one update, after which they may ``go`` on."""
    graph = first.graph
    with graph.device(PS_0), graph.control_dependencies([go]):
        granted = try_claim(job.epoch_id)
    distances = []
    for read, old, variable in zip(first.reads, before, first.variables, strict=True):
        with graph.colocate_with(variable.op):
            distances.extend(squared_distances([read], [old]))
    kept = [op for r in replicas for op in keep_reads(job, r)]
    begin = [op for exchange in exchanges for op in exchange.begin]
    end = Leaving((), giving_back(job, first)) if job.strategy.gathered else leaving(job, first)
    return TowersStep([r.worker for r in replicas], [r.tower for r in replicas], stale, next_step, distances, granted, [*further, *kept], begin, end)


def _read_after(replica: Replica, ops: Sequence[Operation]) -> list[Tensor]:
    with replica.graph.control_dependencies(ops):
        return [v.read_value() for v in replica.variables]


def _claim(job: Job, first: Replica) -> Tensor:
    with first.graph.as_default(), first.graph.device(PS_0):
        return claim(job.epoch_id)
