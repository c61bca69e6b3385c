"""Shapes: asking for them, and changing them without touching an element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pslab.errors import ShapeError
from pslab.graph.build import apply_one, constant_in, convert_to_tensor
from pslab.graph.dtypes import DType, as_dtype, int32
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.static import constant_value, inferred_shape, integer, runtime_shape, shape_argument
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape, scalar
from pslab.graph.tensor import Tensor

# Asking


def _infer_shape(op: Operation) -> infer.Inferred:
    return [(as_dtype(op.attrs["dtype"]), TensorShape([op.inputs[0].shape.ndims]))]


def _infer_count(op: Operation) -> infer.Inferred:
    return [(as_dtype(op.attrs["dtype"]), scalar())]


register("Shape", infer=_infer_shape, kernel=lambda xp, x, *, dtype: xp.asarray(x.shape, dtype), gradient=not_differentiable)
register("Size", infer=_infer_count, kernel=lambda xp, x, *, dtype: xp.asarray(x.size, dtype), gradient=not_differentiable)
register("Rank", infer=_infer_count, kernel=lambda xp, x, *, dtype: xp.asarray(x.ndim, dtype), gradient=not_differentiable)


def shape(input: Any, name: str | None = None, out_type: DType | Any = int32) -> Tensor:
    """The shape, as a vector of integers; a constant where it is fully known."""
    x, dtype = convert_to_tensor(input), as_dtype(out_type)
    if x.shape.is_fully_defined():
        return constant_in(x.graph, np.asarray(x.shape.as_tuple(), dtype.as_numpy_dtype), name or "Shape")
    return apply_one("Shape", [x], name, dtype=dtype.name)


def size(input: Any, name: str | None = None, out_type: DType | Any = int32) -> Tensor:
    """The number of elements, as an integer scalar; a constant where it is known."""
    x, dtype = convert_to_tensor(input), as_dtype(out_type)
    count = x.shape.num_elements()
    if count is not None:
        return constant_in(x.graph, np.asarray(count, dtype.as_numpy_dtype), name or "Size")
    return apply_one("Size", [x], name, dtype=dtype.name)


def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes, as an int32 scalar; a constant where it is known."""
    x = convert_to_tensor(input)
    if x.shape.ndims is not None:
        return constant_in(x.graph, np.asarray(x.shape.ndims, np.int32), name or "Rank")
    return apply_one("Rank", [x], name, dtype="int32")


# Changing


def _infer_reshape(op: Operation) -> infer.Inferred:
    x = op.inputs[0]
    shape = op.attrs["shape"]
    if shape is None:
        return [(x.dtype, inferred_shape(None, op.inputs))]
    if list(shape).count(-1) > 1 or any(d < -1 for d in shape):
        raise ShapeError(f"a shape to reshape to has at most one -1 and else no negative dimension, found {list(shape)}")
    size = x.shape.num_elements()
    known = math.prod(d for d in shape if d != -1)
    if size is not None and -1 in shape and known and size % known == 0:
        return [(x.dtype, TensorShape(size // known if d == -1 else d for d in shape))]
    if size is not None and (size != known or -1 in shape):
        raise ShapeError(f"cannot reshape {x.shape} of {size} elements to {list(shape)}")
    return [(x.dtype, TensorShape(shape))]


def _reshape(xp: Any, x: Any, *dynamic: Any, shape: tuple[int, ...] | None) -> Any:
    return x.reshape(runtime_shape(shape, dynamic))


def _reshape_gradient(op: Operation, g: Tensor) -> list[Tensor | None]:
    return [reshape_like(g, op.inputs[0]), *[None] * (len(op.inputs) - 1)]


register("Reshape", infer=_infer_reshape, kernel=_reshape, gradient=_reshape_gradient, view=True)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The same elements in another shape; one dimension may be -1, which takes what is left.

    Raises:
        ShapeError: the number of elements differs.
    """
    inputs, attribute = shape_argument(shape)
    return apply_one("Reshape", [tensor, *inputs], name, shape=attribute)


def reshape_like(tensor: Tensor, like: Tensor) -> Tensor:
    """``tensor`` in the shape of ``like``, which has as many elements."""
    dims = like.shape.dims
    if dims is not None and dims.count(None) <= 1 and 0 not in dims:
        return apply_one("Reshape", [tensor], shape=tuple(-1 if d is None else d for d in dims))
    return apply_one("Reshape", [tensor, shape_of(like)], shape=None)


shape_of = shape


def _infer_expand(op: Operation) -> infer.Inferred:
    x, axes = op.inputs[0], op.attrs["axis"]
    if x.shape.dims is None:
        return [(x.dtype, TensorShape(None))]
    total = len(x.shape.dims) + len(axes)
    added = {infer.axis_in(a, total) for a in axes}
    rest = iter(x.shape.dims)
    return [(x.dtype, TensorShape(1 if i in added else next(rest) for i in range(total)))]


register(
    "ExpandDims",
    infer=_infer_expand,
    kernel=lambda xp, x, *, axis: xp.expand_dims(x, axis),
    gradient=lambda op, g: [reshape_like(g, op.inputs[0])],
    view=True,
)


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """Add an axis of length 1 before ``axis`` (-1: at the end). ``dim`` is an older name of ``axis``.

    Raises:
        ShapeError: no axis is given, or there is no such place.
    """
    axis = dim if axis is None else axis
    if axis is None:
        raise ShapeError("expand_dims needs an axis")
    return apply_one("ExpandDims", [input], name, axis=(integer(axis, "an axis"),))


def _infer_squeeze(op: Operation) -> infer.Inferred:
    x, axes = op.inputs[0], op.attrs["axis"]
    dims = x.shape.dims
    if dims is None or (axes is None and None in dims):
        return [(x.dtype, TensorShape(None))]
    dropped = {i for i, d in enumerate(dims) if d == 1} if axes is None else {infer.axis_in(a, len(dims)) for a in axes}
    for i in sorted(dropped):
        if dims[i] not in (1, None):
            raise ShapeError(f"cannot squeeze axis {i} of {x.shape}: its length is {dims[i]}, not 1")
    return [(x.dtype, TensorShape(d for i, d in enumerate(dims) if i not in dropped))]


register(
    "Squeeze",
    infer=_infer_squeeze,
    kernel=lambda xp, x, *, axis: x.squeeze(axis),
    gradient=lambda op, g: [reshape_like(g, op.inputs[0])],
    view=True,
)


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Tensor:
    """Drop axes of length 1: those in ``axis``, by default all. ``squeeze_dims`` is an older name of ``axis``.

    Raises:
        ShapeError: such an axis has another length.
    """
    axis = squeeze_dims if axis is None else axis
    listed = axis if isinstance(axis, list | tuple) else [axis]
    return apply_one("Squeeze", [input], name, axis=tuple(integer(a, "an axis") for a in listed) if axis is not None and listed else None)


def _infer_transpose(op: Operation) -> infer.Inferred:
    x, perm = op.inputs[0], op.attrs["perm"]
    if x.shape.dims is None:
        return [(x.dtype, TensorShape(None if perm is None else [None] * len(perm)))]
    if perm is None:
        return [(x.dtype, TensorShape(x.shape.dims[::-1]))]
    if sorted(perm) != list(range(len(x.shape.dims))):
        raise ShapeError(f"perm {list(perm)} is no permutation of the {len(x.shape.dims)} axes of {x.shape}")
    return [(x.dtype, TensorShape(x.shape.dims[p] for p in perm))]


def _transpose_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    perm = op.attrs["perm"]
    return [apply_one("Transpose", [g], perm=None if perm is None else tuple(perm.index(i) for i in range(len(perm))))]


register("Transpose", infer=_infer_transpose, kernel=lambda xp, x, *, perm: x.transpose(perm), gradient=_transpose_gradient, view=True)


def transpose(a: Any, perm: Sequence[int] | Any = None, name: str | None = None) -> Tensor:
    """The axes in another order: axis i of the result is axis ``perm[i]``; by default, in reverse order.

    Raises:
        ShapeError: ``perm`` is no permutation of the axes.
    """
    if perm is not None:
        value = constant_value(convert_to_tensor(perm))
        if value is None:
            raise ShapeError(f"perm must be known when the graph is built, not {perm!r}")
        perm = tuple(int(p) for p in value)
    return apply_one("Transpose", [a], name, perm=perm)
