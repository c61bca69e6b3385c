"""A replica: a model on one worker, its parameters on the ps, and its gradients. What all training graphs begin with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from pslab.errors import UsageError
from pslab.graph.build import convert_to_tensor
from pslab.graph.device import DeviceSpec
from pslab.graph.graph import DeviceFunction, Graph
from pslab.graph.operation import Operation
from pslab.graph.ops.numerics import check_numerics
from pslab.graph.ops.random import set_random_seed
from pslab.graph.ops.sources import identity
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.layers.variable_scope import variable_scope
from pslab.optim.global_step import create_global_step
from pslab.optim.optimizer import Optimizer
from pslab.train.commits import Differences
from pslab.train.device_setter import replica_device_setter
from pslab.train.job import Job
from pslab.train.model import Tower, build_tower
from pslab.train.reading import source_of
from pslab.train.straggler import held_up

PS_0 = "/job:ps/task:0"
"""Where the global step lives, and what belongs to it."""


@dataclass(frozen=True)
class Replica:
    """A model in a graph of its own.

    Attributes:
        graph: the graph.
        worker: index of the worker that computes it.
        tower: the model.
        global_step: on the first ps.
        optimizer: makes the updates.
        variables: the parameters that the loss depends on, spread over the ps tasks in turn.
        gradients: one per parameter, computed on the worker. They are not to be had if the loss is not finite: the step fails instead.
    """

    graph: Graph
    worker: int
    tower: Tower
    global_step: Variable
    optimizer: Optimizer
    variables: Sequence[Variable]
    gradients: Sequence[Tensor]

    @property
    def reads(self) -> list[Tensor]:
        """The parameters as the replica reads them."""
        return [v.value() for v in self.variables]

    @contextmanager
    def on_worker(self) -> Iterator[None]:
        """Build further ops of this graph, on the worker."""
        with self.graph.as_default(), self.graph.device(worker_device(self.worker)):
            yield

    def count_after(self, ops: Sequence[Operation]) -> Tensor:
        """Add one to the global step after ``ops``; its new value. The one is made before, so that it does not part two critical sections."""
        with self.graph.colocate_with(self.global_step.op):
            one = convert_to_tensor(1, self.global_step.dtype)
            with self.graph.control_dependencies(ops):
                return self.global_step.assign_add(one)


def worker_device(worker: int) -> str:
    """The device of a worker's ops."""
    return f"/job:worker/task:{worker}"


def build_replica(job: Job, worker: int) -> Replica:
    """Build the job's model for one worker, its parameters on the ps.

    Raises:
        UsageError: the loss depends on no variable.
    """
    spread = job.model.placement.over(job.ps)
    return build_model(job, worker, replica_device_setter(ps_tasks=job.ps, worker_device=worker_device(worker), ps_strategy=spread))


def build_model(job: Job, worker: int, device: DeviceFunction | str | None, scope: str = "") -> Replica:
    """Build the job's model, whole, for one worker.

    Args:
        job: what is trained.
        worker: index of the worker.
        device: where what asks for no device goes, and all variables.
        scope: a variable scope for the model; none if empty.

    Raises:
        UsageError: the loss depends on no variable.
    """
    graph = Graph()
    with graph.as_default():
        set_random_seed(_seed(job, worker))
        with graph.device(PS_0):
            global_step = create_global_step()
        with graph.device(device):
            with graph.device(worker_device(worker)):
                source = source_of(job, worker)
            with graph.device(without_stage), variable_scope(scope) if scope else nullcontext():
                tower = build_tower(job.model, source)
            optimizer = job.model.make_optimizer()
            pairs = [(g, v) for g, v in optimizer.compute_gradients(tower.loss) if g is not None]
            if not pairs:
                raise UsageError(f"the loss of model {job.model.name!r} depends on no variable", "is there a stop_gradient or an argmax on the way?")
            gradients = guarded(tower.loss, [g for g, _ in pairs], worker)
    return Replica(graph, worker, tower, global_step, optimizer, [v for _, v in pairs], gradients)


def without_stage(op: Operation) -> str:
    """An op's device without the worker that its model puts it on: a replica is whole. Only a pipeline goes by the stages of a model."""
    asked = DeviceSpec.from_string(op.device)
    return asked.replace(job=None, task=None).to_string() if asked.job == "worker" else op.device


def _seed(job: Job, worker: int) -> int:
    """Of initial values: the model's, or one of the worker's own where each begins at its own."""
    commit = job.strategy.commit
    return job.model.seed + (1 + worker if isinstance(commit, Differences) and commit.own_start else 0)


def guarded(loss: Tensor, gradients: Sequence[Tensor], worker: int) -> list[Tensor]:
    """``gradients``, which do not leave the worker unless ``loss`` is finite; and later, where the worker is slow."""
    check = check_numerics(loss, f"the loss of worker:{worker}")
    with loss.graph.control_dependencies([check]):
        sleep = held_up(gradients)
    with loss.graph.control_dependencies([sleep]):
        return [identity(g, name=f"gradient/{i}") for i, g in enumerate(gradients)]
