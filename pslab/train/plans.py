"""The plan of a mode's step, made without running anything: for people to read."""

from __future__ import annotations

from collections.abc import Sequence

from pslab.data.partitions import DataSource
from pslab.graph.operation import Operation
from pslab.graph.partition import partition, prune
from pslab.graph.placement import place
from pslab.graph.plan import StepPlan
from pslab.graph.tensor import Tensor
from pslab.train import between_graph, in_graph
from pslab.train.job import CLIENT, Job
from pslab.train.model import Features, Model
from pslab.train.strategy import Replication, Strategy, Sync


def sketch(model: Model, dataset: DataSource, strategy: Strategy, ps: int, workers: int) -> Job:
    """A job that is not to be run."""
    return Job(model, Features.of(*dataset.sample), ps, workers, strategy, "sketch", 0, 64, 0, 0)


def mode_plan(job: Job, worker: int = 0) -> StepPlan:
    """The plan of one step: of one worker's, in between-graph replication; of the client's, in in-graph.

    Args:
        job: what is trained, and how.
        worker: whose step, where each has its own.
    """
    sync = isinstance(job.strategy.update, Sync)
    if job.strategy.replication is Replication.IN_GRAPH:
        towers = in_graph.sync_towers(job) if sync else in_graph.async_towers(job)
        step = towers.steps[0 if sync else worker]
        values: list[Tensor] = [t for tower in step.towers for t in (tower.loss, *tower.metrics.values())]
        return _plan(job, CLIENT, [step.staleness, step.next_step, *values], step.feeds)
    replica = between_graph.sync_replica(job, worker) if sync else between_graph.async_replica(job, worker)
    tower = replica.replica.tower
    fetches: list[Tensor | Operation] = [
        replica.staleness,
        replica.next_step,
        tower.loss,
        *tower.metrics.values(),
        *replica.next_parameters,
        *replica.pushes,
    ]
    return _plan(job, f"worker:{worker}", fetches, replica.feeds)


def _plan(job: Job, master: str, fetches: Sequence[Tensor | Operation], feeds: Sequence[Tensor]) -> StepPlan:
    operations = prune([f.op if isinstance(f, Tensor) else f for f in fetches], feeds)
    placed = place(operations, master=master, tasks=job.task_names, devices=lambda task: ("CPU:0",))
    return partition(operations, placed, master=master, fetches=[f for f in fetches if isinstance(f, Tensor)], feeds=feeds)
