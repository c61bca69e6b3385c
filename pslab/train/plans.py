"""The plan of a mode's step, made without running anything: for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pslab.data.division import Division
from pslab.data.partitions import DataSource
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.partition import partition, prune
from pslab.graph.placement import place
from pslab.graph.plan import StepPlan
from pslab.graph.tensor import Tensor
from pslab.train import between_graph, in_graph
from pslab.train.collective import Pipeline, RingAllReduce
from pslab.train.job import CHIEF, CLIENT, Job
from pslab.train.model import Features, Model
from pslab.train.pipeline import pipeline
from pslab.train.replica import build_replica
from pslab.train.ring import ring_replica
from pslab.train.strategy import Replication, Strategy


def sketch(model: Model, dataset: DataSource, strategy: Strategy, ps: int, workers: int) -> Job:
    """A job that is not to be run."""
    return Job(model, Features.of(*dataset.sample), ps, workers, strategy, "sketch", 0, Division(), 0)


class PlannedStep(NamedTuple):
    """A step, planned.

    Attributes:
        plan: its plan.
        graph: the graph it is a step of.
        feeds: what it is fed.
    """

    plan: StepPlan
    graph: Graph
    feeds: Sequence[Tensor]


def placement_of(plan: StepPlan) -> str:
    """One line per op, as TensorFlow's ``log_device_placement`` prints it: ``op: (Type): device``."""
    nodes = [n for part in plan.partitions.values() for stage in part.stages for n in (*stage.nodes, *stage.waits)]
    return "\n".join(f"{n.name}: ({n.type}): {n.device}" for n in nodes)


def mode_plan(job: Job, worker: int = 0) -> StepPlan:
    """The plan of `mode_step`."""
    return mode_step(job, worker).plan


def mode_step(job: Job, worker: int = 0) -> PlannedStep:
    """One step of training: one worker's, in between-graph replication; the client's, in in-graph.

    Args:
        job: what is trained, and how.
        worker: whose step, where each has its own.
    """
    if isinstance(job.strategy.update, Pipeline):
        piped = pipeline(job)
        return _plan(job, CLIENT, [piped.next_step, piped.granted, piped.loss, *piped.metrics.values()], piped.feeds)
    if isinstance(job.strategy.update, RingAllReduce):
        ring = ring_replica(job, worker)
        ends = [] if ring.granted is None else [ring.granted]
        return _plan(job, f"worker:{worker}", [ring.next_step, ring.stood, *ring.results, *ends, *ring.pushes], ring.feeds)
    if job.strategy.replication is Replication.IN_GRAPH:
        step = in_graph.towers_graph(job).steps[0 if job.strategy.gathered else worker]
        values: list[Tensor] = [t for tower in step.towers for t in (tower.loss, *tower.metrics.values())]
        return _plan(job, CLIENT, [step.staleness, step.next_step, step.granted, *values, *step.further], step.feeds)
    graph = between_graph.worker_graph(job, worker)
    tower = graph.replica.tower
    fetches: list[Tensor | Operation] = [
        graph.staleness,
        graph.next_step,
        tower.loss,
        *tower.metrics.values(),
        *graph.next_parameters,
        *graph.further,
    ]
    return _plan(job, f"worker:{worker}", fetches, graph.feeds)


def chief_step(job: Job) -> PlannedStep:
    """The chief's step, which makes the updates of synchronous between-graph training."""
    graph = between_graph.chief(job)
    return _plan(job, CHIEF, [graph.next_step, graph.granted], [])


def evaluation_step(job: Job) -> PlannedStep:
    """A step of testing: the loss and the metrics of a batch."""
    tower = build_replica(job.fed, 0).tower
    return _plan(job, CHIEF, [tower.loss, *tower.metrics.values()], [tower.x, tower.y])


def prediction_step(job: Job) -> PlannedStep:
    """A step of predicting: the outputs for a batch."""
    tower = build_replica(job.fed, 0).tower
    return _plan(job, CHIEF, list(tower.outputs.values()) or [tower.loss], [tower.x] if tower.outputs else [tower.x, tower.y])


def _plan(job: Job, master: str, fetches: Sequence[Tensor | Operation], feeds: Sequence[Tensor]) -> PlannedStep:
    operations = prune([f.op if isinstance(f, Tensor) else f for f in fetches], feeds)
    placed = place(operations, master=master, tasks=job.task_names, devices=lambda task: ("CPU:0",))
    plan = partition(operations, placed, master=master, fetches=[f for f in fetches if isinstance(f, Tensor)], feeds=feeds)
    return PlannedStep(plan, fetches[0].graph, feeds)
