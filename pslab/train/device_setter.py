"""Spreading variables over parameter servers (TensorFlow 1's ``tf.train.replica_device_setter``)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from pslab.errors import UsageError
from pslab.graph.device import DeviceSpec
from pslab.graph.operation import Operation

Strategy = Callable[[Operation], int]
"""From a variable's op to the index of the ps that is to hold it."""

VARIABLES = ("VariableV2",)
"""Types of the ops that are put on a ps. What a variable has besides (its slots, its initializer) goes where it is."""


class GreedyLoadBalancingStrategy:
    """Puts each variable on the ps that has the least load so far.

    Args:
        num_tasks: number of ps tasks.
        load_fn: the load that a variable's op brings, such as `byte_size_load_fn`.
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[Operation], float]) -> None:
        if num_tasks < 1:
            raise UsageError(f"num_tasks must be at least 1, found {num_tasks}")
        self._loads = [0.0] * num_tasks
        self._load_fn = load_fn

    def __call__(self, op: Operation) -> int:
        task = self._loads.index(min(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: Operation) -> float:
    """Bytes of a variable.

    Raises:
        UsageError: its static shape is not fully known.
    """
    tensor = op.outputs[0]
    count = tensor.shape.num_elements()
    if count is None:
        raise UsageError(f"variable {op.name!r} has shape {tensor.shape}: its bytes are not known", "give it a full shape")
    return float(count * tensor.dtype.size)


class _RoundRobin:
    """Each ps in turn."""

    def __init__(self, num_tasks: int) -> None:
        self._num_tasks = num_tasks
        self._next = 0

    def __call__(self, op: Operation) -> int:
        task, self._next = self._next, (self._next + 1) % self._num_tasks
        return task


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: Any = None,
    ps_ops: Collection[str] | None = None,
    ps_strategy: Strategy | None = None,
) -> Callable[[Operation], str] | None:
    """A device function for `Graph.device`: variables go to the ps tasks, all other ops to the worker.

    Args:
        ps_tasks: number of ps tasks; ignored where ``cluster`` is given.
        ps_device: device of the ps job.
        worker_device: device of the other ops.
        merge_devices: whether to fill in only what an op's device leaves open; else an op that has a device keeps it as it is.
        cluster: a `ClusterSpec`, or a dict, whose ps job is to be used.
        ps_ops: types of the ops that are put on a ps; variables by default.
        ps_strategy: which ps; each in turn by default.

    Returns:
        The function, or None where there is no ps.

    Raises:
        UsageError: ``ps_strategy`` cannot be called.
    """
    job = DeviceSpec.from_string(ps_device).job or "ps"
    if cluster is not None:
        tasks = (cluster.as_dict() if hasattr(cluster, "as_dict") else dict(cluster)).get(job, ())
        ps_tasks = len(tasks)
    if ps_tasks == 0:
        return None
    choose = _RoundRobin(ps_tasks) if ps_strategy is None else ps_strategy
    if not callable(choose):
        raise UsageError(f"ps_strategy must be a function from an op to a task's index, found {ps_strategy!r}")
    kinds = VARIABLES if ps_ops is None else ps_ops
    ps, worker = DeviceSpec.from_string(ps_device), DeviceSpec.from_string(worker_device)

    def device_of(op: Operation) -> str:
        asked = DeviceSpec.from_string(op.device)
        if not merge_devices and op.device:
            return op.device
        wanted = worker
        if op.type in kinds:
            wanted = ps
            if asked.task is None and asked.job in (None, job):
                wanted = ps.replace(task=choose(op))
        return wanted.merge_under(asked).to_string()

    return device_of
