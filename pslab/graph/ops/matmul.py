"""Matrix products."""

from __future__ import annotations

from typing import Any

from pslab.errors import ShapeError
from pslab.graph.build import apply_one
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.broadcasting import convert_pair
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor


def _infer(op: Operation) -> infer.Inferred:
    a, b = (t.shape for t in op.inputs)
    dtype = infer.same_dtype(op)
    if a.ndims is None or b.ndims is None:
        return [(dtype, TensorShape(None))]
    if a.ndims < 2 or a.ndims != b.ndims:
        raise ShapeError(f"expected two matrices, or stacks of them of one rank, found shapes {a} and {b}")
    rows, inner_a = (a[-1], a[-2]) if op.attrs["transpose_a"] else (a[-2], a[-1])
    inner_b, columns = (b[-1], b[-2]) if op.attrs["transpose_b"] else (b[-2], b[-1])
    if inner_a is not None and inner_b is not None and inner_a != inner_b:
        turned = [" transposed" if op.attrs[t] else "" for t in ("transpose_a", "transpose_b")]
        raise ShapeError(f"inner dimensions differ: {a}{turned[0]} has {inner_a} columns, {b}{turned[1]} has {inner_b} rows")
    stack = TensorShape(a[:-2]).merge_with(b[:-2])
    return [(dtype, TensorShape([*stack, rows, columns]))]


def _kernel(xp: Any, a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    if a.ndim == 2:  # BLAS takes transposed views as they are
        return (a.T if transpose_a else a).dot(b.T if transpose_b else b)
    return xp.matmul(a.swapaxes(-1, -2) if transpose_a else a, b.swapaxes(-1, -2) if transpose_b else b)


def _gradient(op: Operation, g: Tensor) -> list[Tensor]:
    a, b = op.inputs
    ta, tb = op.attrs["transpose_a"], op.attrs["transpose_b"]
    grad_a = matmul(b, g, transpose_a=tb, transpose_b=True) if ta else matmul(g, b, transpose_b=not tb)
    grad_b = matmul(g, a, transpose_a=True, transpose_b=ta) if tb else matmul(a, g, transpose_a=not ta)
    return [grad_a, grad_b]


def _flops(op: Operation) -> int:
    inner = op.inputs[0].shape.dim(-2 if op.attrs["transpose_a"] else -1)
    return 2 * infer.elements(op) * (inner or 1)


register("MatMul", infer=_infer, kernel=_kernel, gradient=_gradient, flops=_flops)


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, name: str | None = None) -> Tensor:
    """The matrix product of the last two axes; each may be transposed first. Stacks of matrices are multiplied one by one.

    Raises:
        ShapeError: the inner dimensions differ, or an input is no matrix.
    """
    return apply_one("MatMul", convert_pair(a, b), name, transpose_a=bool(transpose_a), transpose_b=bool(transpose_b))
