"""Comparisons, logic, and choosing by a condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pslab.errors import ShapeError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.dtypes import bool_, int64
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.broadcasting import binary, convert_pair, unbroadcast
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor


def _register_comparison(type: str, kernel: Callable[..., Any]) -> None:
    register(type, infer=infer.compare, kernel=kernel, gradient=not_differentiable, flops=infer.elements)


_register_comparison("Equal", lambda xp, x, y: xp.equal(x, y))
_register_comparison("NotEqual", lambda xp, x, y: xp.not_equal(x, y))
_register_comparison("Less", lambda xp, x, y: xp.less(x, y))
_register_comparison("LessEqual", lambda xp, x, y: xp.less_equal(x, y))
_register_comparison("Greater", lambda xp, x, y: xp.greater(x, y))
_register_comparison("GreaterEqual", lambda xp, x, y: xp.greater_equal(x, y))


def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where ``x`` equals ``y``, elementwise, with broadcasting."""
    return binary("Equal", x, y, name)


def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where ``x`` differs from ``y``, elementwise, with broadcasting."""
    return binary("NotEqual", x, y, name)


def less(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x < y``, elementwise, with broadcasting."""
    return binary("Less", x, y, name)


def less_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x <= y``, elementwise, with broadcasting."""
    return binary("LessEqual", x, y, name)


def greater(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x > y``, elementwise, with broadcasting."""
    return binary("Greater", x, y, name)


def greater_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x >= y``, elementwise, with broadcasting."""
    return binary("GreaterEqual", x, y, name)


def _register_logical(type: str, kernel: Callable[..., Any], rule: Callable[[Operation], infer.Inferred], aligned: int = 0) -> None:
    register(type, infer=infer.logical(rule), kernel=kernel, gradient=not_differentiable, flops=infer.elements, elementwise=True, aligned=aligned)


_register_logical("LogicalAnd", lambda xp, x, y, out=None: xp.logical_and(x, y, out=out), infer.broadcast)
_register_logical("LogicalOr", lambda xp, x, y, out=None: xp.logical_or(x, y, out=out), infer.broadcast)
_register_logical("LogicalXor", lambda xp, x, y, out=None: xp.logical_xor(x, y, out=out), infer.broadcast)
_register_logical("LogicalNot", lambda xp, x, out=None: xp.logical_not(x, out=out), infer.like_first, aligned=1)


def logical_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether both are true, elementwise, with broadcasting."""
    return binary("LogicalAnd", x, y, name)


def logical_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether either is true, elementwise, with broadcasting."""
    return binary("LogicalOr", x, y, name)


def logical_xor(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether one of the two is true, elementwise, with broadcasting."""
    return binary("LogicalXor", x, y, name)


def logical_not(x: Any, name: str | None = None) -> Tensor:
    """Whether it is false, elementwise."""
    return apply_one("LogicalNot", [x], name)


def _infer_select(op: Operation) -> infer.Inferred:
    condition, x, y = op.inputs
    if condition.dtype is not bool_:
        raise ShapeError(f"the condition must be bool, found {condition.dtype.name}")
    if x.dtype is not y.dtype:
        raise ShapeError(f"dtypes differ: {x.dtype.name} and {y.dtype.name}; use pslab.cast")
    return [(x.dtype, condition.shape.broadcast_with(x.shape.broadcast_with(y.shape)))]


def _select_gradient(op: Operation, g: Tensor) -> list[Tensor | None]:
    condition, x, y = op.inputs
    zero = convert_to_tensor(0.0, like=g)
    return [
        None,
        unbroadcast(apply_one("Select", [condition, g, zero]), x, condition, y),
        unbroadcast(apply_one("Select", [condition, zero, g]), y, condition, x),
    ]


register("Select", infer=_infer_select, kernel=lambda xp, condition, x, y: xp.where(condition, x, y), gradient=_select_gradient, flops=infer.elements)


def _infer_where(op: Operation) -> infer.Inferred:
    return [(int64, TensorShape([None, op.inputs[0].shape.ndims]))]


register("Where", infer=_infer_where, kernel=lambda xp, condition: xp.argwhere(condition).astype("int64", copy=False), gradient=not_differentiable)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``condition`` is true, ``y`` elsewhere; with the condition alone, the indices where it is true.

    Args:
        condition: bool, of the shape of ``x`` and ``y`` (or one that broadcasts to it); or a vector that chooses among their rows.
        x: any dtype.
        y: of the dtype of ``x``.
        name: name of the op.

    Returns:
        A tensor like ``x``; without ``x`` and ``y``, an int64 matrix with a row of indices per true element.

    Raises:
        ShapeError: the shapes do not broadcast, only one of ``x`` and ``y`` is given, or ``condition`` is a vector and the rank of ``x`` unknown.
    """
    condition = convert_to_tensor(condition)
    if x is None and y is None:
        return apply_one("Where", [condition], name)
    if x is None or y is None:
        raise ShapeError("where takes both of x and y, or neither")
    x, y = convert_pair(x, y)
    if condition.shape.ndims == 1:
        rank = x.shape.ndims
        if rank is None:
            raise ShapeError(f"a vector chooses among elements or rows by the rank of x, but that of {x.name} is not known", "use set_shape")
        if rank > 1:
            condition = apply_one("ExpandDims", [condition], axis=tuple(range(1, rank)))
    return apply_one("Select", [condition, x, y], name)
