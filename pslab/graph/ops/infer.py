"""Shape rules that many ops share: from an op to the dtype and static shape of its outputs."""

from __future__ import annotations

from collections.abc import Callable

from pslab.errors import ShapeError
from pslab.graph.dtypes import DType, bool_
from pslab.graph.operation import Operation
from pslab.graph.shape import TensorShape

Inferred = list[tuple[DType, TensorShape]]


def like_first(op: Operation) -> Inferred:
    """One output like the first input."""
    return [(op.inputs[0].dtype, op.inputs[0].shape)]


def aligned(op: Operation) -> Inferred:
    """One output like the inputs, which must all have one dtype and one shape."""
    shape = op.inputs[0].shape
    for tensor in op.inputs[1:]:
        shape = shape.merge_with(tensor.shape)
    return [(same_dtype(op), shape)]


def broadcast(op: Operation) -> Inferred:
    """One output of the broadcast shape of the two inputs, which must have one dtype."""
    return [(same_dtype(op), op.inputs[0].shape.broadcast_with(op.inputs[1].shape))]


def compare(op: Operation) -> Inferred:
    """A truth value for each pair of the two inputs, which must have one dtype."""
    return [(bool_, broadcast(op)[0][1])]


def of_kind(rule: Callable[[Operation], Inferred], what: str, *kinds: str) -> Callable[[Operation], Inferred]:
    """``rule``, for a first input whose NumPy kind is among ``kinds``."""

    def checked(op: Operation) -> Inferred:
        if op.inputs[0].dtype.as_numpy_dtype.kind not in kinds:
            raise ShapeError(f"expected {what}, found {op.inputs[0].dtype.name}; use pslab.cast")
        return rule(op)

    return checked


def floating(rule: Callable[[Operation], Inferred]) -> Callable[[Operation], Inferred]:
    """``rule``, for a first input of a floating dtype."""
    return of_kind(rule, "a floating dtype", "f")


def numeric(rule: Callable[[Operation], Inferred]) -> Callable[[Operation], Inferred]:
    """``rule``, for a first input of numbers."""
    return of_kind(rule, "numbers", "f", "i", "u")


def logical(rule: Callable[[Operation], Inferred]) -> Callable[[Operation], Inferred]:
    """``rule``, for a first input of truth values."""
    return of_kind(rule, "bool", "b")


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


def axis_in(axis: int, rank: int | None, what: str = "axis") -> int:
    """``axis``, counted from the front where the rank is known.

    Raises:
        ShapeError: there is no such axis.
    """
    if rank is None:
        return axis
    if not -rank <= axis < rank:
        raise ShapeError(f"there is no {what} {axis} in a tensor of rank {rank}")
    return axis % rank


def size(shape: TensorShape) -> int:
    """Number of elements; unknown dimensions count as 1."""
    count = 1
    for dimension in shape.dims or ():
        count *= 1 if dimension is None else dimension
    return count


def elements(op: Operation) -> int:
    """Flops of an op that does one operation per element of its first output; unknown dimensions count as 1."""
    return size(op.outputs[0].shape)


def elements_in(op: Operation) -> int:
    """Flops of an op that does one operation per element of its first input."""
    return size(op.inputs[0].shape)


def per_element(count: int) -> Callable[[Operation], int]:
    """Flops of an op that does ``count`` operations per element of its first output."""
    return lambda op: count * elements(op)
