"""What a worker does from one commit to the next, and what it commits: the ops of its graph that are its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pslab.graph.clone import clone
from pslab.graph.operation import Operation
from pslab.graph.ops.arrays import cast, zeros
from pslab.graph.ops.math import add, divide, multiply, subtract
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.optim.optimizer import GradientDescentOptimizer, MomentumOptimizer, Optimizer
from pslab.train.arrival_ops import elastic_difference
from pslab.train.commits import Differences, Elastic
from pslab.train.epoch_names import variables_of
from pslab.train.job import Job
from pslab.train.replica import Replica, worker_device
from pslab.train.round_tally import RoundTally, weighs

OUTER = "Outer"
"""Name of the optimizer that applies what is no gradient."""


class WorkerSide(Protocol):
    """A worker's own part. It is built on the worker, and so are the ops that its methods add, unless they say otherwise.

    Attributes:
        contributions: what it commits, one per parameter.
        weight: what a commit weighs where contributions are weighed: the examples that it was computed from, an int64 scalar.
        local: the parameters after a step that commits nothing; none where that leaves them alone.
        local_ops: what else such a step does.
        arrived: the parameters with which the worker comes to a commit.
    """

    contributions: Sequence[Tensor]
    weight: Tensor
    local: Sequence[Tensor]
    local_ops: Sequence[Operation]
    arrived: Sequence[Tensor]

    def begin(self, pulled: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Operation]]:
        """The parameters of the worker's first step, of those it ``pulled``; and ops to be run before."""

    def difference(self, contribution: Tensor, variable: Variable) -> Tensor:
        """What the ps take as a gradient, of a contribution that has come to its variable's task; built there."""

    def settle(self, pulled: Sequence[Tensor], differences: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Operation]]:
        """The parameters of the step after a commit, of those that were ``pulled`` then; and ops to be run with it."""


def worker_side(job: Job, replica: Replica) -> WorkerSide:
    """The worker's own part in the job's way of committing."""
    match job.strategy.commit:
        case Differences(own_start=own_start):
            return _Apart(job, replica, own_start)
        case Elastic(alpha=alpha):
            return _Tied(job, replica, alpha)
    return _Accumulating(job, replica) if job.strategy.commit_every > 1 else _Simple(job, replica)


def outer_optimizer(job: Job, replica: Replica) -> Optimizer:
    """What the ps apply contributions with: the model's own optimizer where they are gradients."""
    match job.strategy.commit:
        case Differences(rate=rate, momentum=momentum) if momentum:
            return MomentumOptimizer(rate, momentum, use_nesterov=True, name=OUTER)
        case Differences(rate=rate):
            return GradientDescentOptimizer(rate, name=OUTER)
        case Elastic():
            return GradientDescentOptimizer(1.0, name=OUTER)
    return replica.optimizer


def outer_slots(job: Job, optimizer: Optimizer) -> list[Operation]:
    """Ops that begin the slots of the outer optimizer anew; the model's own keep what they have."""
    return [v.initializer for v in optimizer.variables()] if job.strategy.local else []


class _Simple:
    """Commits the gradient of every step."""

    def __init__(self, job: Job, replica: Replica) -> None:
        self._tally = RoundTally(job, replica)
        self.weight = self._tally.total
        self.contributions: Sequence[Tensor] = replica.gradients
        self.local: Sequence[Tensor] = ()
        self.local_ops: Sequence[Operation] = ()
        self.arrived: Sequence[Tensor] = replica.reads

    def begin(self, pulled: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Operation]]:
        return pulled, ()

    def difference(self, contribution: Tensor, variable: Variable) -> Tensor:
        return contribution

    def settle(self, pulled: Sequence[Tensor], differences: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Operation]]:
        return pulled, ()


class _Accumulating(_Simple):
    """Commits the mean of the gradients of several steps, at the same parameters; where contributions are weighed, of all their examples."""

    def __init__(self, job: Job, replica: Replica) -> None:
        super().__init__(job, replica)
        self._sums = _own_variables(job, replica, "sum")
        step, total = self._tally.step, self._tally.total
        counted = [multiply(g, cast(step, g.dtype)) for g in replica.gradients] if weighs(job) else replica.gradients
        self.local_ops = [*(s.assign_add(g).op for s, g in zip(self._sums, counted, strict=True)), *self._tally.local_ops]
        self.contributions = [divide(add(s.value(), g), cast(total, g.dtype)) for s, g in zip(self._sums, counted, strict=True)]

    def begin(self, pulled: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Operation]]:
        return pulled, [*(s.initializer for s in self._sums), *self._tally.begin]

    def settle(self, pulled: Sequence[Tensor], differences: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Operation]]:
        graph = self.contributions[0].graph
        with graph.control_dependencies([c.op for c in self.contributions]):
            emptied = [s.assign(zeros(s.shape.as_tuple(), s.dtype)).op for s in self._sums]
        return pulled, [*emptied, *self._tally.settle()]


class _Stepping:
    """Steps on a copy of its own."""

    def __init__(self, job: Job, replica: Replica) -> None:
        self._replica = replica
        self._tally = RoundTally(job, replica)
        self.weight = self._tally.total
        self._mine = _own_variables(job, replica, "copy")
        self.local: Sequence[Tensor] = replica.optimizer.update(zip(replica.gradients, self._mine, strict=True))
        self.local_ops: Sequence[Operation] = self._tally.local_ops
        self.arrived: Sequence[Tensor] = self.local
        self.contributions: Sequence[Tensor] = self.local

    def _begin_at(self, parameters: Sequence[Tensor]) -> tuple[list[Tensor], list[Operation]]:
        return self._move_to(parameters), [*(v.initializer for v in self._replica.optimizer.variables()), *self._tally.begin]

    def _move_to(self, parameters: Sequence[Tensor]) -> list[Tensor]:
        return [m.assign(p) for m, p in zip(self._mine, parameters, strict=True)]


class _Apart(_Stepping):
    """Commits how far its copy has gone from where it began, and goes on from the parameters on the ps."""

    def __init__(self, job: Job, replica: Replica, own_start: bool) -> None:
        super().__init__(job, replica)
        self._own_start = own_start
        self._base = _own_variables(job, replica, "base")
        self.contributions = [subtract(b.value(), stepped) for b, stepped in zip(self._base, self.local, strict=True)]

    def begin(self, pulled: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Operation]]:
        first = clone([v.initial_value for v in self._replica.variables], {}) if self._own_start else pulled
        copies, ops = self._begin_at(first)
        return copies, [*ops, *self._base_at(pulled)]

    def difference(self, contribution: Tensor, variable: Variable) -> Tensor:
        return contribution

    def settle(self, pulled: Sequence[Tensor], differences: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Operation]]:
        with self._replica.graph.control_dependencies([c.op for c in self.contributions]):
            return self._move_to(pulled), [*self._base_at(pulled), *self._tally.settle()]

    def _base_at(self, parameters: Sequence[Tensor]) -> list[Operation]:
        return [b.assign(p).op for b, p in zip(self._base, parameters, strict=True)]


class _Tied(_Stepping):
    """Lets its copy and the parameters on the ps pull at each other."""

    def __init__(self, job: Job, replica: Replica, alpha: float) -> None:
        super().__init__(job, replica)
        self._alpha = alpha

    def begin(self, pulled: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Operation]]:
        return self._begin_at(pulled)

    def difference(self, contribution: Tensor, variable: Variable) -> Tensor:
        return elastic_difference(contribution, variable, self._alpha)

    def settle(self, pulled: Sequence[Tensor], differences: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Operation]]:
        return self._move_to([add(x, d) for x, d in zip(self.local, differences, strict=True)]), self._tally.settle()


def _own_variables(job: Job, replica: Replica, name: str) -> list[Variable]:
    """A variable on the worker for each parameter, zero at first."""
    graph = replica.graph
    with graph.as_default(), graph.device(worker_device(replica.worker)), graph.name_scope(variables_of(job.epoch_id)):
        return [Variable(zeros(v.shape.as_tuple(), v.dtype), trainable=False, collections=[], name=f"{v.op.name}/{name}") for v in replica.variables]
