"""The graphs of between-graph replication: one per worker, and the chief's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pslab.graph.dtypes import int64
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.ops.sources import identity, placeholder
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.sync.claim_ops import claim, paused_time, try_claim
from pslab.sync.ops import (
    accumulator_apply_gradient,
    accumulator_set_global_step,
    accumulator_take_gradient,
    token_dequeue,
    token_enqueue,
)
from pslab.train.divergence import squared_distances
from pslab.train.job import Job
from pslab.train.replica import PS_0, Replica, build_replica
from pslab.train.staleness import staleness
from pslab.train.strategy import Sync


@dataclass(frozen=True)
class ReplicaGraph:
    """A worker's graph. One step takes the parameters as they were read before, and gives those that the next step takes.

    Attributes:
        replica: the model.
        read_step: placeholder of the global step at which the parameters were read.
        staleness: updates that others made in between.
        next_step: the global step of ``next_parameters``.
        next_parameters: the parameters after the update.
        paused_ns: for how long, in all, updates stood still on purpose.
        distances: squared distances of the replica's parameters from those on the ps, just before the update.
        pushes: further ops of a step, which hand gradients in.
        pull: what a replica reads before its first step: the global step, the time paused, the parameters.
        granted: whether the next update is claimed already; None where the replica makes no updates itself.
        claim: waits until the next update is claimed; None likewise.
    """

    replica: Replica
    read_step: Tensor
    staleness: Tensor
    next_step: Tensor
    next_parameters: Sequence[Tensor]
    paused_ns: Tensor
    distances: Sequence[Tensor]
    pushes: Sequence[Operation]
    pull: Sequence[Tensor]
    granted: Tensor | None
    claim: Tensor | None

    @property
    def feeds(self) -> list[Tensor]:
        """What a step takes: what the source of its batches is fed, the read step, the parameters."""
        return [*self.replica.tower.source.feeds, self.read_step, *self.replica.reads]


def async_replica(job: Job, worker: int) -> ReplicaGraph:
    """A worker's graph where its gradient is applied as it comes, in the same message that brings it."""
    arrival = _arrive(job, worker)
    replica, stale, before = arrival.replica, arrival.staleness, arrival.before
    with replica.on_worker():
        updates = replica.optimizer.update(zip(replica.gradients, replica.variables, strict=True))
        for update, old, variable in zip(updates, before, replica.variables, strict=True):
            update.op.add_control_input(old.op)
            if variable.device == replica.global_step.device:
                update.op.add_control_input(stale.op)
        next_step = replica.count_after([stale.op, *(u.op for u in updates if u.device == replica.global_step.device)])
        with replica.graph.device(PS_0), replica.graph.control_dependencies([next_step]):
            granted, paused = try_claim(job.epoch_id), paused_time()
        pull, waiting = _pull(replica), _claim(replica, job.epoch_id)
    return ReplicaGraph(replica, arrival.read_step, stale, next_step, updates, paused, arrival.distances, (), pull, granted, waiting)


def sync_replica(job: Job, worker: int) -> ReplicaGraph:
    """A worker's graph where its gradient is gathered with the others', and the chief's token lets it read the result."""
    arrival = _arrive(job, worker)
    replica, stale, before = arrival.replica, arrival.staleness, arrival.before
    with replica.on_worker():
        handed_in: list[Operation] = []
        for gradient, variable, old in zip(replica.gradients, replica.variables, before, strict=True):
            with replica.graph.colocate_with(variable.op):
                op = accumulator_apply_gradient(_accumulator(job, variable), gradient, arrival.sent_step, worker)
            op.add_control_input(old.op)
            handed_in.append(op)
        mine = [stale.op, *(op for op in handed_in if op.device == replica.global_step.device)]
        with replica.graph.device(PS_0), replica.graph.control_dependencies(mine):
            token = token_dequeue(_tokens(job, worker))
            with replica.graph.control_dependencies([token]):
                paused = paused_time()
        after = _read_after(replica.variables, [token.op])
        pull = _pull(replica)
    return ReplicaGraph(replica, arrival.read_step, stale, token, after, paused, arrival.distances, handed_in, pull, None, None)


@dataclass(frozen=True)
class ChiefGraph:
    """The graph of the chief's loop, which makes the updates of synchronous training.

    Attributes:
        graph: the graph.
        begin: to run once: gradients older than the global step are stale from now on.
        next_step: the global step after an update; running it makes one.
        granted: whether the next update is claimed already.
        claim: waits until the next update is claimed.
    """

    graph: Graph
    begin: Sequence[Operation]
    next_step: Tensor
    granted: Tensor
    claim: Tensor


def chief(job: Job) -> ChiefGraph:
    """The chief's graph: take the mean of the gradients, apply it, count the step, hand out tokens."""
    assert isinstance(job.strategy.update, Sync)
    replica = build_replica(job, 0)
    required = job.workers - job.strategy.update.backup
    with replica.on_worker():
        begin, means = [], []
        for variable in replica.variables:
            name = _accumulator(job, variable)
            with replica.graph.colocate_with(variable.op):
                begin.append(accumulator_set_global_step(name, replica.global_step.value()))
                means.append(accumulator_take_gradient(name, required, variable.dtype, variable.shape))
        updates = replica.optimizer.update(zip(means, replica.variables, strict=True))
        next_step = replica.count_after([u.op for u in updates])
        with replica.graph.device(PS_0):
            tokens = [token_enqueue(_tokens(job, worker), next_step) for worker in range(job.workers)]
            with replica.graph.control_dependencies(tokens):
                granted = try_claim(job.epoch_id)
        waiting = _claim(replica, job.epoch_id)
    return ChiefGraph(replica.graph, begin, next_step, granted, waiting)


def resources_of(epoch_id: str) -> str:
    """How the names of an epoch's accumulators and queues begin."""
    return f"epoch_{epoch_id}/"


def _accumulator(job: Job, variable: Variable) -> str:
    return f"{resources_of(job.epoch_id)}{variable.op.name}"


def _tokens(job: Job, worker: int) -> str:
    return f"{resources_of(job.epoch_id)}tokens_of_worker_{worker}"


@dataclass(frozen=True)
class _Arrival:
    """A replica whose gradients have come to the ps, and what can be known there before anything is done with them."""

    replica: Replica
    read_step: Tensor
    sent_step: Tensor
    staleness: Tensor
    before: Sequence[Tensor]
    distances: Sequence[Tensor]


def _arrive(job: Job, worker: int) -> _Arrival:
    replica = build_replica(job, worker)
    with replica.on_worker():
        read_step = placeholder(int64, [], name="read_step")
        with replica.graph.control_dependencies([replica.gradients[0].op]):
            sent_step = identity(read_step)  # as one more tensor that travels with the gradients
        stale = staleness(replica.global_step, sent_step)
        before = _read_after(replica.variables, [g.op for g in replica.gradients])
        distances = squared_distances(replica.reads, before)
    return _Arrival(replica, read_step, sent_step, stale, before, distances)


def _read_after(variables: Sequence[Variable], ops: Sequence[Operation]) -> list[Tensor]:
    with ops[0].graph.control_dependencies(ops):
        return [v.read_value() for v in variables]


def _pull(replica: Replica) -> list[Tensor]:
    with replica.graph.device(PS_0):
        return [replica.global_step.value(), paused_time(), *replica.reads]


def _claim(replica: Replica, epoch_id: str) -> Tensor:
    with replica.graph.device(PS_0):
        return claim(epoch_id)
