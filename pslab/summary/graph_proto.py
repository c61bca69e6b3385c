"""A graph as TensorFlow's ``GraphDef`` protocol buffer, for TensorBoard to draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from pslab.graph.dtypes import DType
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.shape import TensorShape

_NUMBERS = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "string": 7,
    "int64": 9,
    "bool": 10,
    "uint16": 17,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}
"""``DataType`` numbers of ``types.proto``."""
_SMALL = 16
"""Elements up to which a constant is shown."""


def graph_proto(graph: Graph) -> Any:
    """The graph's ops with their inputs, devices, output shapes and those attributes that are plain: numbers, strings, dtypes, shapes."""
    from tensorboardX.proto.graph_pb2 import GraphDef
    from tensorboardX.proto.versions_pb2 import VersionDef

    return GraphDef(node=[_node(op) for op in graph.operations], versions=VersionDef(producer=22))


def _node(op: Operation) -> Any:
    from tensorboardX.proto.attr_value_pb2 import AttrValue
    from tensorboardX.proto.node_def_pb2 import NodeDef

    inputs = [t.op.name if t.value_index == 0 else t.name for t in op.inputs]
    node = NodeDef(name=op.name, op=op.type, device=op.device, input=[*inputs, *(f"^{c.name}" for c in op.control_inputs)])
    for key, value in op.attrs.items():
        packed = _attr(value)
        if packed is not None:
            node.attr[key].CopyFrom(packed)
    if op.outputs:
        node.attr["T"].CopyFrom(AttrValue(type=_NUMBERS[op.outputs[0].dtype.name]))
        shapes = AttrValue.ListValue(shape=[_shape(t.shape) for t in op.outputs])
        node.attr["_output_shapes"].CopyFrom(AttrValue(list=shapes))
    return node


def _attr(value: object) -> Any:
    """A plain attribute; None for what a picture of the graph does without."""
    from tensorboardX.proto.attr_value_pb2 import AttrValue

    fields: dict[str, Any] = {}
    match value:
        case bool():
            fields["b"] = value
        case int() if -(2**63) <= value < 2**63:
            fields["i"] = value
        case float():
            fields["f"] = value
        case str() | bytes():
            fields["s"] = value.encode() if isinstance(value, str) else value
        case DType():
            fields["type"] = _NUMBERS[value.name]
        case TensorShape():
            fields["shape"] = _shape(value)
        case np.ndarray() if value.size <= _SMALL and value.dtype.kind in "fiub":
            fields["s"] = np.array2string(value).encode()
    return AttrValue(**fields) if fields else None


def _shape(shape: TensorShape) -> Any:
    from tensorboardX.proto.tensor_shape_pb2 import TensorShapeProto

    if shape.ndims is None:
        return TensorShapeProto(unknown_rank=True)
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=-1 if d is None else d) for d in shape])
