"""From a job to what its step would cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pslab.runtime.transport import Network
from pslab.simulate.cost import Workload
from pslab.trace.recorder import Records
from pslab.train.job import Job
from pslab.train.plans import PlannedStep, chief_step, mode_step
from pslab.train.strategy import Replication


def steps_of(job: Job) -> list[PlannedStep]:
    """What each loop of a job runs again and again."""
    in_graph = job.strategy.replication is Replication.IN_GRAPH
    if in_graph and job.strategy.gathered:
        return [mode_step(job)]
    steps = [mode_step(job, worker) for worker in range(job.workers)]
    return [*steps, chief_step(job)] if job.strategy.gathered and not in_graph else steps


def workload(job: Job, network: Network, records: Records, cores: int | None, measured: Mapping[str, float] | None = None) -> Workload:
    """What a job's steps are to the cost model.

    Args:
        job: the job.
        network: the shape of its links.
        records: steps that were made, for the seconds that each worker computes.
        cores: how many tasks compute at once.
        measured: bytes of tensors that were measured, by name.
    """
    steps, batch = steps_of(job), round(job.division.together(job.workers) / job.workers)
    fed = {
        tensor.name: float(tensor.dtype.size * math.prod(batch if d is None else d for d in tensor.shape.dims or ()))
        for step in steps
        for tensor in step.feeds
    }
    return Workload(
        [step.plan for step in steps],
        network,
        measured_compute(records),
        _around(records),
        cores,
        job.strategy.commit_every,
        batch=batch,
        sizes={**fed, **(measured or {})},
    )


PHASES = ("wall", "compute", "wait", "push", "pull")
"""The fields of a step's record that are seconds."""


def measured_step(records: Records, commit_every: int) -> dict[str, float]:
    """The mean seconds of a step in each of `PHASES`, of records of one mode.

    Steps that were observed did more than others, and are left out where there are others; a commit counts as one of ``commit_every`` steps.
    """
    commits, apart = records[~np.isnan(records["staleness"])], records[np.isnan(records["staleness"])]
    usual = commits[~commits["observed"]]
    return {name: (_mean(apart[name]) * (commit_every - 1) + _mean((usual if len(usual) else commits)[name])) / commit_every for name in PHASES}


def measured_compute(records: Records) -> dict[str, float]:
    """Seconds that each worker computes for a step: the median, for one that has to wait for a core now and then needs no more."""
    usual = records[~records["observed"]] if np.any(~records["observed"]) else records
    return {f"worker:{worker}": float(np.median(usual["compute"][usual["worker"] == worker])) for worker in np.unique(usual["worker"])}


def _around(records: Records) -> float:
    """Seconds of a step that are in none of its phases."""
    rest = records["wall"] - sum(records[name] for name in PHASES[1:])
    return max(0.0, float(np.median(rest))) if len(rest) else 0.0


def _mean(values: np.ndarray[Any, Any]) -> float:
    return float(values.mean()) if len(values) else 0.0
