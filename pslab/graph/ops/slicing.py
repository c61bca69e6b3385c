"""Taking parts by bounds: slices, and padding, which is their reverse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.gathering import gather
from pslab.graph.ops.static import constant_value, inferred_shape, integer, is_symbolic, shape_argument
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor

# Slices. A key is plain data: an int takes one index, a triple (start, stop, step) a slice, "..." the axes that are not named, "new" a new axis.

Item = int | tuple[int | None, int | None, int | None] | str


newaxis = None
"""In a key: a new axis of length 1."""


def _numpy_key(key: Sequence[Item]) -> tuple[Any, ...]:
    return tuple(slice(*k) if isinstance(k, tuple) else {"...": Ellipsis, "new": None}[k] if isinstance(k, str) else k for k in key)


def _infer_slice(op: Operation) -> infer.Inferred:
    x, key = op.inputs[0], op.attrs["key"]
    if x.shape.dims is None:
        return [(x.dtype, TensorShape(None))]
    return [(x.dtype, TensorShape(_sliced(x.shape.dims, key)))]


def _sliced(dims: tuple[int | None, ...], key: Sequence[Item]) -> list[int | None]:
    named = sum(k not in ("...", "new") for k in key)
    if named > len(dims):
        raise ShapeError(f"{named} indices for a tensor of rank {len(dims)}")
    result: list[int | None] = []
    axis = 0
    for item in (*key, "...") if "..." not in key else key:
        if item == "new":
            result.append(1)
        elif item == "...":
            result.extend(dims[axis : axis + len(dims) - named])
            axis += len(dims) - named
        else:
            length = dims[axis]
            if isinstance(item, tuple):
                result.append(_slice_length(length, item))
            elif length is not None and not -length <= int(item) < length:
                raise ShapeError(f"index {item} is outside axis {axis}, which has {length}")
            axis += 1
    return result


def _slice_length(length: int | None, item: tuple[int | None, int | None, int | None]) -> int | None:
    start, stop, step = item
    if length is not None:
        return len(range(*slice(start, stop, step).indices(length)))
    return None


def _slice_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    return [apply_one("StridedSliceGrad", [g, op.inputs[0]], key=op.attrs["key"])]


def _slice_grad(xp: Any, g: Any, like: Any, *, key: Sequence[Item]) -> Any:
    full = xp.zeros(like.shape, g.dtype)
    full[_numpy_key(key)] = g
    return full


def _strided_slice(xp: Any, x: Any, *, key: Sequence[Item]) -> Any:
    return xp.asarray(x[_numpy_key(key)], x.dtype)  # of one string, too, an array


register("StridedSlice", infer=_infer_slice, kernel=_strided_slice, gradient=_slice_gradient, view=True)
register(
    "StridedSliceGrad",
    infer=lambda op: [(op.inputs[0].dtype, op.inputs[1].shape)],
    kernel=_slice_grad,
    gradient=lambda op, g: [apply_one("StridedSlice", [g], key=op.attrs["key"]), None],
)


def getitem(tensor: Tensor, key: Any) -> Tensor:
    """``tensor[key]``: ints, slices, ``...`` and None (a new axis), as in NumPy. One tensor as the key gathers rows.

    Raises:
        ShapeError: an index is outside, there are too many, or one is a tensor whose value is not known when the graph is built.
    """
    if is_symbolic(key) and constant_value(convert_to_tensor(key)) is None:
        return gather(tensor, key)
    items = key if isinstance(key, tuple) else (key,)
    if sum(item is Ellipsis for item in items) > 1:
        raise ShapeError("an index has at most one '...'")
    return apply_one("StridedSlice", [tensor], "strided_slice", key=tuple(map(_item, items)))


def _item(item: Any) -> Item:
    if item is None:
        return "new"
    if item is Ellipsis:
        return "..."
    if isinstance(item, slice):
        start, stop, step = (None if b is None else integer(b, "a bound of a slice") for b in (item.start, item.stop, item.step))
        if step == 0:
            raise ShapeError("the step of a slice must not be 0")
        return (start, stop, step)
    if isinstance(item, bool):
        raise ShapeError("a truth value is no index; use pslab.where or pslab.gather")
    return integer(item, "an index")


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """A slice by bounds per axis (TensorFlow's ``tf.strided_slice``).

    Bit i of a mask says of item i: from the very begin, to the very end, the axes not named, a new axis, one index whose axis goes.
    ``var`` changes nothing.

    Raises:
        ShapeError: the bounds are not known when the graph is built, or an index is outside.
    """
    bounds = [constant_value(convert_to_tensor(b)) for b in (begin, end)]
    if bounds[0] is None or bounds[1] is None:
        raise ShapeError("the bounds of strided_slice must be known when the graph is built")
    starts, stops = bounds[0].tolist(), bounds[1].tolist()
    steps = [1] * len(starts) if strides is None else [integer(s, "a stride") for s in strides]
    key: list[Item] = []
    for i, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            key.append("...")
        elif new_axis_mask & bit:
            key.append("new")
        elif shrink_axis_mask & bit:
            key.append(start)
        else:
            key.append((None if begin_mask & bit else start, None if end_mask & bit else stop, step))
    return apply_one("StridedSlice", [input_], name, key=tuple(key))


# A block by begin and size, either of which may be computed


def _infer_block(op: Operation) -> infer.Inferred:
    x = op.inputs[0]
    begin, size = op.attrs["begin"], op.attrs["size"]
    rank = x.shape.ndims
    if rank is not None and any(v is not None and len(v) != rank for v in (begin, size)):
        raise ShapeError(f"begin and size need one number per axis of {x.shape}")
    dims = list(inferred_shape(size, op.inputs).dims or [None] * (rank or 0))
    if begin is not None and x.shape.dims is not None and size is not None:
        for i, (b, s, d) in enumerate(zip(begin, size, x.shape.dims, strict=True)):
            if d is not None and not 0 <= b <= b + max(s, 0) <= d:
                raise ShapeError(f"the slice from {b} of size {s} is outside axis {i}, which has {d}")
            dims[i] = s if s != -1 else None if d is None else d - b
    return [(x.dtype, TensorShape(dims if dims or rank == 0 else None))]


def _bounds(x: Any, dynamic: Sequence[Any], begin: Any, size: Any) -> tuple[slice, ...]:
    given = iter(dynamic)
    start = begin if begin is not None else next(given).tolist()
    extent = size if size is not None else next(given).tolist()
    for i, (b, s, d) in enumerate(zip(start, extent, x.shape, strict=True)):
        if not 0 <= b <= b + max(s, 0) <= d:
            raise InvalidArgumentError(f"the slice from {b} of size {s} is outside axis {i}, which has {d}")
    return tuple(slice(b, None if s == -1 else b + s) for b, s in zip(start, extent, strict=True))


def _block(xp: Any, x: Any, *dynamic: Any, begin: Any, size: Any) -> Any:
    return x[_bounds(x, dynamic, begin, size)]


def _block_grad(xp: Any, g: Any, like: Any, *dynamic: Any, begin: Any, size: Any) -> Any:
    full = xp.zeros(like.shape, g.dtype)
    full[_bounds(like, dynamic, begin, size)] = g
    return full


register(
    "Slice",
    infer=_infer_block,
    kernel=_block,
    gradient=lambda op, g: [apply_one("SliceGrad", [g, *op.inputs], **op.attrs), *[None] * (len(op.inputs) - 1)],
    view=True,
)
register(
    "SliceGrad",
    infer=lambda op: [(op.inputs[0].dtype, op.inputs[1].shape)],
    kernel=_block_grad,
    gradient=lambda op, g: [apply_one("Slice", [g, *op.inputs[2:]], **op.attrs), *[None] * (len(op.inputs) - 1)],
)


def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The block that begins at ``begin`` and has ``size`` (-1: up to the end), a number per axis (TensorFlow's ``tf.slice``). Both may be tensors.

    Raises:
        ShapeError: the block is outside, as far as is known when the graph is built.
    """
    starts, start = shape_argument(begin)
    extents, extent = shape_argument(size)
    return apply_one("Slice", [input_, *starts, *extents], name or "Slice", begin=start, size=extent)


# Padding


def _infer_pad(op: Operation) -> infer.Inferred:
    x, paddings = op.inputs[0], op.attrs["paddings"]
    if x.shape.dims is None:
        return [(x.dtype, TensorShape([None] * len(paddings)))]
    if len(paddings) != len(x.shape.dims):
        raise ShapeError(f"expected a pair of paddings for each axis of {x.shape}, found {len(paddings)}")
    return [(x.dtype, TensorShape(None if d is None else b + d + a for d, (b, a) in zip(x.shape.dims, paddings, strict=True)))]


def _pad(xp: Any, x: Any, *, paddings: Any, constant: float) -> Any:
    return xp.pad(x, paddings, constant_values=constant)


def _pad_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    return [apply_one("StridedSlice", [g], key=tuple((b, -a if a else None, None) for b, a in op.attrs["paddings"]))]


register("PadV2", infer=_infer_pad, kernel=_pad, gradient=_pad_gradient, flops=infer.elements)


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", name: str | None = None, constant_values: float = 0) -> Tensor:
    """``tensor`` with ``constant_values`` around it: a pair (before, after) per axis.

    Raises:
        ShapeError: the paddings are not known when the graph is built, or ``mode`` is another than ``"CONSTANT"``.
    """
    if mode.upper() != "CONSTANT":
        raise ShapeError(f"pad knows the mode 'CONSTANT', not {mode!r}")
    value = constant_value(convert_to_tensor(paddings))
    if value is None or value.ndim != 2 or value.shape[1] != 2 or (value < 0).any():
        raise ShapeError(f"paddings must be pairs of known numbers, none negative, not {paddings!r}")
    return apply_one("PadV2", [tensor], name or "Pad", paddings=tuple((int(b), int(a)) for b, a in value), constant=constant_values)
