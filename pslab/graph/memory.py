"""How much memory a step will take, before it is run: from its plan, the shapes of what is fed, and the size of a batch.

The plan's ops are walked as `pslab.execution.compiler` runs them: a tensor's buffer lives until its last use, an elementwise op writes into a buffer that
nobody needs any more, a view shares its input's, a message is one buffer, an update of a variable makes a new array beside the old one. What a kernel takes
for itself meanwhile is its type's ``scratch``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pslab.errors import InternalError
from pslab.graph.dtypes import string
from pslab.graph.graph import Graph
from pslab.graph.liveness import last_uses, sections, shared_tensors
from pslab.graph.node import Node, op_of
from pslab.graph.operation import Operation
from pslab.graph.ops.state import READS
from pslab.graph.plan import Cut, Partition, StepPlan
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor

_STRING = 64
"""Bytes of a Python string and the reference to it, more or less."""


@dataclass(frozen=True, slots=True)
class TaskMemory:
    """What a step takes on one task, in bytes.

    Attributes:
        variables: the variables that the step reads or writes, slots among them.
        constants: constants of its program.
        feeds: what is fed.
        working: the most that is held at once beside these: tensors, messages that came, new values of variables, kernels' scratch.
    """

    variables: int
    constants: int
    feeds: int
    working: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.variables + self.constants + self.feeds + self.working


def step_memory(plan: StepPlan, graph: Graph, feeds: Sequence[Tensor], batch: int) -> dict[str, TaskMemory]:
    """What a step takes on each of its tasks.

    Args:
        plan: the step.
        graph: the graph it is a step of.
        feeds: the tensors that it is fed.
        batch: stands for every dimension that is not known.

    Raises:
        ShapeError: the ops cannot have such a batch.
    """
    ops = _with_batch(plan, feeds, batch)
    found = {task: _Walk(part, graph, ops, batch).walk() for task, part in plan.partitions.items()}
    given = sum(_size_of(ops[op_of(fed.name)].outputs[0], batch) for fed in feeds)
    return {**found, plan.master: replace(found[plan.master], feeds=given)}  # who drives the step has what others are fed, too


def largest_batch(fits: Callable[[int], bool], most: int) -> int:
    """The largest batch of at most ``most`` that fits; 0 if not even one example does. ``fits`` is asked some dozen times."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _with_batch(plan: StepPlan, feeds: Iterable[Tensor], batch: int) -> dict[str, Operation]:
    """The plan's ops, inferred anew with a batch of this size, by name; with those that are fed as placeholders."""
    graph = Graph()
    tensors: dict[str, Tensor] = {}
    for number, fed in enumerate(feeds):
        attrs = {"dtype": fed.dtype.name, "shape": _sized(fed.shape, batch)}
        tensors[fed.name] = graph.create_op("Placeholder", (), attrs, f"fed/{number}/").outputs[0]
    made = {op_of(name): tensor.op for name, tensor in tensors.items()}
    for node in _ordered(plan, set(tensors)):
        attrs = {**node.attrs, "shape": _sized(TensorShape(node.attrs["shape"]), batch)} if node.type == "Placeholder" else node.attrs
        op = graph.create_op(node.type, [tensors[name] for name in node.inputs], attrs, f"{node.name}/")
        made[node.name] = op
        for index, tensor in enumerate(op.outputs):
            tensors.setdefault(node.output(index), tensor)
    return made


def _ordered(plan: StepPlan, known: set[str]) -> list[Node]:
    """All nodes of a plan, inputs first; ``known`` are the tensors that are fed."""
    waiting = [n for part in plan.partitions.values() for stage in part.stages for n in (*stage.nodes, *stage.waits)]
    ordered: list[Node] = []
    while waiting:
        left = []
        for node in waiting:
            if known.issuperset(node.inputs):
                known.update(node.output(i) for i in range(len(node.outputs)))
                ordered.append(node)
            else:
                left.append(node)
        if len(left) == len(waiting):
            raise InternalError(f"a plan lacks what {left[0].name!r} takes")
        waiting = left
    return ordered


def _sized(shape: TensorShape, batch: int) -> tuple[int, ...] | None:
    return None if shape.dims is None else tuple(batch if d is None else d for d in shape.dims)


class _Walk:
    """One task's program, walked without running it."""

    def __init__(self, partition: Partition, graph: Graph, ops: Mapping[str, Operation], batch: int) -> None:
        self._partition = partition
        self._graph = graph
        self._ops = ops
        self._batch = batch
        self._last_use = last_uses(partition)
        self._shared = shared_tensors(partition)
        self._numbers = itertools.count()
        self._buffer_of: dict[str, int] = {}  # tensor → buffer
        self._size: dict[int, int] = {}  # buffer → bytes
        self._holders: dict[int, int] = {}  # buffer → tensors, variables and others that hold it
        self._owned: set[str] = set()  # tensors whose buffer is this program's alone
        self._stored: dict[str, int] = {}  # variable → buffer
        self._live = self._peak = 0
        self._constants = 0

    def walk(self) -> TaskMemory:
        """What the program takes."""
        part = self._partition
        nodes = [n for stage in part.stages for n in (*stage.nodes, *stage.waits)]
        names = dict.fromkeys(name for n in nodes if "variable" in n.attrs for name in (n.attrs["variable"], *n.attrs.get("slots", ())))
        for name in names:
            self._store(name, self._new(_size_of(self._graph.get_operation_by_name(name).outputs[0], self._batch)))
        variables = self._live
        for name in part.feeds:
            buffer = self._new(self._bytes(name))
            self._hold(name, buffer)
            self._holders[buffer] += 1  # whose it is keeps it
        feeds = self._live - variables
        position = 0
        for stage in part.stages:
            for cut in stage.receives:
                self._receive(cut)
                position += 1
            position = self._run(stage.nodes, position)
            for cut in stage.sends:
                position += 1
                self._forget(cut.tensors, position)
            for node in stage.waits:
                self._call(node, position)
                position += 1
        return TaskMemory(variables, self._constants, feeds, self._peak - variables - feeds)

    def _receive(self, cut: Cut) -> None:
        if cut.tensors:
            buffer = self._new(sum(self._bytes(t) for t in cut.tensors))
            for tensor in cut.tensors:
                self._hold(tensor, buffer)

    def _run(self, nodes: Iterable[Node], position: int) -> int:
        for stateful, group in sections(nodes):
            for node in group:
                self._call(node, position)
                position += 1
                if not stateful:
                    self._forget(node.inputs, position)
            if stateful:
                for node in group:
                    self._forget(node.inputs, position)
        return position

    def _call(self, node: Node, position: int) -> None:
        definition, outputs = node.definition, [node.output(i) for i in range(len(node.outputs))]
        if node.type == "Const":
            self._constants += self._bytes(outputs[0])
        elif node.type in READS or (definition.signals and node.attrs.get("variable") in self._stored):
            self._touch(node, outputs)
        elif definition.view and node.inputs[0] in self._buffer_of:
            for name in outputs:
                self._hold(name, self._buffer_of[node.inputs[0]])
        elif (spare := self._reusable(node, position)) is not None:
            self._hold(outputs[0], self._buffer_of[spare])
            self._owned.discard(spare)
            self._own(node, outputs)
        else:
            for name in outputs:
                self._hold(name, self._new(self._bytes(name)))
            self._own(node, outputs)
        self._peak = max(self._peak, self._live + definition.scratch(self._ops[node.name]))

    def _touch(self, node: Node, outputs: Sequence[str]) -> None:
        """An op on a variable: a read gives the stored array itself, an update puts new arrays in the place of the old ones."""
        variable = node.attrs["variable"]
        changed = (variable, *node.attrs.get("slots", ())) if node.definition.signals else ()
        former = [self._stored[name] for name in changed]
        for name, buffer in zip(changed, former, strict=True):
            self._store(name, self._new(self._size[buffer]))
        for buffer in former:
            self._let_go(buffer)
        for name in outputs:
            self._hold(name, self._stored[variable])

    def _reusable(self, node: Node, position: int) -> str | None:
        for index in node.spare:
            name = node.inputs[index]
            if name in self._owned and name in self._buffer_of and self._last_use[name] == position:
                return name
        return None

    def _own(self, node: Node, outputs: Iterable[str]) -> None:
        if not (node.definition.view or node.definition.stateful):
            self._owned.update(name for name in outputs if name not in self._shared)

    # Buffers

    def _new(self, size: int) -> int:
        buffer = next(self._numbers)
        self._size[buffer], self._holders[buffer] = size, 0
        self._live += size
        self._peak = max(self._peak, self._live)
        return buffer

    def _hold(self, tensor: str, buffer: int) -> None:
        self._holders[buffer] += 1
        self._buffer_of[tensor] = buffer

    def _store(self, variable: str, buffer: int) -> None:
        self._holders[buffer] += 1
        self._stored[variable] = buffer

    def _let_go(self, buffer: int) -> None:
        self._holders[buffer] -= 1
        if not self._holders[buffer]:
            self._live -= self._size[buffer]

    def _forget(self, tensors: Iterable[str], position: int) -> None:
        for name in dict.fromkeys(tensors):
            if self._last_use.get(name, -1) < position and name in self._buffer_of:
                self._let_go(self._buffer_of.pop(name))

    # Sizes

    def _bytes(self, tensor: str) -> int:
        outputs = self._ops[op_of(tensor)].outputs
        return _size_of(outputs[int(tensor.rpartition(":")[2])] if len(outputs) > 1 else outputs[0], self._batch)


def _size_of(tensor: Tensor, batch: int) -> int:
    count = math.prod(batch if d is None else d for d in tensor.shape.dims or ())
    return count * (_STRING if tensor.dtype is string else tensor.dtype.size)
