"""How far replicas are from the parameters on the ps and from each other, and whether they go the same way: over arrays by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

Parameters = Mapping[str, np.ndarray[Any, Any]]

ALL = "all"
"""What stands for the parameter where a distance is over all of them."""
PS = "ps"
"""What the parameters on the ps are called in a pair."""


@dataclass(frozen=True)
class ReplicaParameters:
    """The parameters of one replica.

    Attributes:
        worker: its name, such as ``"worker:0"``.
        global_step: of its last commit; of its first read where it has made none.
        began: the parameters at which it began the round that ended in that commit.
        arrived: those with which it came to the commit.
    """

    worker: str
    global_step: int
    began: Parameters
    arrived: Parameters

    @property
    def index(self) -> int:
        """The number of the worker."""
        return int(self.worker.partition(":")[2])


class Distance(NamedTuple):
    """A pair of parameter sets, compared.

    Attributes:
        first: a worker.
        second: another worker, or ``"ps"``.
        parameter: name of a parameter; ``"all"`` for all of them as one vector.
        distance: ‖θ_first − θ_second‖₂ / ‖θ_ps‖₂; 0 where both norms are 0, infinite where only the second is.
        cosine: of the two displacements, see `distances`; NaN where one of them is 0.
    """

    first: str
    second: str
    parameter: str
    distance: float
    cosine: float


def distances(replicas: Sequence[ReplicaParameters], server: Parameters) -> list[Distance]:
    """Each replica against the ps, and each pair of replicas; per parameter, and over all.

    The cosine tells whether two go the same way, so it is that of displacements, not of positions. A replica's is θ_i − base_i, from where it began its
    round; in local SGD the base is common to all. Against the ps it is compared with θ_ps − base_i. A replica that commits gradients does not move
    between two commits, and has no cosine.
    """
    pairs = [(r.worker, PS, r.arrived, server, r.began, r.began) for r in replicas]
    pairs += [(a.worker, b.worker, a.arrived, b.arrived, a.began, b.began) for a, b in combinations(replicas, 2)]
    sizes = {name: _dot(value, value) for name, value in server.items()}
    found = []
    for first, second, a, b, base_a, base_b in pairs:
        products = {n: _products(a[n], b[n], base_a[n], base_b[n]) for n in server}
        found += [Distance(first, second, n, *_compared(p, sizes[n])) for n, p in products.items()]
        total = np.sum(list(products.values()), axis=0)
        found.append(Distance(first, second, ALL, *_compared(total, sum(sizes.values()))))
    return found


def mean_of(replicas: Sequence[ReplicaParameters]) -> dict[str, np.ndarray[Any, Any]]:
    """The mean of the parameters with which replicas came to their last commits."""
    return {n: np.mean([r.arrived[n] for r in replicas], axis=0, dtype=np.float64).astype(v.dtype) for n, v in replicas[0].arrived.items()}


def _products(a: Any, b: Any, base_a: Any, base_b: Any) -> tuple[float, float, float, float]:
    """‖a − b‖², and of the displacements the product and both squares."""
    apart, moved_a, moved_b = a - b, a - base_a, b - base_b
    return _dot(apart, apart), _dot(moved_a, moved_b), _dot(moved_a, moved_a), _dot(moved_b, moved_b)


def _compared(products: Any, size: float) -> tuple[float, float]:
    apart, along, moved_a, moved_b = (float(p) for p in products)
    distance = 0.0 if apart == 0 else math.sqrt(apart / size) if size > 0 else math.inf
    if moved_a == 0 or moved_b == 0:
        return distance, math.nan
    return distance, max(-1.0, min(1.0, along / (math.sqrt(moved_a) * math.sqrt(moved_b))))


def _dot(a: Any, b: Any) -> float:
    return float(np.dot(np.ravel(a), np.ravel(b)))
