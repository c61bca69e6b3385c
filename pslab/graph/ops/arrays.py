"""Arrays of given values: zeros, ones, ranges, one-hot vectors, repetitions; and casts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pslab.errors import ShapeError
from pslab.graph.build import apply_one, constant_in, convert_to_tensor
from pslab.graph.defaults import get_default_graph
from pslab.graph.dtypes import DType, as_dtype, float32, float64, int32, int64
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.static import constant_value, inferred_shape, integer, runtime_shape, shape_argument
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor

_SMALL = 1000
"""Up to so many elements, zeros and ones are constants of the graph; more are made when the graph runs, so that the graph stays small."""

# Filling


def _infer_fill(op: Operation) -> infer.Inferred:
    value = op.inputs[0]
    if not value.shape.is_compatible_with(()):
        raise ShapeError(f"the value to fill with must be a scalar, found shape {value.shape}")
    return [(value.dtype, inferred_shape(op.attrs["shape"], op.inputs))]


def _fill(xp: Any, value: Any, *dynamic: Any, shape: tuple[int, ...] | None) -> Any:
    filled = xp.empty(runtime_shape(shape, dynamic), value.dtype)
    filled[...] = value
    return filled


def _fill_gradient(op: Operation, g: Tensor) -> list[Tensor | None]:
    return [apply_one("Sum", [g], axis=None, keep_dims=False), *[None] * (len(op.inputs) - 1)]


register("Fill", infer=_infer_fill, kernel=_fill, gradient=_fill_gradient, flops=infer.elements)


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of shape ``dims`` that holds the scalar ``value`` everywhere."""
    inputs, attribute = shape_argument(dims)
    return apply_one("Fill", [value, *inputs], name, shape=attribute)


def _filled(value: int, shape: Any, dtype: DType | Any, name: str) -> Tensor:
    inputs, attribute = shape_argument(shape)
    numpy_dtype = as_dtype(dtype).as_numpy_dtype
    if attribute is not None and math.prod(attribute) <= _SMALL:
        return constant_in(get_default_graph(), np.full(attribute, value, numpy_dtype), name)
    return apply_one("Fill", [np.asarray(value, numpy_dtype), *inputs], name, shape=attribute)


def zeros(shape: Any, dtype: DType | Any = float32, name: str | None = None) -> Tensor:
    """Zeros of a shape and dtype."""
    return _filled(0, shape, dtype, name or "zeros")


def ones(shape: Any, dtype: DType | Any = float32, name: str | None = None) -> Tensor:
    """Ones of a shape and dtype."""
    return _filled(1, shape, dtype, name or "ones")


register("ZerosLike", infer=infer.like_first, kernel=lambda xp, x: xp.zeros(x.shape, x.dtype), gradient=not_differentiable)
register("OnesLike", infer=infer.like_first, kernel=lambda xp, x: xp.ones(x.shape, x.dtype), gradient=not_differentiable)


def _filled_like(type: str, value: int, tensor: Any, dtype: DType | Any, name: str) -> Tensor:
    x = convert_to_tensor(tensor)
    wanted = x.dtype if dtype is None else as_dtype(dtype)
    count = x.shape.num_elements()
    if count is not None and count <= _SMALL:
        return constant_in(x.graph, np.full(x.shape.as_tuple(), value, wanted.as_numpy_dtype), name)
    return cast(apply_one(type, [x], name), wanted)


def zeros_like(tensor: Any, dtype: DType | Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Zeros of the shape of ``tensor``, and of its dtype unless another is given. ``optimize`` changes nothing."""
    return _filled_like("ZerosLike", 0, tensor, dtype, name or "zeros_like")


def ones_like(tensor: Any, dtype: DType | Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Ones of the shape of ``tensor``, and of its dtype unless another is given. ``optimize`` changes nothing."""
    return _filled_like("OnesLike", 1, tensor, dtype, name or "ones_like")


# Ranges and one-hot vectors


def _infer_range(op: Operation) -> infer.Inferred:
    values = [constant_value(t) for t in op.inputs]
    dtype = infer.same_dtype(op)
    if any(v is None for v in values):
        return [(dtype, TensorShape([None]))]
    start, limit, delta = (v.item() for v in values if v is not None)
    if delta == 0:
        raise ShapeError("the step of a range must not be 0")
    return [(dtype, TensorShape([max(0, math.ceil((limit - start) / delta))]))]


def _range(xp: Any, start: Any, limit: Any, delta: Any) -> Any:
    return xp.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype)


register("Range", infer=_infer_range, kernel=_range, gradient=not_differentiable)


def range_(start: Any, limit: Any = None, delta: Any = 1, dtype: DType | Any = None, name: str | None = None) -> Tensor:
    """Numbers from ``start`` up to, but without, ``limit`` in steps of ``delta`` (TensorFlow's ``tf.range``); with one number, from 0 up to it."""
    if limit is None:
        start, limit = 0, start
    tensors = [convert_to_tensor(v) for v in (start, limit, delta)]
    wanted = max((t.dtype for t in tensors), key=(int32, int64, float32, float64).index) if dtype is None else as_dtype(dtype)
    return apply_one("Range", [cast(t, wanted) for t in tensors], name or "range")


def _infer_one_hot(op: Operation) -> infer.Inferred:
    indices, on, off = op.inputs
    if not indices.dtype.is_integer:
        raise ShapeError(f"indices must be integers, found {indices.dtype.name}")
    if on.dtype is not off.dtype:
        raise ShapeError(f"on_value is {on.dtype.name}, off_value {off.dtype.name}")
    if indices.shape.dims is None:
        return [(on.dtype, TensorShape(None))]
    dims = list(indices.shape.dims)
    dims.insert(infer.axis_in(op.attrs["axis"], len(dims) + 1), op.attrs["depth"])
    return [(on.dtype, TensorShape(dims))]


def _one_hot(xp: Any, indices: Any, on: Any, off: Any, *, depth: int, axis: int) -> Any:
    at = axis % (indices.ndim + 1)
    classes = xp.arange(depth).reshape((depth,) + (1,) * (indices.ndim - at))
    return xp.where(xp.expand_dims(indices, at) == classes, on, off)


register("OneHot", infer=_infer_one_hot, kernel=_one_hot, gradient=not_differentiable, flops=infer.elements)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: DType | Any = None,
    name: str | None = None,
) -> Tensor:
    """Vectors of length ``depth`` that hold ``on_value`` (1) at the index and ``off_value`` (0) elsewhere; an index outside gives no 1.

    Args:
        indices: integers of any shape.
        depth: number of classes.
        on_value: the value at the index.
        off_value: the value elsewhere.
        axis: where the new axis goes; -1, the default, is the end.
        dtype: element type; by default that of the values, else float32.
        name: name of the op.
    """
    wanted = as_dtype(dtype) if dtype is not None else None
    if wanted is None and on_value is None and off_value is None:
        wanted = float32
    on = convert_to_tensor(1 if on_value is None else on_value, wanted)
    off = convert_to_tensor(0 if off_value is None else off_value, on.dtype)
    indices = convert_to_tensor(indices)
    return apply_one(
        "OneHot", [indices, on, off], name or "one_hot", depth=integer(depth, "depth"), axis=-1 if axis is None else integer(axis, "an axis")
    )


# Repeating


def _infer_tile(op: Operation) -> infer.Inferred:
    x, multiples = op.inputs[0], op.attrs["multiples"]
    if x.shape.dims is None:
        return [(x.dtype, TensorShape([None] * len(multiples)))]
    if len(multiples) != len(x.shape.dims) or any(m < 0 for m in multiples):
        raise ShapeError(f"expected a multiple for each axis of {x.shape}, none negative, found {list(multiples)}")
    return [(x.dtype, TensorShape(None if d is None else d * m for d, m in zip(x.shape.dims, multiples, strict=True)))]


def _tile_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    return [apply_one("TileGrad", [g, op.inputs[0]], multiples=op.attrs["multiples"])]


def _tile_grad(xp: Any, g: Any, like: Any, *, multiples: tuple[int, ...]) -> Any:
    split = [n for pair in zip(multiples, like.shape, strict=True) for n in pair]
    return g.reshape(split).sum(axis=tuple(range(0, len(split), 2)), dtype=g.dtype)


register("Tile", infer=_infer_tile, kernel=lambda xp, x, *, multiples: xp.tile(x, multiples), gradient=_tile_gradient, flops=infer.elements)
register(
    "TileGrad",
    infer=lambda op: [(op.inputs[0].dtype, op.inputs[1].shape)],
    kernel=_tile_grad,
    gradient=lambda op, g: [apply_one("Tile", [g], multiples=op.attrs["multiples"]), None],
    flops=infer.elements_in,
)


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """``input`` repeated ``multiples[i]`` times along axis i.

    Raises:
        ShapeError: there is not one multiple per axis, or they are not known when the graph is built.
    """
    value = constant_value(convert_to_tensor(multiples))
    if value is None:
        raise ShapeError("the multiples of tile must be known when the graph is built")
    return apply_one("Tile", [input], name, multiples=tuple(int(m) for m in value.ravel()))


# Casts


def _cast_gradient(op: Operation, g: Tensor) -> list[Tensor | None]:
    source = op.inputs[0].dtype
    return [apply_one("Cast", [g], dtype=source.name) if source.is_floating else None]


register(
    "Cast",
    infer=lambda op: [(as_dtype(op.attrs["dtype"]), op.inputs[0].shape)],
    kernel=lambda xp, x, *, dtype: x.astype(dtype),
    gradient=_cast_gradient,
    flops=infer.elements,
)


def cast(x: Any, dtype: DType | Any, name: str | None = None) -> Tensor:
    """``x`` with another element type; floats lose their fraction where they become integers."""
    tensor, wanted = convert_to_tensor(x), as_dtype(dtype)
    if tensor.dtype is wanted:
        return tensor
    return apply_one("Cast", [tensor], name, dtype=wanted.name)


def _cast_to(dtype: DType, name: str) -> Callable[..., Tensor]:
    def to(x: Any, name: str | None = name) -> Tensor:
        return cast(x, dtype, name)

    to.__name__ = to.__qualname__ = f"to_{name.removeprefix('To').lower()}"
    to.__doc__ = f"``x`` as {dtype.name}: `cast`."
    return to


to_float = _cast_to(float32, "ToFloat")
to_double = _cast_to(float64, "ToDouble")
to_int32 = _cast_to(int32, "ToInt32")
to_int64 = _cast_to(int64, "ToInt64")
