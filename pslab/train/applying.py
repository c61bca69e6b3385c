"""How a contribution is applied as it comes: the ops on the ps, in one critical section with the ledger's entry and the read that follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pslab.graph.device import DeviceSpec
from pslab.graph.dtypes import int64
from pslab.graph.operation import Operation
from pslab.graph.ops.sources import constant
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.optim.hogwild import hogwild_update, torn_read
from pslab.optim.ops import apply_update
from pslab.optim.optimizer import Optimizer
from pslab.sync.last_read_ops import keep_read
from pslab.sync.ledger_ops import ledger_apply, ledger_read
from pslab.sync.pacing_ops import Pace, clock_read, clock_tick
from pslab.train.arrival_ops import compensate_delay, weigh
from pslab.train.epoch_names import resources_of
from pslab.train.job import Job
from pslab.train.replica import Replica
from pslab.train.updates import SSP, Aggregation, Async, Immediate

E = TypeVar("E")


@dataclass(frozen=True)
class Read:
    """The parameters as a worker reads them.

    Attributes:
        parameters: their values.
        noted: ops by which the ps note that it reads.
        torn: of each parameter, whether an update ran into the read, an int64 scalar; none where that cannot be.
    """

    parameters: Sequence[Tensor]
    noted: Sequence[Operation]
    torn: Sequence[Tensor] = ()


@dataclass(frozen=True)
class Applied:
    """A worker's contribution, applied.

    Attributes:
        job: how.
        replica: the model.
        worker: whose it is.
        staleness: updates that others made since the worker read, on the ps of the global step; an int64 scalar.
        updates: the update of each parameter; its output is the new value.
    """

    job: Job
    replica: Replica
    worker: int
    staleness: Tensor
    updates: Sequence[Tensor]

    def on(self, task: str) -> list[Operation]:
        """The updates on a task."""
        return [u.op for u, v in zip(self.updates, self.replica.variables, strict=True) if task_of(v) == task]

    @property
    def counted(self) -> list[Operation]:
        """What happens on the ps of the global step before that counts."""
        return [self.staleness.op, *self.on(task_of(self.replica.global_step))]

    def read(self) -> Read:
        """The parameters in the same critical section."""
        noted = note_read(self.job, self.replica, self.worker, self.on)
        if takes_locks(self.job):
            return Read(self.updates, noted)
        reads = [torn_read(v, after=u.op) for v, u in zip(self.replica.variables, self.updates, strict=True)]
        return Read([value for value, _ in reads], noted, [torn for _, torn in reads])

    def read_in_pace(self, pace: Pace, counted: Operation) -> tuple[Operation, Read]:
        """The parameters when others have caught up, on each ps by itself; and what happens before on the ps of the global step.

        Args:
            pace: whom the clocks hold up.
            counted: counts the update.
        """
        graph, go = self.replica.graph, counted
        values: dict[Variable, Tensor] = {}
        for task, variables in by_task(self.replica).items():
            read = [v for v in variables if v is not self.replica.global_step]
            here = counted if task == task_of(self.replica.global_step) else None
            with graph.colocate_with(variables[0].op), graph.control_dependencies([here] if here else self.on(task)):
                tick = clock_tick(pace, self.worker, read)
                with graph.control_dependencies([tick]):
                    released = clock_read(pace, self.worker, read)
            values.update(zip(read, released.outputs, strict=True))
            go = released if here else go
        return go, Read([values[v] for v in self.replica.variables], ())


def apply_at_once(
    job: Job, replica: Replica, worker: int, optimizer: Optimizer, differences: Sequence[Tensor], before: Sequence[Tensor], sent: Sequence[Operation]
) -> Applied:
    """Apply what has come from ``worker``.

    Args:
        job: how.
        replica: the model.
        worker: whose it is.
        optimizer: what applies it.
        differences: what is taken as gradients, one per parameter.
        before: reads of the parameters that are to come first.
        sent: the ops on the worker that make what it sends.
    """
    entries = enter(replica, differences, sent, lambda: ledger_apply(resources_of(job.epoch_id), worker))
    weighed = []
    for difference, variable in zip(differences, replica.variables, strict=True):
        with replica.graph.colocate_with(variable.op):
            weighed.append(_weighed(job, difference, variable, entries[task_of(variable)], worker))
    updates = optimizer.update(zip(weighed, replica.variables, strict=True), apply_update if takes_locks(job) else hogwild_update)
    for update, old, variable in zip(updates, before, replica.variables, strict=True):
        update.op.add_control_input(old.op)
        update.op.add_control_input(entries[task_of(variable)].op)
    return Applied(job, replica, worker, entries[task_of(replica.global_step)], updates)


def enter(replica: Replica, differences: Sequence[Tensor], sent: Sequence[Operation], make: Callable[[], E]) -> dict[str, E]:
    """Entries in the ledgers, by task, each after what a worker ``sent``, and what has become of it there."""
    entries = {}
    for task, variables in by_task(replica).items():
        here = [d.op for d in differences if DeviceSpec.from_string(d.device).task_name == task]  # of another ps it would have to be told
        with replica.graph.colocate_with(variables[0].op), replica.graph.control_dependencies([*sent, *here]):
            entries[task] = make()
    return entries


def note_read(job: Job, replica: Replica, worker: int, after: Callable[[str], Sequence[Operation]] = lambda task: ()) -> list[Operation]:
    """Ops by which the ps note that ``worker`` reads the parameters, on each task after ops of its own."""
    update, ops = job.strategy.update, []
    for task, variables in by_task(replica).items():
        kept = [v for v in variables if v is not replica.global_step] if isinstance(update, SSP) or _immediate(job).compensation else []
        with replica.graph.colocate_with(variables[0].op), replica.graph.control_dependencies(after(task)):
            ops.append(ledger_read(resources_of(job.epoch_id), worker, kept))
    return ops


def keep_reads(job: Job, replica: Replica) -> list[Operation]:
    """Ops by which the ps keep the parameters as a tower reads them, at the beginning of its step."""
    ops = []
    for variables in by_task(replica).values():
        with replica.graph.colocate_with(variables[0].op):
            mine = [v for v in variables if v is not replica.global_step]
            ops.append(keep_read(resources_of(job.epoch_id), replica.worker, mine))
    return ops


def pace_of(job: Job) -> Pace | None:
    """Whom the clocks hold up, where there are any."""
    update = job.strategy.update
    return Pace(resources_of(job.epoch_id), job.workers, update.staleness) if isinstance(update, SSP) else None


def own_arrays(job: Job, replica: Replica) -> list[Operation]:
    """Ops to be run once before updates that write in place: nobody else has the arrays then."""
    return [] if takes_locks(job) else [v.assign(v.value()).op for v in replica.variables]


def takes_locks(job: Job) -> bool:
    """Whether an update and a read are each of one moment."""
    update = job.strategy.update
    return not isinstance(update, Async) or update.lock


def task_of(variable: Variable) -> str:
    """The task that a variable is placed on."""
    return DeviceSpec.from_string(variable.device).task_name


def _immediate(job: Job) -> Immediate:
    assert isinstance(job.strategy.update, Immediate)
    return job.strategy.update


def _weighed(job: Job, difference: Tensor, variable: Variable, staleness: Tensor, worker: int) -> Tensor:
    update = _immediate(job)
    if update.compensation:
        difference = compensate_delay(difference, variable, resources_of(job.epoch_id), worker, update.compensation)
    share = job.workers if update.aggregation is Aggregation.MEAN else 1
    if share == 1 and not update.by_staleness:
        return difference
    return weigh(difference, staleness if update.by_staleness else constant(1, int64), share)


def by_task(replica: Replica) -> dict[str, list[Variable]]:
    """The parameters and the global step, by the task they are on."""
    found: dict[str, list[Variable]] = {}
    for variable in (*replica.variables, replica.global_step):
        found.setdefault(task_of(variable), []).append(variable)
    return found
