"""Nodes as plain data: what is left of an operation when it leaves the program that built it.

A node can be printed, compared, sent to another task and compiled there; it holds no code. msgpack carries it, so a graph from a stranger can describe
ops that are registered here, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np

import pslab.graph.ops  # noqa: F401  (fills the registry, wherever nodes come from)
from pslab.errors import DataLossError
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.registry import OpDef, op_def


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

    @property
    def definition(self) -> OpDef:
        """The registry's entry for its type."""
        return op_def(self.type)

    def output(self, index: int) -> str:
        """Name of one output tensor."""
        return f"{self.name}:{index}"

    def to_plain(self) -> tuple[Any, ...]:
        """The fields in order, for `pack`."""
        return (self.name, self.type, self.inputs, self.controls, self.attrs, self.device, self.origin, self.outputs, self.spare)


def _spare(op: Operation) -> tuple[int, ...]:
    definition = op.definition
    if not definition.elementwise or not op.outputs[0].shape.dims:  # where the rank may be 0, NumPy may have made a scalar, which holds no buffer
        return ()
    fitting = range(definition.aligned) or [i for i, t in enumerate(op.inputs) if all(t is o or t.shape.holds(o.shape) for o in op.inputs)]
    return tuple(i for i in fitting if op.inputs[i].dtype is op.outputs[0].dtype)


def op_of(tensor: str) -> str:
    """Name of the op that makes the tensor of this name."""
    return tensor.rpartition(":")[0]


def pack(value: Any) -> bytes:
    """Encode plain data (numbers, strings, bytes, tuples, dicts, arrays) with msgpack."""
    return msgpack.packb(value, default=_encode, use_bin_type=True)  # type: ignore[no-any-return]


def unpack(data: bytes) -> Any:
    """Decode what `pack` encoded; sequences come back as tuples.

    Raises:
        DataLossError: the bytes are not such an encoding.
    """
    try:
        return msgpack.unpackb(data, ext_hook=_decode, use_list=False, strict_map_key=False)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise DataLossError(f"{len(data)} bytes that should describe a graph do not: {error}") from None


def import_nodes(graph: Graph, nodes: Iterable[Node]) -> None:
    """Add ``nodes``, in their order, to ``graph`` under the names they have.

    Raises:
        NotFoundError: an op type or an input is not there.
        ShapeError: an input does not fit.
    """
    with graph.as_default():
        for node in nodes:
            inputs = [graph.get_tensor_by_name(name) for name in node.inputs]
            op = graph.create_op(node.type, inputs, node.attrs, f"{node.name}/")
            for name in node.controls:
                op.add_control_input(graph.get_operation_by_name(name))
            op.device = node.device
            op.set_origin(node.origin)
            for tensor, (_, shape) in zip(op.outputs, node.outputs, strict=True):
                tensor.set_shape(shape)


_ARRAY, _STRINGS = 1, 2


def _encode(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype == object:
            return msgpack.ExtType(_STRINGS, pack((array.shape, array.ravel().tolist())))
        return msgpack.ExtType(_ARRAY, pack((array.dtype.str, array.shape, array.tobytes())))
    raise TypeError(f"cannot send a {type(value).__name__} as part of a graph: {value!r}")


def _decode(code: int, data: bytes) -> Any:
    if code == _ARRAY:
        dtype, shape, content = unpack(data)
        if np.dtype(dtype).hasobject:
            raise DataLossError(f"an array of dtype {dtype!r} cannot come from outside")
        return np.frombuffer(content, dtype).reshape(shape).copy()
    if code == _STRINGS:
        shape, items = unpack(data)
        return np.array(items, dtype=object).reshape(shape)
    raise DataLossError(f"unknown extension {code} in a graph description")


def nodes_of(operations: Sequence[Operation]) -> tuple[Node, ...]:
    """The nodes of several ops."""
    return tuple(Node.of(op) for op in operations)
