"""Resident parameters: while a mode without a parameter server is in force, parameters and slots live on the workers.

An epoch loads them from the ps, where they rest between epochs, and publishes them back there: at its end, and whenever somebody asks for them, always
between two steps. The copies bear the epoch's name, so that nothing that is left of an older epoch can touch them. Beside them each task counts the
updates that its own have had: copies of different counts are no model, and the global step that is published is that of the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pslab.errors import OpError
from pslab.graph.build import apply, apply_op, convert_to_tensor
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.ops.sources import group
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable, global_variables
from pslab.runtime.session import Session
from pslab.train.collective import RingAllReduce
from pslab.train.epoch_names import variables_of
from pslab.train.job import CLIENT, Job
from pslab.train.replica import Replica, build_model, build_replica, worker_device
from pslab.train.strategy import Strategy


def holders(strategy: Strategy, workers: int) -> list[str]:
    """The tasks that can publish the parameters of an epoch: any worker where each has a copy, else the client."""
    return [f"worker:{i}" for i in range(workers)] if isinstance(strategy.update, RingAllReduce) else [CLIENT]


def build_copy(job: Job, worker: int) -> Replica:
    """The job's model with parameters of the epoch's own, on its worker."""
    return build_model(job, worker, worker_device(worker), variables_of(job.epoch_id).rstrip("/"))


@dataclass(frozen=True)
class Resident:
    """Variables of a graph that live on workers while the epoch lasts.

    Attributes:
        counts: the updates that they have had: a variable on each of their tasks.
        load: gives them the values of those on the ps.
        publish: gives those on the ps their values; the global step, too.
    """

    counts: Sequence[Variable]
    load: Operation
    publish: Operation

    def count_after(self, updates: Sequence[Operation]) -> list[Tensor]:
        """Add one to each task's count, after its own updates; the new counts."""
        counted = []
        for count in self.counts:
            with count.graph.colocate_with(count.op):
                one = convert_to_tensor(np.int64(1))  # made before, so that it does not part two critical sections
                with count.graph.control_dependencies([u for u in updates if u.device == count.device]):
                    counted.append(count.assign_add(one))
        return counted


def reside(job: Job, graph: Graph) -> Resident:
    """What loads and publishes all variables of a graph that were built in the scope of the job's epoch, slots among them."""
    with graph.as_default(), graph.name_scope(variables_of(job.epoch_id)):
        global_step, *variables = global_variables()
        counts, load, publish = [], [], []
        for variable, rest in zip(variables, _at_rest(job), strict=True):
            attrs = {**variable.op.attrs, "variable": rest.op.name}
            with graph.device(rest.device):
                load.append(variable.assign(apply("ReadVariable", [], "at_rest", **attrs)).op)
                publish.append(apply_op("Assign", [variable.value()], "publish", **attrs))
        for device in dict.fromkeys(v.device for v in variables):
            with graph.device(device):
                counts.append(Variable(np.int64(0), trainable=False, collections=[], name="updates"))
            load.append(counts[-1].assign(global_step.value()).op)
        publish.append(global_step.assign(counts[0].value()).op)
        return Resident(counts, group(load, name="load"), group(publish, name="publish_all"))


def _at_rest(job: Job) -> list[Variable]:
    """The variables as they lie on the ps, in the order in which a model and its optimizer make them."""
    replica = build_replica(job.fed, 0)
    with replica.on_worker():
        replica.optimizer.update(zip(replica.gradients, replica.variables, strict=True))  # makes the slots
        return global_variables()[1:]  # the first is the global step


class Residence:
    """The way of a session to the resident variables of its graph.

    Args:
        resident: the variables.
        session: a session of their graph.
    """

    def __init__(self, resident: Resident, session: Session) -> None:
        self._counts = session.prepare([c.value() for c in resident.counts], [])
        self._publish = session.prepare([resident.publish], [])
        self._load = session.prepare([resident.load], [])

    def load(self) -> None:
        """Fetch them from the ps.

        Raises:
            OpError: a task was lost.
        """
        self._load.run(())

    def step(self) -> int | None:
        """The updates that the variables have had; None if some of them are lost, or were updated without the others."""
        try:
            counts = {int(count) for count in self._counts.run(()).values}
        except OpError:
            return None
        return counts.pop() if len(counts) == 1 else None

    def publish(self) -> None:
        """Bring them to the ps. Call it between two steps.

        Raises:
            OpError: a task was lost.
        """
        self._publish.run(())
