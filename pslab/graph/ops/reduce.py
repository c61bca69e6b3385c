"""Reductions over axes: sums, means, extremes, and where the extremes are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pslab.errors import ShapeError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.dtypes import DType, as_dtype, int64
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.static import constant_value, integer, is_symbolic
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor

Axes = tuple[int, ...] | None


def _reduced(shape: TensorShape, axis: Axes, keep_dims: bool) -> TensorShape:
    """Static shape of a reduction of ``shape`` over ``axis`` (None: all axes)."""
    if shape.dims is None:
        return TensorShape(() if axis is None and not keep_dims else None)
    axes = set(range(len(shape.dims)) if axis is None else (infer.axis_in(a, len(shape.dims)) for a in axis))
    if keep_dims:
        return TensorShape(1 if i in axes else d for i, d in enumerate(shape.dims))
    return TensorShape(d for i, d in enumerate(shape.dims) if i not in axes)


def _infer(op: Operation) -> infer.Inferred:
    return [(op.inputs[0].dtype, _reduced(op.inputs[0].shape, op.attrs["axis"], op.attrs["keep_dims"]))]


def _sum(xp: Any, x: Any, *, axis: Axes, keep_dims: bool) -> Any:
    return x.sum(axis=axis, dtype=x.dtype, keepdims=keep_dims)


def _mean(xp: Any, x: Any, *, axis: Axes, keep_dims: bool) -> Any:
    total = x.sum(axis=axis, dtype=x.dtype, keepdims=keep_dims)
    count = x.size // max(total.size, 1)
    if x.dtype.kind == "f":
        return total / count if count else total * math.nan
    return total // count


def _prod(xp: Any, x: Any, *, axis: Axes, keep_dims: bool) -> Any:
    return x.prod(axis=axis, dtype=x.dtype, keepdims=keep_dims)


def _max(xp: Any, x: Any, *, axis: Axes, keep_dims: bool) -> Any:
    return x.max(axis=axis, keepdims=keep_dims)


def _min(xp: Any, x: Any, *, axis: Axes, keep_dims: bool) -> Any:
    return x.min(axis=axis, keepdims=keep_dims)


def _all(xp: Any, x: Any, *, axis: Axes, keep_dims: bool) -> Any:
    return x.all(axis=axis, keepdims=keep_dims)


def _any(xp: Any, x: Any, *, axis: Axes, keep_dims: bool) -> Any:
    return x.any(axis=axis, keepdims=keep_dims)


# Gradients: what was reduced is spread again over the axes it came from.


def _spread_kernel(xp: Any, gradient: Any, *like: Any, axis: Axes, keep_dims: bool, mean: bool, shape: tuple[int, ...] | None) -> Any:
    full = like[0].shape if shape is None else shape
    if mean:
        gradient = gradient / (math.prod(full) // max(gradient.size, 1) or 1)
    if axis is not None and not keep_dims:
        gradient = xp.expand_dims(gradient, axis)
    spread = xp.empty(full, gradient.dtype)
    spread[...] = gradient
    return spread


def _infer_spread(op: Operation) -> infer.Inferred:
    shape = op.attrs["shape"]
    return [(op.inputs[0].dtype, op.inputs[1].shape if shape is None else TensorShape(shape))]


def _spread_gradient(op: Operation, g: Tensor) -> list[Tensor | None]:
    reduce = "Mean" if op.attrs["mean"] else "Sum"
    return [apply_one(reduce, [g], axis=op.attrs["axis"], keep_dims=op.attrs["keep_dims"]), *[None] * (len(op.inputs) - 1)]


register("ReduceGrad", infer=_infer_spread, kernel=_spread_kernel, gradient=_spread_gradient, flops=infer.elements)


def spread(g: Tensor, like: Tensor, axis: Axes, keep_dims: bool = False, mean: bool = False) -> Tensor:
    """``g``, which has the shape of ``like`` reduced over ``axis``, repeated along ``axis`` (for a mean, divided by how often)."""
    known = like.shape.is_fully_defined()
    return apply_one(
        "ReduceGrad",
        [g] if known else [g, like],
        axis=axis,
        keep_dims=keep_dims,
        mean=mean,
        shape=like.shape.as_tuple() if known else None,
    )


def _linear_gradient(mean: bool) -> Callable[[Operation, Tensor], list[Tensor]]:
    return lambda op, g: [spread(g, op.inputs[0], op.attrs["axis"], op.attrs["keep_dims"], mean)]


def _extreme_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    """The gradient goes to the extreme element; several share it evenly."""
    x, axis, keep = op.inputs[0], op.attrs["axis"], op.attrs["keep_dims"]
    reached = apply_one("Equal", [x, spread(op.outputs[0], x, axis, keep)])
    chosen = apply_one("Cast", [reached], dtype=g.dtype.name)
    share = g / apply_one("Sum", [chosen], axis=axis, keep_dims=keep)
    return [chosen * spread(share, x, axis, keep)]


def _prod_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    x, axis, keep = op.inputs[0], op.attrs["axis"], op.attrs["keep_dims"]
    return [apply_one("ProdOfOthers", [x], axis=axis) * spread(g, x, axis, keep)]


def _prod_of_others(xp: Any, x: Any, *, axis: Axes) -> Any:
    """For each element the product of the others along ``axis``, without dividing: an element may be 0."""
    axes = tuple(a % x.ndim for a in (range(x.ndim) if axis is None else axis))
    order = [i for i in range(x.ndim) if i not in axes] + list(axes)
    turned = x.transpose(order)
    rows = turned.reshape(-1, math.prod(x.shape[a] for a in axes))
    before, after = xp.ones_like(rows), xp.ones_like(rows)
    xp.cumprod(rows[:, :-1], axis=1, out=before[:, 1:])
    xp.cumprod(rows[:, :0:-1], axis=1, out=after[:, -2::-1])
    return xp.ascontiguousarray((before * after).reshape(turned.shape).transpose([order.index(i) for i in range(x.ndim)]))


register("ProdOfOthers", infer=infer.like_first, kernel=_prod_of_others, flops=infer.per_element(3))

_NUMBERS, _TRUTHS = infer.numeric(_infer), infer.logical(_infer)
register("Sum", infer=_NUMBERS, kernel=_sum, gradient=_linear_gradient(mean=False), flops=infer.elements_in)
register("Mean", infer=_NUMBERS, kernel=_mean, gradient=_linear_gradient(mean=True), flops=infer.elements_in)
register("Prod", infer=_NUMBERS, kernel=_prod, gradient=_prod_gradient, flops=infer.elements_in)
register("Max", infer=_NUMBERS, kernel=_max, gradient=_extreme_gradient, flops=infer.elements_in)
register("Min", infer=_NUMBERS, kernel=_min, gradient=_extreme_gradient, flops=infer.elements_in)
register("All", infer=_TRUTHS, kernel=_all, gradient=not_differentiable, flops=infer.elements_in)
register("Any", infer=_TRUTHS, kernel=_any, gradient=not_differentiable, flops=infer.elements_in)


def _reduction(type: str, what: str) -> Callable[..., Tensor]:
    def reduce(
        input_tensor: Any,
        axis: Any = None,
        keep_dims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keepdims: bool | None = None,
    ) -> Tensor:
        x = convert_to_tensor(input_tensor)
        if axis is not None and reduction_indices is not None:
            raise ShapeError(f"reduce_{type.lower()} got both axis={axis!r} and reduction_indices={reduction_indices!r}, two names of one thing")
        return apply_one(
            type,
            [x],
            name,
            axis=axes_of(x, reduction_indices if axis is None else axis),
            keep_dims=bool(keep_dims if keepdims is None else keepdims),
        )

    reduce.__name__ = reduce.__qualname__ = f"reduce_{type.lower()}"
    reduce.__doc__ = f"""{what} over ``axis``.

    Args:
        input_tensor: what is reduced.
        axis: an axis or a list of them; all axes by default.
        keep_dims: whether reduced axes stay, with length 1.
        name: name of the op.
        reduction_indices: an older name of ``axis``.
        keepdims: a newer name of ``keep_dims``.

    Raises:
        ShapeError: there is no such axis.
    """
    return reduce


def axes_of(x: Tensor, axis: Any) -> Axes:
    """``axis`` as a tuple, counted from the front where the rank of ``x`` is known.

    Raises:
        ShapeError: there is no such axis, or it is not known when the graph is built.
    """
    if axis is None:
        return None
    if is_symbolic(axis) and convert_to_tensor(axis).shape.ndims == 1:
        axis = constant_value(convert_to_tensor(axis))
    listed = list(axis) if isinstance(axis, list | tuple | np.ndarray) else [axis]
    return tuple(infer.axis_in(integer(a, "an axis"), x.shape.ndims) for a in listed)


reduce_sum = _reduction("Sum", "The sum")
reduce_mean = _reduction("Mean", "The mean, in the tensor's own dtype (of integers, rounded down),")
reduce_prod = _reduction("Prod", "The product")
reduce_max = _reduction("Max", "The greatest element")
reduce_min = _reduction("Min", "The least element")
reduce_all = _reduction("All", "Whether all are true")
reduce_any = _reduction("Any", "Whether any is true")


def _infer_arg(op: Operation) -> infer.Inferred:
    return [(as_dtype(op.attrs["dtype"]), _reduced(op.inputs[0].shape, (op.attrs["axis"],), False))]


def _register_arg(type: str, find: Callable[[Any, int], Any]) -> None:
    def kernel(xp: Any, x: Any, *, axis: int, dtype: str) -> Any:
        return find(x, axis).astype(dtype, copy=False)

    register(type, infer=_infer_arg, kernel=kernel, gradient=not_differentiable, flops=infer.elements_in)


_register_arg("ArgMax", lambda x, axis: x.argmax(axis))
_register_arg("ArgMin", lambda x, axis: x.argmin(axis))


def argmax(input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: DType | Any = int64) -> Tensor:
    """Index of the greatest element along ``axis`` (by default the first); of several, the first. ``dimension`` is an older name of ``axis``."""
    return _arg("ArgMax", input, axis, name, dimension, output_type)


def argmin(input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: DType | Any = int64) -> Tensor:
    """Index of the least element along ``axis`` (by default the first); of several, the first. ``dimension`` is an older name of ``axis``."""
    return _arg("ArgMin", input, axis, name, dimension, output_type)


def _arg(type: str, input: Any, axis: Any, name: str | None, dimension: Any, output_type: DType | Any) -> Tensor:
    x = convert_to_tensor(input)
    axis = dimension if axis is None else axis
    index = 0 if axis is None else infer.axis_in(integer(axis, "an axis"), x.shape.ndims)
    return apply_one(type, [x], name, axis=index, dtype=as_dtype(output_type).name)
