"""Partition: cut a placed graph where its edges leave a task, and order what each task does.

The *stage* of an op is the greatest number of cut edges on any path that leads to it; an edge out of a blocking op counts as one as well. Everything
that leaves a task for another from one stage travels as one message. A stage only ever needs messages of earlier stages, so merging them cannot make two
tasks wait for each other, and running the stages in order is always possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pslab.errors import GraphError
from pslab.graph.device import DeviceSpec
from pslab.graph.node import Node
from pslab.graph.operation import Operation
from pslab.graph.plan import Cut, Partition, Stage, StepPlan
from pslab.graph.tensor import Tensor


def prune(wanted: Iterable[Operation], feeds: Iterable[Tensor]) -> list[Operation]:
    """The ops that must run for ``wanted``, inputs first, each as late as its first consumer allows. Fed tensors need not be computed.

    Raises:
        GraphError: the ops wait for each other in a circle.
    """
    fed = set(feeds)
    order: list[Operation] = []
    entered: set[Operation] = set()
    done: set[Operation] = set()
    path: list[tuple[Operation, Iterator[Operation]]] = []
    for root in wanted:
        _enter(root, fed, entered, path)
        while path:
            op, needs = path[-1]
            for need in needs:
                if need not in entered:
                    _enter(need, fed, entered, path)
                    break
                if need not in done:
                    names = [o.name for o, _ in path]
                    raise GraphError(f"ops wait for each other in a circle: {' → '.join([*names[names.index(need.name) :], need.name])}")
            else:
                path.pop()
                done.add(op)
                order.append(op)
    return order


def _enter(op: Operation, fed: set[Tensor], entered: set[Operation], path: list[tuple[Operation, Iterator[Operation]]]) -> None:
    if op not in entered:
        entered.add(op)
        path.append((op, iter([*(t.op for t in op.inputs if t not in fed), *op.control_inputs])))


def partition(
    operations: Sequence[Operation],
    placed: Mapping[Operation, DeviceSpec],
    *,
    master: str,
    fetches: Sequence[Tensor],
    feeds: Sequence[Tensor],
) -> StepPlan:
    """Cut a pruned and placed graph into one partition per task.

    Args:
        operations: the ops to run, inputs first, as `prune` orders them.
        placed: a device for each of them.
        master: the task that drives the step; it always has a partition.
        fetches: tensors whose values are wanted.
        feeds: tensors whose values are given.
    """
    fed = set(feeds)
    task = {op: placed[op].task_name for op in operations}
    stage = _stages(operations, task, fed)
    cuts = _Cuts()
    for op in operations:
        for tensor in op.inputs:
            if tensor not in fed:
                cuts.note(tensor.op, op, task, stage, tensor.name)
        for control in op.control_inputs:
            cuts.note(control, op, task, stage, None)
    all_cuts = cuts.build()
    names = [master, *sorted(set(task.values()) - {master})]
    partitions = {}
    for name in names:
        mine = [op for op in operations if task[op] == name]
        partitions[name] = Partition(
            name,
            master,
            feeds=tuple(f.name for f in feeds if any(t is f for op in mine for t in op.inputs)),
            fetches=tuple(dict.fromkeys(f.name for f in fetches if f not in fed and task[f.op] == name)),
            stages=_program(name, mine, placed, stage, all_cuts, cuts.first_use),
            rides=None,
        )
    for name in names[1:]:
        partitions[name] = _let_start_ride(partitions[name])
    return StepPlan(master, partitions, all_cuts, tuple((f.name, None if f in fed else task[f.op]) for f in fetches))


def _available(op: Operation, stage: Mapping[Operation, int]) -> int:
    """The stage after which an op's outputs are there."""
    return stage[op] + (1 if op.definition.blocking else 0)


def _stages(operations: Sequence[Operation], task: Mapping[Operation, str], fed: set[Tensor]) -> dict[Operation, int]:
    stage: dict[Operation, int] = {}
    for op in operations:
        needs = [*(t.op for t in op.inputs if t not in fed), *op.control_inputs]
        stage[op] = max((_available(n, stage) + (1 if task[n] != task[op] else 0) for n in needs), default=0)
    return stage


@dataclass
class _Cuts:
    """Edges that leave a task, gathered into messages."""

    tensors: dict[tuple[int, str, str], dict[str, None]] = field(default_factory=dict)
    uses: dict[tuple[int, str, str], int] = field(default_factory=dict)
    first_use: dict[int, int] = field(default_factory=dict)

    def note(self, source: Operation, op: Operation, task: Mapping[Operation, str], stage: Mapping[Operation, int], tensor: str | None) -> None:
        if task[source] == task[op]:
            return
        key = (_available(source, stage), task[source], task[op])
        group = self.tensors.setdefault(key, {})
        if tensor is not None:
            group[tensor] = None
        self.uses[key] = min(self.uses.get(key, stage[op]), stage[op])

    def build(self) -> tuple[Cut, ...]:
        cuts = []
        for index, (key, tensors) in enumerate(sorted(self.tensors.items(), key=lambda item: item[0])):
            cuts.append(Cut(index, key[1], key[2], key[0], tuple(tensors)))
            self.first_use[index] = self.uses[key]
        return tuple(cuts)


def _program(
    name: str,
    mine: Sequence[Operation],
    placed: Mapping[Operation, DeviceSpec],
    stage: Mapping[Operation, int],
    cuts: Sequence[Cut],
    first_use: Mapping[int, int],
) -> tuple[Stage, ...]:
    nodes = {op: Node.of(op, placed[op].to_string()) for op in mine}
    sends = [c for c in cuts if c.source == name]
    receives = [c for c in cuts if c.destination == name]
    count = 1 + max([*(stage[op] for op in mine), *(c.stage for c in sends), -1])
    stages = (
        Stage(
            receives=tuple(c for c in receives if first_use[c.index] == s),
            nodes=tuple(nodes[op] for op in _gathered([op for op in mine if stage[op] == s and not op.definition.blocking])),
            sends=tuple(c for c in sends if c.stage == s),
            waits=tuple(nodes[op] for op in mine if stage[op] == s and op.definition.blocking),
        )
        for s in range(count)
    )
    return tuple(s for s in stages if s.receives or s.nodes or s.sends or s.waits)


def _gathered(operations: Sequence[Operation]) -> list[Operation]:
    """A stage's ops with those on the task's state together: reads that wait for nothing first, updates that nothing else waits for last.

    So a stage has few critical sections: what it reads is of one moment, and so is what it writes.
    """
    here = set(operations)
    first: set[Operation] = set()
    for op in operations:
        if op.definition.stateful and all(n in first or n not in here for n in _needs(op)):
            first.add(op)
    last: set[Operation] = set()
    kept: set[Operation] = set()  # ops that something before the last ones waits for
    for op in reversed(operations):
        if op not in first and op not in kept and (op.definition.stateful or op.type == "NoOp"):
            last.add(op)
        elif op not in first:
            kept.update(_needs(op))
    middle = [op for op in operations if op not in first and op not in last]
    return [*(op for op in operations if op in first), *middle, *(op for op in operations if op in last)]


def _needs(op: Operation) -> list[Operation]:
    return [*(t.op for t in op.inputs), *op.control_inputs]


def _let_start_ride(part: Partition) -> Partition:
    """Where the first that a part does with others is to receive from the master, its start can come along with that."""
    for stage in part.stages:
        if stage.receives:
            first = stage.receives[0]
            return replace(part, rides=first) if first.source == part.master else part
        if stage.sends or stage.waits:
            break
    return part
