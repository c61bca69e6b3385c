"""Placement: which device each op runs on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from pslab.errors import DeviceError
from pslab.graph.device import DeviceSpec
from pslab.graph.operation import Operation


def place(
    operations: Iterable[Operation],
    *,
    master: str,
    tasks: Collection[str],
    devices: Callable[[str], Sequence[str]],
    allow_soft_placement: bool = False,
) -> dict[Operation, DeviceSpec]:
    """Choose a device for each op.

    What the op asks for is kept; a job without a task means task 0; an op that names no job runs on the master's task. Where no type of device is asked
    for, the task's first device is taken: its GPU if it has one.

    Args:
        operations: the ops to place.
        master: name of the session's own task, such as ``"worker:0"``.
        tasks: names of all tasks of the cluster.
        devices: from a task's name to its devices, preferred first, such as ``("GPU:0", "CPU:0")``. Asked for tasks that are used only.
        allow_soft_placement: run an op on the CPU where the device it asks for is not there.

    Raises:
        DeviceError: an op asks for a job, a task or a device that is not there.
    """
    placed: dict[Operation, DeviceSpec] = {}
    known: dict[tuple[str, bool], DeviceSpec] = {}
    for op in operations:
        key = (op.device, op.definition.host_only)
        if key not in known:
            known[key] = _place(op, master, tasks, devices, allow_soft_placement)
        placed[op] = known[key]
    return placed


def _place(op: Operation, master: str, tasks: Collection[str], devices: Callable[[str], Sequence[str]], soft: bool) -> DeviceSpec:
    asked = DeviceSpec.from_string(op.device)
    job, _, index = master.partition(":")
    if asked.job is None:
        asked = asked.replace(job=job, task=int(index) if asked.task is None else asked.task)
    elif asked.task is None:
        asked = asked.replace(task=int(index) if asked.job == job else 0)
    if asked.task_name not in tasks:
        raise _no_such_task(op, asked, tasks)
    available = devices(asked.task_name)
    if op.definition.host_only:
        kind = "CPU:0"
    elif asked.device_type is None:
        kind = available[0]
    else:
        kind = f"{asked.device_type}:{asked.device_index or 0}"
        if kind not in available:
            if not soft:
                raise DeviceError(
                    f"op {op.name!r} asks for {op.device}, but task {asked.task_name} has only {', '.join(available)}\n  built at {op.origin}",
                    "use one of those, or ConfigProto(allow_soft_placement=True) to fall back to the CPU",
                )
            kind = "CPU:0"
    device_type, _, device_index = kind.partition(":")
    return DeviceSpec(asked.job, 0, asked.task, device_type, int(device_index))


def _no_such_task(op: Operation, asked: DeviceSpec, tasks: Collection[str]) -> DeviceError:
    jobs = sorted({t.partition(":")[0] for t in tasks})
    what = f"job {asked.job!r}" if asked.job not in jobs else f"task {asked.task_name!r}"
    hint = "this session has no cluster; give it a target, or take the device away" if jobs == ["localhost"] else ""
    return DeviceError(
        f"op {op.name!r} asks for {op.device}, but there is no {what}; the cluster has {', '.join(sorted(tasks))}\n  built at {op.origin}", hint
    )


def describe(placed: dict[Operation, DeviceSpec]) -> str:
    """One line per op, as TensorFlow's ``log_device_placement`` prints it: ``op: (Type): device``."""
    return "\n".join(f"{op.name}: ({op.type}): {device}" for op, device in placed.items())
