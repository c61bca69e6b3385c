"""A variable that is kept in parts, each on its own task, and the functions that say into how many."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pslab.errors import GraphError
from pslab.graph.dtypes import DType, string
from pslab.graph.ops.joining import concat
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable

Partitioner = Callable[..., list[int]]


class PartitionedVariable:
    """A variable in parts along one axis (TensorFlow 1's ``tf.PartitionedVariable``). Iterating over it gives the parts, variables themselves.

    Where a tensor is wanted it stands for the parts joined; `pslab.nn.embedding_lookup` takes only rows from each.

    Attributes:
        name: full name, without the parts'.
        shape: of the whole.
        dtype: element type.
        partitions: number of parts along each axis.
    """

    def __init__(self, name: str, shape: TensorShape, dtype: DType, variable_list: Sequence[Variable], partitions: Sequence[int]) -> None:
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self.partitions = tuple(partitions)
        self._parts = list(variable_list)

    def get_shape(self) -> TensorShape:
        """The shape of the whole."""
        return self.shape

    def as_tensor(self) -> Tensor:
        """The parts joined."""
        axis = next((i for i, count in enumerate(self.partitions) if count > 1), 0)
        if len(self._parts) == 1:
            return self._parts[0].value()
        return concat(self._parts, axis, f"{self.name.rsplit('/', 1)[-1]}/ConcatPartitions")

    def _as_tensor(self) -> Tensor:
        return self.as_tensor()

    def _get_variable_list(self) -> list[Variable]:
        """The parts, by the half-private name that TensorFlow 1 has for them."""
        return list(self._parts)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        return f"<pslab.PartitionedVariable {self.name!r} shape={self.shape} dtype={self.dtype.name} parts={len(self)}>"


def _operator(name: str) -> Callable[..., Any]:
    return lambda self, *others: getattr(self.as_tensor(), name)(*others)


_BINARY = ("add", "sub", "mul", "truediv", "matmul")
for _name in [*_BINARY, *(f"r{n}" for n in _BINARY), "neg", "getitem"]:
    setattr(PartitionedVariable, f"__{_name}__", _operator(f"__{_name}__"))


def slices(name: str, shape: TensorShape, partitions: Sequence[int]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Where each part begins, and its shape. Where the axis does not divide evenly, the first parts are longer by one.

    Raises:
        GraphError: ``partitions`` has not one positive number per axis, or cuts more than one axis, or an axis into more parts than it has.
    """
    dims = shape.as_tuple()
    if len(partitions) != len(dims) or any(not 1 <= p <= max(d, 1) for p, d in zip(partitions, dims, strict=False)):
        raise GraphError(f"variable {name!r} of shape {shape}: its partitioner gave {list(partitions)}", "one number per axis, from 1 to its length")
    if sum(p > 1 for p in partitions) > 1:
        raise GraphError(f"variable {name!r}: a variable is cut along one axis, but its partitioner gave {list(partitions)}")
    axis = next((i for i, p in enumerate(partitions) if p > 1), 0)
    count = partitions[axis]
    found, start = [], 0
    for i in range(count):
        length = dims[axis] // count + (i < dims[axis] % count)
        offset = tuple(start if a == axis else 0 for a in range(len(dims)))
        found.append((offset, tuple(length if a == axis else d for a, d in enumerate(dims))))
        start += length
    return found


# Partitioners: from a shape and a dtype to a number of parts per axis


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """A partitioner into ``num_shards`` parts along ``axis`` (fewer, where the axis is shorter)."""

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        return _along(shape, axis, min(num_shards, shape[axis]))

    return partitioner


def variable_axis_size_partitioner(
    max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16, max_shards: int | None = None
) -> Partitioner:
    """A partitioner into as few parts along ``axis`` as keep each within ``max_shard_bytes``, where a row does, and at most ``max_shards``.

    Raises:
        GraphError: a bound is not positive.
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1 or (max_shards is not None and max_shards < 1):
        raise GraphError(f"the bounds must be positive, found {max_shard_bytes}, {bytes_per_string_element} and {max_shards}")

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        length = shape[axis]
        row = _bytes(shape, dtype, bytes_per_string_element) / length
        rows = max(1, math.floor(max_shard_bytes / row))
        count = math.ceil(length / rows)
        return _along(shape, axis, count if max_shards is None else min(max_shards, count))

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10, bytes_per_string_element: int = 16
) -> Partitioner:
    """A partitioner into at most ``max_partitions`` parts along ``axis``, none smaller than ``min_slice_size`` bytes if it can be.

    Raises:
        GraphError: ``max_partitions`` or ``min_slice_size`` is not positive.
    """
    if max_partitions < 1 or min_slice_size < 1:
        raise GraphError(f"max_partitions and min_slice_size must be positive, found {max_partitions} and {min_slice_size}")

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        count = math.ceil(_bytes(shape, dtype, bytes_per_string_element) / min_slice_size)
        return _along(shape, axis, max(1, min(shape[axis], max_partitions, count)))

    return partitioner


def _along(shape: TensorShape, axis: int, count: int) -> list[int]:
    partitions = [1] * len(shape)
    partitions[axis] = int(count)
    return partitions


def _bytes(shape: TensorShape, dtype: DType, bytes_per_string_element: int) -> int:
    return math.prod(shape.as_tuple()) * (bytes_per_string_element if dtype is string else dtype.size)
