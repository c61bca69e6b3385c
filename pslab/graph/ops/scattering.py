"""Dealing rows out to several tensors, and putting them together again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_one, apply_op, convert_to_tensor
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.arrays import range_, zeros_like
from pslab.graph.ops.compare import greater_equal
from pslab.graph.ops.gathering import gather
from pslab.graph.ops.math import maximum
from pslab.graph.ops.shapes import reshape_like, shape, size
from pslab.graph.ops.static import constant_value
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor


def _infer_partition(op: Operation) -> infer.Inferred:
    data, partitions = op.inputs
    if not partitions.dtype.is_integer:
        raise ShapeError(f"partitions must be integers, found {partitions.dtype.name}")
    if data.shape.dims is None or partitions.shape.dims is None:
        return [(data.dtype, TensorShape(None))] * op.attrs["count"]
    lead = len(partitions.shape.dims)
    TensorShape(data.shape.dims[:lead]).merge_with(partitions.shape)
    return [(data.dtype, TensorShape([None, *data.shape.dims[lead:]]))] * op.attrs["count"]


def _partition(xp: Any, data: Any, partitions: Any, *, count: int) -> Any:
    if partitions.size and (partitions.min() < 0 or partitions.max() >= count):
        raise InvalidArgumentError(f"partitions go from {partitions.min()} to {partitions.max()}, but there are {count}, numbered from 0")
    parts = tuple(data[partitions == i] for i in range(count))
    return parts if count > 1 else parts[0]


def _partition_gradient(op: Operation, *gradients: Tensor | None) -> list[Tensor | None]:
    data, partitions = op.inputs
    places = apply_one("Reshape", [range_(size(partitions)), shape(partitions)], shape=None)
    filled = [zeros_like(t) if g is None else g for t, g in zip(op.outputs, gradients, strict=True)]
    return [reshape_like(dynamic_stitch(dynamic_partition(places, partitions, len(filled)), filled), data), None]


register("DynamicPartition", infer=_infer_partition, kernel=_partition, gradient=_partition_gradient)


def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> list[Tensor]:
    """Rows dealt out: output i has those of ``data`` where ``partitions`` is i.

    Args:
        data: ``[*partitions.shape, *row]``.
        partitions: integers in [0, ``num_partitions``).
        num_partitions: number of outputs.
        name: name of the op.

    Raises:
        ShapeError: ``data`` does not begin with the shape of ``partitions``.
        InvalidArgumentError: when it runs, a number is out of range.
    """
    return list(apply_op("DynamicPartition", [data, partitions], name, count=num_partitions).outputs)


def _infer_stitch(op: Operation) -> infer.Inferred:
    count = len(op.inputs) // 2
    row = TensorShape(None)
    for indices, data in zip(op.inputs[:count], op.inputs[count:], strict=True):
        if not indices.dtype.is_integer or data.dtype is not op.inputs[count].dtype:
            raise ShapeError(f"expected integer indices and data of one dtype, found {indices.dtype.name} and {data.dtype.name}")
        if indices.shape.dims is not None and data.shape.dims is not None:
            lead = len(indices.shape.dims)
            TensorShape(data.shape.dims[:lead]).merge_with(indices.shape)
            row = row.merge_with(data.shape.dims[lead:])
    return [(op.inputs[count].dtype, TensorShape(None if row.dims is None else [None, *row.dims]))]


def _stitch(xp: Any, *inputs: Any) -> Any:
    indices, data = inputs[: len(inputs) // 2], inputs[len(inputs) // 2 :]
    length = max((int(i.max()) + 1 for i in indices if i.size), default=0)
    merged = xp.zeros((length, *data[0].shape[indices[0].ndim :]), data[0].dtype)
    for places, rows in zip(indices, data, strict=True):
        merged[places] = rows
    return merged


def _stitch_gradient(op: Operation, g: Tensor) -> list[Tensor | None]:
    """As in TensorFlow, for indices of which none comes twice."""
    count = len(op.inputs) // 2
    return [*[None] * count, *[gather(g, indices) for indices in op.inputs[:count]]]


register("DynamicStitch", infer=_infer_stitch, kernel=_stitch, gradient=_stitch_gradient)


def dynamic_stitch(indices: Sequence[Any], data: Sequence[Any], name: str | None = None) -> Tensor:
    """Rows put together: ``merged[indices[m]] = data[m]`` for each m in turn; the reverse of `dynamic_partition`.

    Raises:
        ShapeError: ``data`` and ``indices`` are not as many, or a member of ``data`` does not begin with the shape of its indices.
    """
    if len(indices) != len(data) or not indices:
        raise ShapeError(f"expected as many lists of indices as of rows, and at least one, found {len(indices)} and {len(data)}")
    return apply_one("DynamicStitch", [*map(convert_to_tensor, indices), *map(convert_to_tensor, data)], name)


# Sums by number


def _infer_segment_sum(op: Operation) -> infer.Inferred:
    data, ids = op.inputs[:2]
    if not ids.dtype.is_integer:
        raise ShapeError(f"segment ids must be integers, found {ids.dtype.name}")
    if data.shape.dims is None or ids.shape.dims is None:
        return [(data.dtype, TensorShape(None))]
    lead = len(ids.shape.dims)
    TensorShape(data.shape.dims[:lead]).merge_with(ids.shape)
    count = op.attrs["count"]
    return [(data.dtype, TensorShape([None if count is None else count[0], *data.shape.dims[lead:]]))]


def _segment_sum(xp: Any, data: Any, ids: Any, *dynamic: Any, count: tuple[int] | None) -> Any:
    total = int(dynamic[0]) if count is None else count[0]
    if ids.size and ids.max() >= total:
        raise InvalidArgumentError(f"segment ids go up to {ids.max()}, but there are {total} segments, numbered from 0")
    sums = xp.zeros((total, *data.shape[ids.ndim :]), data.dtype)
    counted = ids >= 0
    xp.add.at(sums, ids[counted], data[counted])
    return sums


def _segment_sum_gradient(op: Operation, g: Tensor) -> list[Tensor | None]:
    data, ids = op.inputs[:2]
    rows = gather(g, maximum(ids, 0))
    counted = greater_equal(ids, 0)
    rank = data.shape.ndims
    if rank is None or ids.shape.ndims is None:
        raise ShapeError(f"the gradient of unsorted_segment_sum needs known ranks, found shapes {data.shape} and {ids.shape}")
    if rank > ids.shape.ndims:
        counted = apply_one("ExpandDims", [counted], axis=tuple(range(ids.shape.ndims, rank)))
    return [apply_one("Select", [counted, rows, convert_to_tensor(0, like=g)]), *[None] * (len(op.inputs) - 1)]


register("UnsortedSegmentSum", infer=_infer_segment_sum, kernel=_segment_sum, gradient=_segment_sum_gradient, flops=infer.elements_in)


def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """Row i of the result is the sum of the rows of ``data`` whose id is i; rows with a negative id are left out.

    Args:
        data: ``[*segment_ids.shape, *row]``.
        segment_ids: integers less than ``num_segments``.
        num_segments: number of rows of the result; may be a tensor.
        name: name of the op.

    Raises:
        ShapeError: ``data`` does not begin with the shape of ``segment_ids``.
        InvalidArgumentError: when it runs, an id is too great.
    """
    number = convert_to_tensor(num_segments)
    known = constant_value(number)
    dynamic, count = ([number], None) if known is None else ([], (int(known),))
    return apply_one("UnsortedSegmentSum", [data, segment_ids, *dynamic], name, count=count)
