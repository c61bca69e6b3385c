"""Taking rows by index."""

from __future__ import annotations

from typing import Any

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.compare import where
from pslab.graph.ops.static import integer
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor


def _infer_gather(op: Operation) -> infer.Inferred:
    x, indices = op.inputs
    if not indices.dtype.is_integer:
        raise ShapeError(f"indices must be integers, found {indices.dtype.name}")
    if x.shape.dims is None or indices.shape.dims is None:
        return [(x.dtype, TensorShape(None))]
    axis = infer.axis_in(op.attrs["axis"], len(x.shape.dims))
    return [(x.dtype, TensorShape([*x.shape.dims[:axis], *indices.shape.dims, *x.shape.dims[axis + 1 :]]))]


def _gather(xp: Any, x: Any, indices: Any, *, axis: int) -> Any:
    if indices.size and (indices.min() < 0 or indices.max() >= x.shape[axis]):
        raise InvalidArgumentError(f"indices from {indices.min()} to {indices.max()} are outside axis {axis}, which has {x.shape[axis]}")
    return xp.asarray(x.take(indices, axis), x.dtype)  # of one string, too, an array


def _gather_gradient(op: Operation, g: Tensor) -> list[Tensor | None]:
    x, indices = op.inputs
    known = x.shape.is_fully_defined()  # a table that lives elsewhere need not travel for its shape
    shape = x.shape.as_tuple() if known else None
    return [apply_one("GatherGrad", [g, indices] if known else [g, indices, x], axis=op.attrs["axis"], shape=shape), None]


def _gather_grad(xp: Any, g: Any, indices: Any, *like: Any, axis: int, shape: tuple[int, ...] | None) -> Any:
    """Dense: the sum, per row, of the gradients of all its uses."""
    full = xp.zeros(like[0].shape if shape is None else shape, g.dtype)
    xp.add.at(full, (slice(None),) * (axis % full.ndim) + (indices,), g)
    return full


def _infer_gather_grad(op: Operation) -> infer.Inferred:
    shape = op.attrs["shape"]
    return [(op.inputs[0].dtype, op.inputs[2].shape if shape is None else TensorShape(shape))]


register(
    "GatherV2",
    infer=_infer_gather,
    kernel=_gather,
    gradient=_gather_gradient,
)
register(
    "GatherGrad",
    infer=_infer_gather_grad,
    kernel=_gather_grad,
    gradient=lambda op, g: [apply_one("GatherV2", [g, op.inputs[1]], axis=op.attrs["axis"]), *[None] * (len(op.inputs) - 1)],
    flops=infer.elements_in,
)


def gather(params: Any, indices: Any, validate_indices: bool | None = None, name: str | None = None, axis: Any = 0) -> Tensor:
    """The slices of ``params`` along ``axis`` at ``indices``, integers of any shape. The gradient is dense.

    ``validate_indices`` changes nothing.

    Raises:
        InvalidArgumentError: when it runs, an index is outside.
    """
    return apply_one("GatherV2", [params, indices], name or "Gather", axis=integer(0 if axis is None else axis, "an axis"))


# By several indices at once


def _infer_gather_nd(op: Operation) -> infer.Inferred:
    x, indices = op.inputs
    if not indices.dtype.is_integer:
        raise ShapeError(f"indices must be integers, found {indices.dtype.name}")
    depth = indices.shape.dim(-1) if indices.shape.ndims else None
    if x.shape.dims is None or indices.shape.dims is None or depth is None:
        return [(x.dtype, TensorShape(None))]
    if depth > len(x.shape.dims):
        raise ShapeError(f"{depth} indices for a tensor of rank {len(x.shape.dims)}")
    return [(x.dtype, TensorShape([*indices.shape.dims[:-1], *x.shape.dims[depth:]]))]


def _key(xp: Any, indices: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    limits = xp.asarray(shape[: indices.shape[-1]])
    if indices.size and ((indices < 0) | (indices >= limits)).any():
        raise InvalidArgumentError(f"some of the indices are outside shape {shape}")
    return tuple(xp.moveaxis(indices, -1, 0))


def _gather_nd(xp: Any, x: Any, indices: Any) -> Any:
    return xp.array(x[_key(xp, indices, x.shape)])


def _gather_nd_grad(xp: Any, g: Any, indices: Any, like: Any) -> Any:
    full = xp.zeros(like.shape, g.dtype)
    xp.add.at(full, _key(xp, indices, like.shape), g)
    return full


register(
    "GatherNd",
    infer=_infer_gather_nd,
    kernel=_gather_nd,
    gradient=lambda op, g: [apply_one("GatherNdGrad", [g, op.inputs[1], op.inputs[0]]), None],
)
register(
    "GatherNdGrad",
    infer=lambda op: [(op.inputs[0].dtype, op.inputs[2].shape)],
    kernel=_gather_nd_grad,
    gradient=lambda op, g: [apply_one("GatherNd", [g, op.inputs[1]]), None, None],
    flops=infer.elements_in,
)


def boolean_mask(tensor: Any, mask: Any, name: str | None = "boolean_mask", axis: int | None = None) -> Tensor:
    """What lies where ``mask`` is true.

    Args:
        tensor: of rank 1 or more.
        mask: bool, of the shape of the first axes of ``tensor``; or a vector, of the length of ``axis``.
        name: name of the op.
        axis: the axis that a vector masks; the first by default.

    Returns:
        ``[count, …]``: an entry for each that is true, in order; where a vector masks another axis, ``count`` is that axis's length.

    Raises:
        ShapeError: the rank of ``mask`` is unknown or 0, or it is greater than 1 and ``axis`` is not the first.
    """
    chosen = convert_to_tensor(mask)
    if not chosen.shape.ndims:
        raise ShapeError(f"a mask needs a known rank of 1 or more, found shape {chosen.shape}")
    if chosen.shape.ndims == 1:
        return gather(tensor, where(chosen)[:, 0], axis=axis or 0, name=name)
    if axis:
        raise ShapeError(f"a mask of rank {chosen.shape.ndims} masks the first axes, not those from axis {axis} on")
    return gather_nd(tensor, where(chosen), name)


def gather_nd(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """The elements or slices of ``params`` at ``indices``, whose last axis holds an index for each of the first axes of ``params``.

    Returns:
        ``[*indices.shape[:-1], *params.shape[indices.shape[-1]:]]``.

    Raises:
        InvalidArgumentError: when it runs, an index is outside.
    """
    return apply_one("GatherNd", [params, indices], name or "GatherNd")
