"""Arithmetic, elementwise and with broadcasting; matrix products; Python's operators on tensors."""

from __future__ import annotations

from typing import Any

from pslab.errors import ShapeError
from pslab.graph.build import apply, convert_to_tensor
from pslab.graph.dtypes import DType
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor


def binary(type: str, x: Any, y: Any, name: str | None = None) -> Any:
    """An elementwise op of two inputs; a Python number takes on the other's dtype."""
    if not isinstance(x, Tensor) and not hasattr(x, "_as_tensor"):
        y = convert_to_tensor(y)
        return apply(type, [convert_to_tensor(x, like=y), y], name)
    x = convert_to_tensor(x)
    return apply(type, [x, convert_to_tensor(y, like=x)], name)


# The gradient of broadcasting is a sum over the axes that were broadcast.


def _sum_to(xp: Any, gradient: Any, like: Any) -> Any:
    if gradient.shape == like.shape:
        return gradient
    extra = gradient.ndim - like.ndim
    axes = tuple(range(extra)) + tuple(i + extra for i, d in enumerate(like.shape) if d == 1 and gradient.shape[i + extra] != 1)
    return gradient.sum(axis=axes, keepdims=True).reshape(like.shape)


def _sum_to_shape(xp: Any, gradient: Any, *, shape: tuple[int, ...]) -> Any:
    extra = gradient.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(i + extra for i, d in enumerate(shape) if d == 1 and gradient.shape[i + extra] != 1)
    return gradient.sum(axis=axes, keepdims=True).reshape(shape) if axes else gradient


register(
    "SumToShape",
    infer=lambda op: [(op.inputs[0].dtype, TensorShape(op.attrs["shape"]))],
    kernel=_sum_to_shape,
    gradient=lambda op, g: [binary("Add", apply("ZerosLike", [op.inputs[0]]), g)],
    view=True,
)
register(
    "SumToLike",
    infer=lambda op: [(op.inputs[0].dtype, op.inputs[1].shape)],
    kernel=_sum_to,
    gradient=lambda op, g: [binary("Add", apply("ZerosLike", [op.inputs[0]]), g), None],
    view=True,
)


def unbroadcast(gradient: Tensor, like: Tensor) -> Tensor:
    """``gradient`` summed over the axes along which ``like`` was broadcast."""
    if like.shape.is_fully_defined():
        if gradient.shape == like.shape:
            return gradient
        return apply("SumToShape", [gradient], shape=like.shape.as_tuple())  # type: ignore[no-any-return]
    return apply("SumToLike", [gradient, like])  # type: ignore[no-any-return]


register(
    "Add",
    infer=infer.broadcast,
    kernel=lambda xp, x, y, out=None: xp.add(x, y, out=out),
    gradient=lambda op, g: [unbroadcast(g, op.inputs[0]), unbroadcast(g, op.inputs[1])],
    flops=infer.elements,
    elementwise=True,
)


def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x + y``, elementwise, with broadcasting."""
    return binary("Add", x, y, name)  # type: ignore[no-any-return]


def _infer_matmul(op: Operation) -> infer.Inferred:
    a, b = (t.shape for t in op.inputs)
    dtype: DType = infer.same_dtype(op)
    if a.ndims is None or b.ndims is None:
        return [(dtype, TensorShape(None))]
    if a.ndims < 2 or a.ndims != b.ndims:
        raise ShapeError(f"expected two matrices, or stacks of them of one rank, found shapes {a} and {b}")
    rows, inner_a = (a[-1], a[-2]) if op.attrs["transpose_a"] else (a[-2], a[-1])
    inner_b, columns = (b[-1], b[-2]) if op.attrs["transpose_b"] else (b[-2], b[-1])
    if inner_a is not None and inner_b is not None and inner_a != inner_b:
        raise ShapeError(f"inner dimensions differ: {a} has {inner_a} columns, {b} has {inner_b} rows")
    stack = TensorShape(a[:-2]).merge_with(b[:-2])
    return [(dtype, TensorShape([*stack, rows, columns]))]


def _matmul(xp: Any, a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    return xp.matmul(a.swapaxes(-1, -2) if transpose_a else a, b.swapaxes(-1, -2) if transpose_b else b)


def _matmul_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    a, b = op.inputs
    ta, tb = op.attrs["transpose_a"], op.attrs["transpose_b"]
    grad_a = matmul(b, g, transpose_a=tb, transpose_b=True) if ta else matmul(g, b, transpose_b=not tb)
    grad_b = matmul(g, a, transpose_a=True, transpose_b=ta) if tb else matmul(a, g, transpose_a=not ta)
    return [grad_a, grad_b]


def _matmul_flops(op: Operation) -> int:
    shape = op.inputs[0].shape
    inner = None if shape.ndims is None else shape[-2 if op.attrs["transpose_a"] else -1]
    return 2 * infer.elements(op) * (inner or 1)


register("MatMul", infer=_infer_matmul, kernel=_matmul, gradient=_matmul_gradient, flops=_matmul_flops)


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, name: str | None = None) -> Tensor:
    """The matrix product of the last two axes; each may be transposed first.

    Raises:
        ShapeError: the inner dimensions differ, or an input is no matrix.
    """
    a = convert_to_tensor(a)
    return apply("MatMul", [a, convert_to_tensor(b, like=a)], name, transpose_a=transpose_a, transpose_b=transpose_b)  # type: ignore[no-any-return]


Tensor.__add__ = lambda x, y: add(x, y)  # type: ignore[attr-defined]
Tensor.__radd__ = lambda x, y: add(y, x)  # type: ignore[attr-defined]
Tensor.__matmul__ = lambda x, y: matmul(x, y)  # type: ignore[attr-defined]
