"""Reductions that are made of others: counts, logarithms of sums of powers, norms."""

from __future__ import annotations

import math as scalar_math
from typing import Any

from pslab.errors import ShapeError
from pslab.graph.build import convert_to_tensor
from pslab.graph.dtypes import DType, int64
from pslab.graph.ops import math
from pslab.graph.ops.arrays import cast, zeros_like
from pslab.graph.ops.compare import not_equal, where
from pslab.graph.ops.numerics import is_finite
from pslab.graph.ops.reduce import axes_of, reduce_max, reduce_sum
from pslab.graph.ops.shapes import squeeze
from pslab.graph.ops.sources import stop_gradient
from pslab.graph.tensor import Tensor


def count_nonzero(
    input_tensor: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: DType | Any = int64,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """How many elements are not 0, over ``axis``. ``reduction_indices`` and ``keep_dims`` are older names."""
    x = convert_to_tensor(input_tensor)
    there = cast(not_equal(x, convert_to_tensor(0, like=x)), dtype)
    return reduce_sum(there, axis, keep_dims, name or "count_nonzero", reduction_indices, keepdims)


def reduce_logsumexp(
    input_tensor: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """``log(sum(exp(x)))`` over ``axis``, without overflow. ``reduction_indices`` and ``keep_dims`` are older names."""
    x = convert_to_tensor(input_tensor)
    axes = axes_of(x, reduction_indices if axis is None else axis)
    with x.graph.name_scope(name or "ReduceLogSumExp"):
        greatest = reduce_max(x, axes, keep_dims=True)
        shift = stop_gradient(where(is_finite(greatest), greatest, zeros_like(greatest)))
        result = math.log(reduce_sum(math.exp(x - shift), axes, keep_dims=True)) + shift
        if keepdims or keep_dims:
            return result
        return squeeze(result, None if axes is None else list(axes))


def norm(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool | None = None, name: str | None = None, keep_dims: bool | None = None
) -> Tensor:
    """The norm over ``axis``, of vectors: ``ord`` is ``"euclidean"``, infinity or a positive number. ``keep_dims`` is an older name.

    Raises:
        ShapeError: there is no such norm.
    """
    x = convert_to_tensor(tensor)
    keep = keepdims or keep_dims
    if ord in ("euclidean", 2):
        return math.sqrt(reduce_sum(math.square(x), axis, keep), name or "norm")
    if isinstance(ord, str) or not ord > 0:
        raise ShapeError(f"a norm is 'euclidean' or a positive number, not {ord!r}")
    if ord == scalar_math.inf:
        return reduce_max(math.abs(x), axis, keep, name or "norm")
    if ord == 1:
        return reduce_sum(math.abs(x), axis, keep, name or "norm")
    return math.pow(reduce_sum(math.pow(math.abs(x), ord), axis, keep), 1.0 / ord, name or "norm")
