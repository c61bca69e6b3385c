"""Where a replica's ops go: variables to the ps tasks in turn, everything else to the worker (TensorFlow 1's ``replica_device_setter``)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pslab.errors import ShapeError, UsageError
from pslab.graph.device import DeviceSpec
from pslab.graph.operation import Operation
from pslab.runtime.cluster_spec import ClusterSpec

STANDARD_PS_OPS = ("VariableV2",)
"""Op types that go to the ps. Whatever is built beside a variable (its reads, its slots) follows it there."""

Strategy = Callable[[Operation], int]
"""From an op that goes to the ps to the index of the ps task that takes it."""


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: ClusterSpec | Mapping[str, Any] | None = None,
    ps_ops: Collection[str] | None = None,
    ps_strategy: Strategy | None = None,
) -> Callable[[Operation], str] | None:
    """A device function for `pslab.device`: variables go to the ps tasks in turn, everything else to the worker.

    What inner ``device`` blocks ask for stays; only the fields they leave open are filled in.

    Args:
        ps_tasks: number of ps tasks; ignored if ``cluster`` is given.
        ps_device: the ps job, and possibly a type of device; ``""`` for none.
        worker_device: where the other ops go; ``""`` for nowhere in particular.
        merge_devices: False leaves ops that have any device alone.
        cluster: where the number of ps tasks is taken from.
        ps_ops: op types that go to the ps; `STANDARD_PS_OPS` by default.
        ps_strategy: chooses the ps task of an op; in turn by default. See `GreedyLoadBalancingStrategy`.

    Returns:
        The function; None, which leaves everything open, if there are no ps tasks.

    Raises:
        UsageError: ``ps_strategy`` is not callable, or ``cluster`` is no cluster.
        DeviceError: a device that cannot be parsed.
    """
    ps, worker = DeviceSpec.from_string(ps_device), DeviceSpec.from_string(worker_device)
    if cluster is not None:
        spec = ClusterSpec(cluster)
        ps_tasks = spec.num_tasks(ps.job) if ps.job in spec.jobs else 0
    if ps_strategy is not None and not callable(ps_strategy):
        raise UsageError(f"ps_strategy is a function from an op to the index of a ps task, not {ps_strategy!r}")
    if ps_tasks == 0:
        return None
    on_ps = frozenset(STANDARD_PS_OPS if ps_ops is None else ps_ops) if ps_device else frozenset()
    return _Chooser(ps, worker, merge_devices, on_ps, ps_strategy or _in_turn(ps_tasks))


class GreedyLoadBalancingStrategy:
    """A strategy that gives each variable to the ps task with the least load so far (TensorFlow 1's, of ``tf.contrib.training``).

    Args:
        num_tasks: number of ps tasks.
        load_fn: the load that an op puts on its task, for example `byte_size_load_fn`.

    Raises:
        UsageError: there are no tasks.
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[Operation], float]) -> None:
        if num_tasks < 1:
            raise UsageError(f"num_tasks must be at least 1, found {num_tasks}")
        self._loads = [0.0] * num_tasks
        self._load_fn = load_fn

    def __call__(self, op: Operation) -> int:
        """The task for ``op``: of those with the least load, the first."""
        task = self._loads.index(min(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: Operation) -> int:
    """The bytes of a variable's value.

    Raises:
        UsageError: the op has not one output.
        ShapeError: its shape is not fully known.
    """
    if len(op.outputs) != 1:
        raise UsageError(f"op {op.name!r} has {len(op.outputs)} outputs; the bytes of one are asked for")
    count = op.outputs[0].shape.num_elements()
    if count is None:
        raise ShapeError(f"variable {op.name!r} has shape {op.outputs[0].shape}; its bytes are not known")
    return count * op.outputs[0].dtype.size


@dataclass(frozen=True)
class _Chooser:
    ps: DeviceSpec
    worker: DeviceSpec
    merge: bool
    ps_ops: frozenset[str]
    strategy: Strategy

    def __call__(self, op: Operation) -> str:
        if op.device and not self.merge:
            return op.device
        asked = DeviceSpec.from_string(op.device)
        if op.type not in self.ps_ops:
            return self.worker.merge_under(asked).to_string()
        ps = self.ps
        if ps.job and asked.job in (None, ps.job):  # a variable that was sent to another job takes no turn
            ps = ps.replace(task=self.strategy(op))
        return ps.merge_under(asked).to_string()


def _in_turn(tasks: int) -> Strategy:
    turns = itertools.cycle(range(tasks))
    return lambda op: next(turns)
