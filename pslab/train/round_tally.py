"""How much goes into a worker's commit: the examples, or just the steps, since its last one."""

from __future__ import annotations

from collections.abc import Sequence

from pslab.graph.dtypes import int64
from pslab.graph.operation import Operation
from pslab.graph.ops.arrays import zeros
from pslab.graph.ops.math import add
from pslab.graph.ops.shapes import shape
from pslab.graph.ops.sources import constant
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.train.epoch_names import variables_of
from pslab.train.job import Job
from pslab.train.replica import Replica, worker_device
from pslab.train.updates import Aggregation, KAsync, Sync


def weighs(job: Job) -> bool:
    """Whether a contribution weighs as much as the examples that it was computed from."""
    return isinstance(job.strategy.update, Sync | KAsync) and job.strategy.update.aggregation is Aggregation.WEIGHTED


def examples_of(replica: Replica) -> Tensor:
    """How many examples there are in a replica's batch, an int64 scalar on the worker."""
    with replica.graph.as_default(), replica.graph.device(worker_device(replica.worker)):
        return shape(replica.tower.x, out_type=int64)[0]


class RoundTally:
    """Counts what goes into a commit: examples where contributions are weighed, else steps. Its ops are built on the worker.

    Attributes:
        step: how much this step counts, an int64 scalar.
        total: how much the steps since the last commit count, this one among them.
        local_ops: what a step that commits nothing does.
        begin: to be run before the first step.
    """

    def __init__(self, job: Job, replica: Replica) -> None:
        self.step = examples_of(replica) if weighs(job) else constant(1, int64)
        self.total = self.step
        self.local_ops: Sequence[Operation] = ()
        self.begin: Sequence[Operation] = ()
        self._count: Variable | None = None
        if job.strategy.commit_every > 1:
            graph = replica.graph
            with graph.as_default(), graph.device(worker_device(replica.worker)), graph.name_scope(variables_of(job.epoch_id)):
                self._count = Variable(zeros((), int64), trainable=False, collections=[], name="tally")
            self.total = add(self._count.value(), self.step)
            self.local_ops = [self._count.assign_add(self.step).op]
            self.begin = [self._count.initializer]

    def settle(self) -> list[Operation]:
        """Ops by which the next round begins at nothing, once this one's total is known."""
        if self._count is None:
            return []
        with self.total.graph.control_dependencies([self.total.op]):
            return [self._count.assign(zeros((), int64)).op]
