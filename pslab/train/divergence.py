"""How far a replica's parameters are from those on the ps, as a tensor of the training graph."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pslab.graph.build import apply
from pslab.graph.dtypes import float64
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor


def _kernel(xp: Any, replica: Any, server: Any) -> Any:
    difference = (replica - server).ravel()
    flat = server.ravel()
    return xp.asarray([xp.dot(difference, difference), xp.dot(flat, flat)], dtype="float64")


def _infer(op: Operation) -> infer.Inferred:
    infer.same_dtype(op)
    return [(float64, TensorShape([2]))]


register("SquaredDistance", infer=_infer, kernel=_kernel, flops=lambda op: 5 * infer.elements(op))


def squared_distances(replica: Sequence[Tensor], server: Sequence[Tensor]) -> list[Tensor]:
    """For each pair of parameters ``(r, s)``, the vector ``[‖r − s‖², ‖s‖²]`` in float64. It is computed on the device in force."""
    return [apply("SquaredDistance", [r, s]) for r, s in zip(replica, server, strict=True)]


def relative_distance(squares: Iterable[np.ndarray[Any, Any]]) -> float:
    """‖θ_replica − θ_ps‖ / ‖θ_ps‖ over all parameters, from the values of `squared_distances`; 0 where both are 0."""
    apart, size = np.sum(list(squares), axis=0)
    return 0.0 if apart == 0 else math.sqrt(apart / size) if size > 0 else math.inf
