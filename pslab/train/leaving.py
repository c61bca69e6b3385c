"""How a worker that is out of data leaves: it gives back the update that it has claimed, and nobody waits for it any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pslab.graph.operation import Operation
from pslab.sync.claim_ops import give_back
from pslab.sync.pacing_ops import clock_leave
from pslab.sync.quorum_ops import QuorumRule, quorum_leave
from pslab.train.applying import by_task, pace_of
from pslab.train.epoch_names import resources_of
from pslab.train.job import Job
from pslab.train.replica import PS_0, Replica
from pslab.train.updates import KAsync, Sync


@dataclass(frozen=True)
class Leaving:
    """What a loop runs once, when there are no data for it any more.

    Attributes:
        leave: ops by which its worker leaves quorums and clocks, on each ps.
        give_back: an op that gives a claim back.
    """

    leave: Sequence[Operation]
    give_back: Operation


def quorum_of(job: Job) -> QuorumRule:
    """How many contributions an update waits for, where they are gathered."""
    update = job.strategy.update
    assert isinstance(update, Sync | KAsync)
    most, backup = (job.workers, update.backup) if isinstance(update, Sync) else (update.k, 0)
    return QuorumRule(resources_of(job.epoch_id), job.workers, most, backup)


def leaving(job: Job, replica: Replica) -> Leaving:
    """How the worker of a replica leaves in the job's mode."""
    left = []
    if not job.strategy.resident:
        pace = pace_of(job)
        for variables in by_task(replica).values():
            with replica.graph.as_default(), replica.graph.colocate_with(variables[0].op):
                if pace is not None:
                    left.append(clock_leave(pace, replica.worker, [v for v in variables if v is not replica.global_step]))
                elif isinstance(job.strategy.update, Sync):
                    left.append(quorum_leave(quorum_of(job), replica.worker))
        if isinstance(job.strategy.update, KAsync):
            with replica.graph.as_default(), replica.graph.device(PS_0):
                left.append(quorum_leave(quorum_of(job), replica.worker))
    return Leaving(left, giving_back(job, replica))


def giving_back(job: Job, replica: Replica) -> Operation:
    """An op that gives a claim back."""
    with replica.graph.as_default(), replica.graph.device(PS_0):
        return give_back(job.epoch_id)
