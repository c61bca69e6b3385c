"""Shape rules that many ops share: from an op to the dtype and static shape of its outputs."""

from __future__ import annotations

from pslab.errors import ShapeError
from pslab.graph.dtypes import DType
from pslab.graph.operation import Operation
from pslab.graph.shape import TensorShape

Inferred = list[tuple[DType, TensorShape]]


def like_first(op: Operation) -> Inferred:
    """One output like the first input."""
    return [(op.inputs[0].dtype, op.inputs[0].shape)]


def broadcast(op: Operation) -> Inferred:
    """One output of the broadcast shape of the two inputs, which must have one dtype."""
    return [(same_dtype(op), op.inputs[0].shape.broadcast_with(op.inputs[1].shape))]


def same_dtype(op: Operation) -> DType:
    """The dtype that all inputs share.

    Raises:
        ShapeError: they differ.
    """
    first = op.inputs[0].dtype
    for tensor in op.inputs[1:]:
        if tensor.dtype is not first:
            raise ShapeError(f"dtypes differ: {first.name} and {tensor.dtype.name}; use pslab.cast")
    return first


def elements(op: Operation) -> int:
    """Flops of an op that does one operation per element of its first output; unknown dimensions count as 1."""
    count = 1
    for dimension in op.outputs[0].shape.dims or ():
        count *= 1 if dimension is None else dimension
    return count
