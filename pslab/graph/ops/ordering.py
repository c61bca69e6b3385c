"""Along an axis: the reverse order, running sums, and the greatest few."""

from __future__ import annotations

from typing import Any, NamedTuple

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_one, apply_op, convert_to_tensor
from pslab.graph.dtypes import int32
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.reduce import axes_of
from pslab.graph.ops.static import integer
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor

register(
    "ReverseV2",
    infer=infer.like_first,
    kernel=lambda xp, x, *, axis: xp.flip(x, axis),
    gradient=lambda op, g: [apply_one("ReverseV2", [g], axis=op.attrs["axis"])],
    view=True,
)


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """The elements in reverse order along each axis in ``axis``.

    Raises:
        ShapeError: there is no such axis.
    """
    x = convert_to_tensor(tensor)
    return apply_one("ReverseV2", [x], name, axis=axes_of(x, axis))


# Running sums


def _cumsum(xp: Any, x: Any, *, axis: int, exclusive: bool, reverse: bool) -> Any:
    turned = xp.flip(x, axis) if reverse else x
    sums = xp.cumsum(turned, axis=axis, dtype=x.dtype)
    if exclusive:
        sums = sums - turned
    return xp.flip(sums, axis).copy() if reverse else sums


def _cumsum_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    return [apply_one("Cumsum", [g], **{**op.attrs, "reverse": not op.attrs["reverse"]})]


register("Cumsum", infer=infer.numeric(infer.like_first), kernel=_cumsum, gradient=_cumsum_gradient, flops=infer.elements)


def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """The running sum along ``axis``; ``exclusive`` without the element itself, ``reverse`` from the end.

    Raises:
        ShapeError: there is no such axis.
    """
    x = convert_to_tensor(x)
    at = infer.axis_in(integer(axis, "an axis"), x.shape.ndims)
    return apply_one("Cumsum", [x], name, axis=at, exclusive=bool(exclusive), reverse=bool(reverse))


# The greatest few of the last axis


class TopKV2(NamedTuple):
    """What `top_k` gives: the greatest values, and their indices along the last axis."""

    values: Tensor
    indices: Tensor


def _infer_top_k(op: Operation) -> infer.Inferred:
    x, k = op.inputs[0], op.attrs["k"]
    if x.shape.dims is None:
        return [(x.dtype, TensorShape(None)), (int32, TensorShape(None))]
    if not x.shape.dims or (x.shape.dims[-1] is not None and x.shape.dims[-1] < k):
        raise ShapeError(f"there are no {k} values along the last axis of {x.shape}")
    shape = TensorShape([*x.shape.dims[:-1], k])
    return [(x.dtype, shape), (int32, shape)]


def _top_k(xp: Any, x: Any, *, k: int) -> Any:
    if x.shape[-1] < k:
        raise InvalidArgumentError(f"there are no {k} values along the last axis of shape {x.shape}")
    backwards = xp.argsort(xp.flip(x, -1), axis=-1, kind="stable")  # so that of equals the first comes first when turned around
    indices = x.shape[-1] - 1 - xp.flip(backwards, -1)[..., :k]
    return xp.take_along_axis(x, indices, -1), indices.astype("int32")


def _top_k_grad(xp: Any, g: Any, indices: Any, like: Any) -> Any:
    full = xp.zeros((like.size // max(like.shape[-1], 1), like.shape[-1]), g.dtype)
    rows = indices.reshape(-1, indices.shape[-1])
    full[xp.arange(len(rows))[:, None], rows] = g.reshape(rows.shape)
    return full.reshape(like.shape)


register(
    "TopKV2",
    infer=infer.numeric(_infer_top_k),
    kernel=_top_k,
    gradient=lambda op, g, _: [None if g is None else apply_one("TopKGrad", [g, op.outputs[1], op.inputs[0]])],
    flops=infer.elements_in,
)
register("TopKGrad", infer=lambda op: [(op.inputs[0].dtype, op.inputs[2].shape)], kernel=_top_k_grad)


def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> TopKV2:
    """The ``k`` greatest values along the last axis, greatest first, and their int32 indices; of equals the first comes first.

    Raises:
        ShapeError: there are not so many.
    """
    return TopKV2(*apply_op("TopKV2", [input], name, k=integer(k, "k")).outputs)
