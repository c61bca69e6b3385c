"""Where the replicas and the ps went in parameter space, seen in a plane of two directions, with the loss over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from pslab.train.distances import PS, Parameters, ReplicaParameters

Array = np.ndarray[Any, np.dtype[np.float64]]


class Directions(StrEnum):
    """By what a plane is chosen."""

    PCA = "pca"
    """The two directions in which the points differ most (Li et al., 2018, "Visualizing the Loss Landscape of Neural Nets")."""
    RANDOM = "random"
    """Two directions at random, fixed by a seed: the same for any training of the model."""


@dataclass(frozen=True)
class Path:
    """Where one of them was.

    Attributes:
        name: ``"ps"``, or such as ``"worker:0"``.
        steps: int64, the global step of each point.
        points: float64 of shape [points, parameters]. Of a replica, where a round began and where it came to its commit, in turn.
    """

    name: str
    steps: np.ndarray[Any, np.dtype[np.int64]]
    points: Array


class Trajectories:
    """Gathers the points of all paths."""

    def __init__(self) -> None:
        self._points: dict[str, list[tuple[int, Array]]] = {}

    def see(self, step: int, server: Parameters, replicas: Sequence[ReplicaParameters]) -> None:
        """Where they are at a global step. A replica that has made no commit since it was seen last is where it was."""
        self._points.setdefault(PS, []).append((step, flat(server)))
        for replica in replicas:
            mine = self._points.setdefault(replica.worker, [])
            if mine and mine[-1][0] == replica.global_step:
                continue
            for point in (flat(replica.began), flat(replica.arrived)):
                if not mine or not np.array_equal(mine[-1][1], point):
                    mine.append((replica.global_step, point))

    def paths(self) -> list[Path]:
        """The path of the ps, and of each replica, by name."""
        return [Path(name, np.array([s for s, _ in found]), np.array([p for _, p in found])) for name, found in sorted(self._points.items())]


@dataclass(frozen=True)
class Plane:
    """A plane in parameter space.

    Attributes:
        origin: float64 of shape [parameters].
        directions: float64 of shape [2, parameters], orthonormal.
        shares: of the points' squared distances from the origin, what lies along each direction.
    """

    origin: Array
    directions: Array
    shares: tuple[float, float]

    @classmethod
    def of(cls, paths: Sequence[Path], directions: Directions = Directions.PCA, seed: int = 0) -> Plane:
        """The plane through the last point of the ps in which paths are seen.

        By PCA of the points, about that point. Points that differ in one direction only, or in none, get others at random.
        """
        origin = next(path for path in paths if path.name == PS).points[-1]
        apart = np.concatenate([path.points for path in paths]) - origin
        random = np.random.default_rng(seed).standard_normal((2, len(origin)))
        wanted = random
        if directions is Directions.PCA:
            values, vectors = np.linalg.eigh(apart @ apart.T)  # as many as there are points, which are far fewer than parameters
            main = [apart.T @ vectors[:, -k] for k in (1, 2) if len(values) >= k and values[-k] > 1e-12 * max(values[-1], 1e-300)]
            wanted = np.array([*main, *random])[:2]
        basis = np.linalg.qr(wanted.T)[0].T
        basis *= np.where(np.sum(basis * wanted, axis=1) < 0, -1.0, 1.0)[:, None]
        size = float(np.sum(apart**2)) or 1.0
        along = np.sum((apart @ basis.T) ** 2, axis=0) / size
        return cls(origin, basis, (float(along[0]), float(along[1])))

    def project(self, points: Array) -> Array:
        """Coordinates in the plane, of shape [points, 2]."""
        return (points - self.origin) @ self.directions.T


@dataclass(frozen=True)
class Landscape:
    """Paths in a plane, over the loss.

    Attributes:
        paths: by name, global steps and coordinates of shape [points, 2].
        shares: of the points' squared distances, what lies along each direction.
        xs: where the loss was taken along the first direction.
        ys: where along the second.
        losses: float64 of shape [ys, xs], on test examples.
    """

    paths: Mapping[str, tuple[np.ndarray[Any, np.dtype[np.int64]], Array]]
    shares: tuple[float, float]
    xs: Array
    ys: Array
    losses: Array


def ticks_around(coordinates: Array, count: int, margin: float = 0.2) -> Array:
    """``count`` places, evenly from somewhat below the least of some coordinates to somewhat above the greatest."""
    low, high = float(coordinates.min()), float(coordinates.max())
    room = margin * (high - low) or 1.0
    return np.linspace(low - room, high + room, count)


def flat(parameters: Parameters) -> Array:
    """All parameters as one vector, by name."""
    return np.concatenate([np.ravel(parameters[name]).astype(np.float64) for name in sorted(parameters)])


def shaped(vector: Array, like: Parameters) -> dict[str, np.ndarray[Any, Any]]:
    """The parameters that `flat` made a vector of."""
    found, at = {}, 0
    for name in sorted(like):
        value = np.asarray(like[name])
        found[name] = vector[at : at + value.size].reshape(value.shape).astype(value.dtype)
        at += value.size
    return found
