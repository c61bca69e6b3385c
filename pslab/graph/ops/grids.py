"""Evenly spaced numbers, and grids of them."""

from __future__ import annotations

from typing import Any

from pslab.errors import ShapeError
from pslab.graph.build import convert_to_tensor
from pslab.graph.ops import math
from pslab.graph.ops.arrays import cast, ones, range_
from pslab.graph.ops.broadcasting import convert_pair
from pslab.graph.ops.shapes import reshape, size
from pslab.graph.ops.static import integer
from pslab.graph.tensor import Tensor


def linspace(start: Any, stop: Any, num: Any, name: str | None = None) -> Tensor:
    """``num`` numbers from ``start`` to ``stop``, both included, evenly spaced.

    Raises:
        ShapeError: ``num`` is not known or less than 1, or the bounds are not floating.
    """
    first, last = convert_pair(start, stop)
    count = integer(num, "num")
    if count < 1 or not first.dtype.is_floating:
        raise ShapeError(f"linspace makes at least one float, not {count} of {first.dtype.name}")
    return math.add(first, cast(range_(count), first.dtype) * ((last - first) / float(max(count - 1, 1))), name or "LinSpace")


lin_space = linspace


def meshgrid(*args: Any, indexing: str = "xy", name: str | None = None) -> list[Tensor]:
    """From vectors, grids of all their combinations, a grid for each; with ``"xy"`` the first two axes are exchanged, as pictures have them.

    Raises:
        ShapeError: ``indexing`` is neither ``"xy"`` nor ``"ij"``.
    """
    if indexing not in ("xy", "ij"):
        raise ShapeError(f"indexing is 'xy' or 'ij', not {indexing!r}")
    vectors = [convert_to_tensor(a) for a in args]
    order = list(range(len(vectors)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = [1, 0]
    sizes = [size(vectors[i]) for i in order]
    if not vectors:
        return []
    with vectors[0].graph.name_scope(name or "meshgrid"):
        full = ones(sizes, vectors[0].dtype)
        return [reshape(v, [-1 if k == i else 1 for k in order]) * cast(full, v.dtype) for i, v in enumerate(vectors)]
