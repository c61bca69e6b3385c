"""A few elements in place of all: which to keep, and a tensor that is zero but for them.

Elements are counted in row order. How many of n are kept is ``kept(n, share)``, the same wherever it is asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.dtypes import int32
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor


def kept(size: int, share: float) -> int:
    """How many of ``size`` elements are kept: ``share`` of them, rounded, but at least one where there is one."""
    return min(size, max(1, round(share * size)))


def _infer_top(op: Operation) -> infer.Inferred:
    size = op.inputs[0].shape.num_elements()
    return [(int32, TensorShape([None if size is None else kept(size, op.attrs["share"])]))]


def _top(xp: Any, x: Any, *, share: float) -> Any:
    count = kept(x.size, share)
    if count == x.size:
        return xp.arange(count, dtype="int32")
    magnitudes = xp.abs(x).ravel()
    magnitudes[xp.isnan(magnitudes)] = xp.inf  # what is no number is sent, not hidden
    least = xp.partition(magnitudes, x.size - count)[x.size - count]
    greater = xp.flatnonzero(magnitudes > least)
    equal = xp.flatnonzero(magnitudes == least)[: count - greater.size]
    return xp.sort(xp.concatenate([greater, equal])).astype("int32")


def _top_bytes(width: int, size: int, count: int) -> int:
    """Magnitudes, and beside them first the same parted, and truth values; then int64 indices, put together and sorted."""
    return width * size + max((width + 1) * size, 24 * count)


register(
    "TopIndices",
    infer=infer.floating(_infer_top),
    kernel=_top,
    gradient=not_differentiable,
    flops=lambda op: 3 * infer.elements_in(op),
    scratch=lambda op: _top_bytes(op.inputs[0].dtype.size, infer.elements_in(op), infer.elements(op)),
)


def top_indices(x: Any, share: float, name: str | None = None) -> Tensor:
    """Where the elements of greatest magnitude are: an int32 vector, in rising order. Of equals the first are taken."""
    return apply_one("TopIndices", [x], name, share=share)


def _infer_random(op: Operation) -> infer.Inferred:
    [seed] = op.inputs
    if seed.dtype is not int32 or not seed.shape.is_compatible_with(()):
        raise ShapeError(f"a seed is an int32 scalar, but {seed.name} is {seed.dtype.name} of shape {seed.shape}")
    return [(int32, TensorShape([kept(op.attrs["size"], op.attrs["share"])]))]


def _random(xp: Any, seed: Any, *, size: int, share: float) -> Any:
    count = kept(size, share)
    if count == size:
        return xp.arange(count, dtype="int32")
    keys = np.random.PCG64(int(seed) % 2**32).random_raw(size)  # bit streams, unlike NumPy's samplers, never change
    return xp.asarray(np.sort(np.argpartition(keys, count)[:count]).astype("int32"))


register(
    "RandomIndices",
    infer=_infer_random,
    kernel=_random,
    gradient=not_differentiable,
    flops=lambda op: op.attrs["size"],
    scratch=lambda op: 16 * op.attrs["size"] + 8 * infer.elements(op),  # keys, their order, and the int64 indices
)


def random_indices(seed: Any, size: int, share: float, name: str | None = None) -> Tensor:
    """Where ``kept(size, share)`` of ``size`` elements are, drawn without replacement: an int32 vector, in rising order.

    It is a function of ``seed``, an int32 scalar, alone: the same on every task, device and version of NumPy.

    Raises:
        ShapeError: ``seed`` is no int32 scalar.
    """
    return apply_one("RandomIndices", [convert_to_tensor(seed)], name, size=size, share=share)


def _infer_densify(op: Operation) -> infer.Inferred:
    indices, values = op.inputs
    if indices.dtype is not int32:
        raise ShapeError(f"indices must be int32, found {indices.dtype.name}")
    indices.shape.merge_with(values.shape).merge_with([None])
    return [(values.dtype, TensorShape(op.attrs["shape"]))]


def _densify(xp: Any, indices: Any, values: Any, *, shape: tuple[int, ...]) -> Any:
    dense = xp.zeros(shape, values.dtype)
    if indices.size and (indices.min() < 0 or indices.max() >= dense.size):
        raise InvalidArgumentError(f"indices from {indices.min()} to {indices.max()} are outside of {dense.size} elements")
    dense.reshape(-1)[indices] = values
    return dense


register("Densify", infer=_infer_densify, kernel=_densify, gradient=not_differentiable, flops=infer.elements_in)


def densify(indices: Any, values: Any, shape: tuple[int, ...], name: str | None = None) -> Tensor:
    """A tensor of ``shape`` that is zero but for ``values`` at ``indices``, an int32 vector without doubles.

    Raises:
        InvalidArgumentError: when it runs, an index is outside.
        ShapeError: ``indices`` are not int32, or not as many as the values.
    """
    return apply_one("Densify", [indices, values], name, shape=shape)
