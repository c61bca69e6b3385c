"""Nodes as plain data: what is left of an operation when it leaves the program that built it.

A node can be printed, compared, sent to another task and compiled there; it holds no code. msgpack carries it, so a graph from a stranger can describe
ops that are registered here, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pslab.graph.ops  # noqa: F401  (fills the registry, wherever nodes come from)
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.registry import OpDef, op_def
from pslab.graph.tensor import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One operation as data.

    Attributes:
        name: the op's full name.
        type: its registered type.
        inputs: names of the tensors it takes.
        controls: names of the ops it waits for.
        attrs: keywords of its kernel.
        device: device name: as asked for, or, in a plan, as placed.
        origin: the line of Python that built it.
        outputs: dtype name and static shape of each output.
        spare: of an elementwise op, indices of the inputs whose buffers surely fit the output, so that it may be written into one that nobody needs.
    """

    name: str
    type: str
    inputs: tuple[str, ...]
    controls: tuple[str, ...]
    attrs: dict[str, Any]
    device: str
    origin: str
    outputs: tuple[tuple[str, tuple[int | None, ...] | None], ...]
    spare: tuple[int, ...] = ()

    @classmethod
    def of(cls, op: Operation, device: str | None = None) -> Node:
        """The node of ``op``, on ``device`` if one is given."""
        return cls(
            op.name,
            op.type,
            tuple(t.name for t in op.inputs),
            tuple(c.name for c in op.control_inputs),
            op.attrs,
            op.device if device is None else device,
            op.origin,
            tuple((t.dtype.name, t.shape.dims) for t in op.outputs),
            _spare(op),
        )

    def renamed(self, rename: Callable[[str], str]) -> Node:
        """This node in a graph whose ops have other names.

        Args:
            rename: from an op's name to its new one.
        """
        attrs = {key: _renamed_attr(value, rename) if key in _NAMING else value for key, value in self.attrs.items()}
        inputs = tuple(renamed_tensor(t, rename) for t in self.inputs)
        return replace(self, name=rename(self.name), inputs=inputs, controls=tuple(map(rename, self.controls)), attrs=attrs)

    @property
    def definition(self) -> OpDef:
        """The registry's entry for its type."""
        return op_def(self.type)

    def output(self, index: int) -> str:
        """Name of one output tensor."""
        return f"{self.name}:{index}"

    def to_plain(self) -> tuple[Any, ...]:
        """The fields in order, for `pslab.graph.packing.pack`."""
        return (self.name, self.type, self.inputs, self.controls, self.attrs, self.device, self.origin, self.outputs, self.spare)


def _spare(op: Operation) -> tuple[int, ...]:
    definition = op.definition
    if not definition.elementwise or not op.outputs[0].shape.dims:  # where the rank may be 0, NumPy may have made a scalar, which holds no buffer
        return ()
    fitting = range(definition.aligned) or [i for i, t in enumerate(op.inputs) if all(t is o or t.shape.holds(o.shape) for o in op.inputs)]
    return tuple(i for i in fitting if op.inputs[i].dtype is op.outputs[0].dtype)


_NAMING = ("variable", "slots", "queue")
"""Attributes that name ops of the graph: what an op is about, where that is no input."""


def _renamed_attr(value: Any, rename: Callable[[str], str]) -> Any:
    return rename(value) if isinstance(value, str) else tuple(map(rename, value))


def renamed_tensor(name: str, rename: Callable[[str], str]) -> str:
    """The name of a tensor after its op was renamed."""
    op, _, index = name.rpartition(":")
    return f"{rename(op)}:{index}"


def op_of(tensor: str) -> str:
    """Name of the op that makes the tensor of this name."""
    return tensor.rpartition(":")[0]


def import_nodes(graph: Graph, nodes: Iterable[Node]) -> None:
    """Add ``nodes``, in their order, to ``graph`` under the names they have.

    Raises:
        NotFoundError: an op type, an input or a control input is not there.
        ShapeError: an input does not fit.
    """
    added = [(import_node(graph, node, [graph.get_tensor_by_name(name) for name in node.inputs]), node) for node in nodes]
    for op, node in added:
        for name in node.controls:
            op.add_control_input(graph.get_operation_by_name(name))


def import_node(graph: Graph, node: Node, inputs: Sequence[Tensor]) -> Operation:
    """Add one node to ``graph`` under the name it has, without its control inputs.

    Raises:
        NotFoundError: there is no such op type.
        ShapeError: an input does not fit.
    """
    with graph.as_default(), graph.control_dependencies(None):
        op = graph.create_op(node.type, inputs, node.attrs, f"{node.name}/")
    op.device = node.device
    op.set_origin(node.origin)
    for tensor, (_, shape) in zip(op.outputs, node.outputs, strict=True):
        tensor.set_shape(shape)
    return op


def nodes_of(operations: Sequence[Operation]) -> tuple[Node, ...]:
    """The nodes of several ops."""
    return tuple(Node.of(op) for op in operations)
