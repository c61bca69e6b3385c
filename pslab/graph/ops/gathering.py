"""Taking rows by index."""

from __future__ import annotations

from typing import Any

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_one
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
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


def _gather_grad(xp: Any, g: Any, indices: Any, like: Any, *, axis: int) -> Any:
    """Dense: the sum, per row, of the gradients of all its uses."""
    full = xp.zeros(like.shape, g.dtype)
    axis = axis % like.ndim
    xp.add.at(full, (slice(None),) * axis + (indices,), g)
    return full


register(
    "GatherV2",
    infer=_infer_gather,
    kernel=_gather,
    gradient=lambda op, g: [apply_one("GatherGrad", [g, op.inputs[1], op.inputs[0]], axis=op.attrs["axis"]), None],
)
register(
    "GatherGrad",
    infer=lambda op: [(op.inputs[0].dtype, op.inputs[2].shape)],
    kernel=_gather_grad,
    gradient=lambda op, g: [apply_one("GatherV2", [g, op.inputs[1]], axis=op.attrs["axis"]), None, None],
    flops=infer.elements_in,
)


def gather(params: Any, indices: Any, validate_indices: bool | None = None, name: str | None = None, axis: Any = 0) -> Tensor:
    """The slices of ``params`` along ``axis`` at ``indices``, integers of any shape. The gradient is dense.

    ``validate_indices`` changes nothing.

    Raises:
        InvalidArgumentError: when it runs, an index is outside.
    """
    return apply_one("GatherV2", [params, indices], name or "Gather", axis=integer(0 if axis is None else axis, "an axis"))


def embedding_lookup(params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None) -> Tensor:
    """The rows of ``params`` at ``ids``.

    Raises:
        ShapeError: ``params`` is a list of several parts.
    """
    if isinstance(params, list | tuple):
        if len(params) != 1:
            raise ShapeError(f"embedding_lookup takes one table, not {len(params)} parts")
        params = params[0]
    return gather(params, ids, name=name or "embedding_lookup")
