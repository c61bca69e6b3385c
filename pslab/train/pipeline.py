"""The graph of pipeline parallelism: one client's, with a model whose layers are on several workers, and a batch in microbatches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pslab.errors import UsageError
from pslab.graph.build import apply_op, convert_to_tensor
from pslab.graph.clone import clone
from pslab.graph.device import DeviceSpec
from pslab.graph.gradients import gradients
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.math import add, add_n, multiply
from pslab.graph.ops.numerics import check_numerics
from pslab.graph.ops.random import set_random_seed
from pslab.graph.ops.sources import identity, no_op
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable, trainable_variables
from pslab.layers.variable_scope import variable_scope
from pslab.optim.global_step import create_global_step
from pslab.sync.claim_ops import claim, try_claim
from pslab.sync.tick import ticks
from pslab.train.collective import Pipeline
from pslab.train.epoch_names import variables_of
from pslab.train.job import Job
from pslab.train.leaving import Leaving, leaving
from pslab.train.model import Tower, build_tower
from pslab.train.reading import Reading, fed
from pslab.train.replica import PS_0, Replica, worker_device
from pslab.train.resident import Resident, reside
from pslab.train.ring import chunk_sizes
from pslab.train.straggler import held_up


def _infer_microbatches(op: Operation) -> infer.Inferred:
    x = op.inputs[0]
    return [(x.dtype, TensorShape(None if x.shape.dims is None else (None, *x.shape.dims[1:])))] * op.attrs["count"]


def _microbatches(xp: Any, x: Any, *, count: int) -> Any:
    return tuple(xp.array_split(x, count)) if count > 1 else x


register("Microbatches", infer=_infer_microbatches, kernel=_microbatches, view=True)


@dataclass(frozen=True)
class PipelineGraph:
    """The client's graph.

    Attributes:
        replica: the model, of the first microbatch, with the gradients of the whole batch.
        resident: its parameters, each beside its layer.
        stages: indices of the workers that have a stage.
        feeds: what a step is fed: the examples and the labels of the whole batch.
        loss: of the whole batch.
        metrics: of the whole batch, by name.
        next_step: the global step after the update; running it makes one.
        granted: whether the next update is claimed already.
        claim: waits until the next update is claimed.
        leaving: what is to be done when a worker is out of data.
    """

    replica: Replica
    resident: Resident
    stages: Sequence[int]
    feeds: Sequence[Tensor]
    loss: Tensor
    metrics: Mapping[str, Tensor]
    next_step: Tensor
    granted: Tensor
    claim: Tensor
    leaving: Leaving


def pipeline(job: Job) -> PipelineGraph:
    """The client's graph of one step: all microbatches forward, all back in reverse order, one update by the mean gradient.

    Microbatch j is at the s-th stage when it has been forward for j + s stages of the plan: the pipeline's clock. No worker updates its parameters before
    every worker has its whole gradient, so that a step is made as a whole or not at all.

    Raises:
        UsageError: the model has no stages, or more than there are workers; a batch has fewer examples than there are microbatches, or is not fed.
    """
    assert isinstance(job.strategy.update, Pipeline)
    count, total = job.strategy.update.microbatches, job.division.together(job.workers)
    if job.reading is not Reading.FEEDING:
        raise UsageError(f"a pipeline is fed its examples, but they are to be {job.reading}", "choose the data with reading='feeding'")
    if count > total:
        raise UsageError(f"a batch of {total} examples cannot be cut into {count} microbatches", f"at most {total}")
    graph, placed = Graph(), _WhereTheModelIs()
    with graph.as_default():
        set_random_seed(job.model.seed)
        with graph.device(PS_0):
            global_step = create_global_step()
        whole = fed(job.features)
        with graph.device(placed), variable_scope(variables_of(job.epoch_id).rstrip("/")):
            tower = build_tower(job.model, whole)
        _check_stages(job, placed.workers)
        towers = _microbatches_of(tower, count)
        weights = [size / total for size in chunk_sizes(total, count)]
        variables, found = _mean_gradients(job, towers, weights)
        replica = Replica(graph, placed.workers[-1], tower, global_step, job.model.make_optimizer(), variables, found)
        with graph.device(PS_0), graph.control_dependencies([*(g.op for g in found), *_held_up(found, variables)]):
            everywhere = no_op("gradients_are_everywhere")
        whole_gradients = []
        for gradient, variable in zip(found, variables, strict=True):
            with graph.colocate_with(variable.op), graph.control_dependencies([everywhere]):
                whole_gradients.append(identity(gradient))
        updates = replica.optimizer.update(zip(whole_gradients, variables, strict=True))
        resident = reside(job, graph)
        next_step = replica.count_after([c.op for c in resident.count_after([u.op for u in updates])])
        with graph.device(PS_0):
            waiting = claim(job.epoch_id)
            with graph.control_dependencies([next_step]):
                granted = try_claim(job.epoch_id)
        loss = _mean([t.loss for t in towers], weights)
        metrics = {name: _mean([t.metrics[name] for t in towers], weights) for name in tower.metrics}
    return PipelineGraph(replica, resident, placed.workers, [whole.x, whole.y], loss, metrics, next_step, granted, waiting, leaving(job, replica))


class _WhereTheModelIs:
    """A device function for a model with stages: what is outside of its device blocks stays on the worker where the model was last."""

    def __init__(self) -> None:
        self._last = 0
        self._seen = set[int]()

    @property
    def workers(self) -> list[int]:
        """The workers that the model was on."""
        return sorted(self._seen)

    def __call__(self, op: Operation) -> str:
        asked = DeviceSpec.from_string(op.device)
        if asked.job == "worker":
            self._last = asked.task or 0
        elif asked.job is not None:
            return op.device
        self._seen.add(self._last)
        return asked.replace(job="worker", task=self._last).to_string()


def _check_stages(job: Job, workers: Sequence[int]) -> None:
    if workers[-1] >= job.workers:
        raise UsageError(f"model {job.model.name!r} has a stage on worker:{workers[-1]}, but there are {job.workers} workers", "scale the cluster up")
    if len(workers) == 1 < job.workers:
        raise UsageError(
            f"model {job.model.name!r} has no stages: all its layers are on worker:{workers[0]}",
            "model('mlp', hidden=[…], stages=n), or put layers into blocks of pslab.device('/job:worker/task:1')",
        )


def _microbatches_of(tower: Tower, count: int) -> list[Tower]:
    """The tower anew for each microbatch, each a stage of the plan later than the one before it."""
    graph, towers = tower.loss.graph, []
    xs, ys = _cut(tower.x, count), _cut(tower.y, count)
    with graph.colocate_with(xs[0].op):
        clock = [None, *ticks(count - 1)]
    for number, (tick, x, y) in enumerate(zip(clock, xs, ys, strict=True)):
        with graph.colocate_with(x.op), graph.control_dependencies([] if tick is None else [tick]):
            x_now = identity(x, f"microbatch_{number}/x")
        with graph.name_scope(f"microbatch_{number}/"):
            loss, *metrics = clone([tower.loss, *tower.metrics.values()], {tower.x: x_now, tower.y: y}, device=lambda op: op.device)
        towers.append(replace(tower, loss=loss, metrics=dict(zip(tower.metrics, metrics, strict=True)), outputs={}))
    return towers


def _cut(batch: Tensor, count: int) -> list[Tensor]:
    """The microbatches of a batch, cut where the model uses it first: parts along the first axis, whose sizes differ by one at most."""
    users = (op.device for op in batch.graph.operations if batch in op.inputs)
    with batch.graph.device(next(users, worker_device(0))):
        return list(apply_op("Microbatches", [batch], count=count).outputs)


def _mean_gradients(job: Job, towers: Sequence[Tower], weights: Sequence[float]) -> tuple[list[Variable], list[Tensor]]:
    """The variables that the loss depends on, and the gradients of the mean loss: the last microbatch goes back first, after all were forward."""
    graph, last = towers[0].loss.graph, towers[0].loss
    checks = []
    for number, tower in enumerate(towers):
        with graph.colocate_with(last.op):
            where = DeviceSpec.from_string(last.op.device).task_name
            checks.append(check_numerics(tower.loss, f"the loss of {where}, microbatch {number}").op)
    with graph.colocate_with(last.op):
        clock = [None, *ticks(len(towers) - 1, after=checks)]
    variables = trainable_variables()
    sums: list[Tensor | None] = [None] * len(variables)
    for tick, number in zip(clock, reversed(range(len(towers))), strict=True):
        loss = towers[number].loss
        with graph.colocate_with(last.op):
            share = convert_to_tensor(weights[number], like=loss)
            with graph.control_dependencies(checks if tick is None else [tick]):
                seed = identity(share)
        parts = gradients(loss, variables, seed, f"backward_{number}", colocate_gradients_with_ops=True)
        for index, (part, variable) in enumerate(zip(parts, variables, strict=True)):
            if part is not None:
                before = sums[index]
                with graph.colocate_with(variable.op), graph.name_scope(f"backward_{number}/"):
                    sums[index] = part if before is None else add(before, part)
    pairs = [(v, g) for v, g in zip(variables, sums, strict=True) if g is not None]
    if not pairs:
        raise UsageError(f"the loss of model {job.model.name!r} depends on no variable", "is there a stop_gradient or an argmax on the way?")
    return [v for v, _ in pairs], [g for _, g in pairs]


def _held_up(found: Sequence[Tensor], variables: Sequence[Variable]) -> list[Operation]:
    """Ops after which the gradients of a stage are given away: later, where its worker is slow."""
    sleeps = []
    for device in dict.fromkeys(v.device for v in variables):
        with found[0].graph.device(device):
            sleeps.append(held_up([g for g, v in zip(found, variables, strict=True) if v.device == device]))
    return sleeps


def _mean(values: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
    with values[0].graph.colocate_with(values[0].op):
        return add_n([multiply(value, convert_to_tensor(weight, like=value)) for value, weight in zip(values, weights, strict=True)])
