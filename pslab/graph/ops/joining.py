"""Putting tensors together and taking them apart: concat, split, stack, unstack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pslab.errors import ShapeError
from pslab.graph.build import apply_one, apply_op, convert_to_tensor
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.arrays import zeros_like
from pslab.graph.ops.static import constant_value, integer
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor

# Along an axis that is there


def _infer_concat(op: Operation) -> infer.Inferred:
    dtype, known = infer.same_dtype(op), [t.shape for t in op.inputs if t.shape.dims is not None]
    if not known:
        return [(dtype, TensorShape(None))]
    axis = infer.axis_in(op.attrs["axis"], known[0].ndims)
    total: int | None = 0
    merged = TensorShape([None] * len(known[0]))
    for shape in known:
        if len(shape) != len(merged):
            raise ShapeError(f"ranks differ: {known[0]} and {shape}")
        merged = merged.merge_with([None if i == axis else d for i, d in enumerate(shape)])
        length = shape.dim(axis)
        total = None if total is None or length is None else total + length
    if len(known) < len(op.inputs):
        total = None
    return [(dtype, TensorShape(total if i == axis else d for i, d in enumerate(merged)))]


def _concat_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    axis = op.attrs["axis"]
    sizes = tuple(t.shape.dim(axis) for t in op.inputs)
    if None not in sizes:
        return list(apply_op("Split", [g], sizes=sizes, axis=axis).outputs)
    return list(apply_op("SplitLike", [g, *op.inputs], axis=axis).outputs)


register(
    "ConcatV2",
    infer=_infer_concat,
    kernel=lambda xp, *values, axis: xp.concatenate(values, axis),
    gradient=_concat_gradient,
    flops=infer.elements,
)


def concat(values: Any, axis: Any, name: str | None = None) -> Tensor:
    """Tensors joined along ``axis``. The order of arguments before TensorFlow 1.0, ``concat(axis, values)``, is understood too.

    Raises:
        ShapeError: their other dimensions, ranks or dtypes differ.
    """
    if isinstance(values, int) and isinstance(axis, list | tuple):
        values, axis = axis, values
    if not isinstance(values, list | tuple):
        values = [values]
    return apply_one("ConcatV2", _convert(values), name or "concat", axis=integer(axis, "an axis"))


def _pieces(x: Any, sizes: Sequence[int], axis: int) -> tuple[Any, ...]:
    before = (slice(None),) * (axis % x.ndim)
    pieces, start = [], 0
    for size in sizes:
        pieces.append(x[(*before, slice(start, start + size))])
        start += size
    return tuple(pieces)


def _bare(pieces: tuple[Any, ...]) -> Any:
    """What a kernel returns for its outputs: a tuple, but one output as it is."""
    return pieces[0] if len(pieces) == 1 else pieces


def _infer_split(op: Operation) -> infer.Inferred:
    x, sizes = op.inputs[0], op.attrs["sizes"]
    if x.shape.dims is None:
        return [(x.dtype, TensorShape(None))] * len(sizes)
    axis = infer.axis_in(op.attrs["axis"], x.shape.ndims)
    length = x.shape.dims[axis]
    if length is not None and length != sum(sizes):
        raise ShapeError(f"sizes {list(sizes)} add up to {sum(sizes)}, but axis {axis} of {x.shape} has {length}")
    return [(x.dtype, TensorShape(size if i == axis else d for i, d in enumerate(x.shape.dims))) for size in sizes]


def _joined(op: Operation, gradients: Sequence[Tensor | None], axis: int) -> Tensor:
    filled = [zeros_like(t) if g is None else g for t, g in zip(op.outputs, gradients, strict=True)]
    return apply_one("ConcatV2", filled, axis=axis)


register(
    "Split",
    infer=_infer_split,
    kernel=lambda xp, x, *, sizes, axis: _bare(_pieces(x, sizes, axis)),
    gradient=lambda op, *gs: [_joined(op, gs, op.attrs["axis"])],
    view=True,
)
register(
    "SplitLike",
    infer=lambda op: [(op.inputs[0].dtype, t.shape) for t in op.inputs[1:]],
    kernel=lambda xp, x, *like, axis: _bare(_pieces(x, [t.shape[axis] for t in like], axis)),
    gradient=lambda op, *gs: [_joined(op, gs, op.attrs["axis"]), *[None] * (len(op.inputs) - 1)],
    view=True,
)


def _infer_split_evenly(op: Operation) -> infer.Inferred:
    x, count = op.inputs[0], op.attrs["count"]
    if x.shape.dims is None:
        return [(x.dtype, TensorShape(None))] * count
    axis = infer.axis_in(op.attrs["axis"], x.shape.ndims)
    length = x.shape.dims[axis]
    if length is not None and length % count:
        raise ShapeError(f"axis {axis} of {x.shape} has {length}, which does not split into {count} equal parts")
    part = None if length is None else length // count
    return [(x.dtype, TensorShape(part if i == axis else d for i, d in enumerate(x.shape.dims)))] * count


def _split_evenly(xp: Any, x: Any, *, count: int, axis: int) -> Any:
    length = x.shape[axis]
    if length % count:
        raise ValueError(f"axis {axis} has {length}, which does not split into {count} equal parts")
    return _bare(_pieces(x, [length // count] * count, axis))


register(
    "SplitEvenly",
    infer=_infer_split_evenly,
    kernel=_split_evenly,
    gradient=lambda op, *gs: [_joined(op, gs, op.attrs["axis"])],
    view=True,
)


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str | None = None) -> list[Tensor]:
    """``value`` cut along ``axis`` into so many equal parts, or into parts of the sizes listed.

    The order of arguments before TensorFlow 1.0, ``split(axis, num, value)``, is understood too where ``value`` is a tensor.

    Raises:
        ShapeError: the axis does not divide so.
    """
    if isinstance(value, int) and isinstance(axis, Tensor):
        value, axis = axis, value
    x, at = convert_to_tensor(value), integer(axis, "an axis")
    sizes = constant_value(convert_to_tensor(num_or_size_splits))
    if sizes is None:
        raise ShapeError("the parts of split must be known when the graph is built")
    if sizes.ndim == 0:
        if sizes < 1:
            raise ShapeError(f"split makes at least one part, not {sizes}")
        return list(apply_op("SplitEvenly", [x], name or "split", count=int(sizes), axis=at).outputs)
    parts = [int(s) for s in sizes]
    if -1 in parts:
        length = x.shape.dim(at)
        if length is None:
            raise ShapeError(f"a size of -1 needs a known length of axis {at}, but the shape is {x.shape}")
        parts[parts.index(-1)] = length - sum(p for p in parts if p != -1)
    return list(apply_op("Split", [x], name or "split", sizes=tuple(parts), axis=at).outputs)


# Along a new axis


def _infer_pack(op: Operation) -> infer.Inferred:
    [(dtype, shape)] = infer.aligned(op)
    if shape.dims is None:
        return [(dtype, shape)]
    dims = list(shape.dims)
    dims.insert(infer.axis_in(op.attrs["axis"], len(dims) + 1), len(op.inputs))
    return [(dtype, TensorShape(dims))]


def _infer_unpack(op: Operation) -> infer.Inferred:
    x, num = op.inputs[0], op.attrs["num"]
    if x.shape.dims is None:
        return [(x.dtype, TensorShape(None))] * num
    axis = infer.axis_in(op.attrs["axis"], x.shape.ndims)
    if x.shape.dims[axis] not in (None, num):
        raise ShapeError(f"axis {axis} of {x.shape} has {x.shape.dims[axis]}, not {num}")
    return [(x.dtype, TensorShape(d for i, d in enumerate(x.shape.dims) if i != axis))] * num


def _unpack(xp: Any, x: Any, *, num: int, axis: int) -> Any:
    if x.shape[axis] != num:
        raise ValueError(f"axis {axis} has {x.shape[axis]}, not {num}")
    return _bare(tuple(xp.asarray(part, x.dtype) for part in xp.moveaxis(x, axis, 0)))  # of strings, too, arrays


def _pack_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    return list(apply_op("Unpack", [g], num=len(op.inputs), axis=op.attrs["axis"]).outputs)


def _unpack_gradient(op: Operation, *gradients: Tensor | None) -> list[Tensor]:
    filled = [zeros_like(t) if g is None else g for t, g in zip(op.outputs, gradients, strict=True)]
    return [apply_one("Pack", filled, axis=op.attrs["axis"])]


register("Pack", infer=_infer_pack, kernel=lambda xp, *values, axis: xp.stack(values, axis), gradient=_pack_gradient, flops=infer.elements)
register("Unpack", infer=_infer_unpack, kernel=_unpack, gradient=_unpack_gradient, view=True)


def stack(values: Any, axis: Any = 0, name: str | None = None) -> Tensor:
    """Tensors of one shape, side by side along a new axis.

    Raises:
        ShapeError: their shapes or dtypes differ.
    """
    return apply_one("Pack", _convert(values), name or "stack", axis=integer(axis, "an axis"))


def unstack(value: Any, num: int | None = None, axis: Any = 0, name: str | None = None) -> list[Tensor]:
    """The slices of ``value`` along ``axis``, without that axis.

    Raises:
        ShapeError: their number is neither known nor given.
    """
    x, at = convert_to_tensor(value), integer(axis, "an axis")
    if x.shape.ndims is not None:
        at = infer.axis_in(at, x.shape.ndims)
    count = x.shape.dim(at) if num is None else num
    if count is None:
        raise ShapeError(f"axis {at} of {x.shape} is not known, so it cannot be unstacked without num=")
    return list(apply_op("Unpack", [x], name or "unstack", num=int(count), axis=at).outputs)


pack, unpack = stack, unstack


def _convert(values: Sequence[Any]) -> list[Tensor]:
    """Values as tensors; Python numbers take on the dtype of the first tensor among them."""
    if not values:
        raise ShapeError("there must be at least one tensor")
    like = next((convert_to_tensor(v) for v in values if isinstance(v, Tensor) or hasattr(v, "_as_tensor")), None)
    return [convert_to_tensor(v, like=like) for v in values]
