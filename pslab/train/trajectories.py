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
        commits: bool, whether a replica that had gone its own way came to a commit there: what follows is where it was pulled to.
    """

    name: str
    steps: np.ndarray[Any, np.dtype[np.int64]]
    points: Array
    commits: np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, eq=False)
class Round:
    """Where one of them was seen to be at one look.

    Attributes:
        step: the global step.
        points: one vector or two, of which the second is where a replica came to its commit; what it had been at already is left out.
        commits: of each, whether it is that.
    """

    step: int
    points: tuple[Array, ...]
    commits: tuple[bool, ...]


class Trajectories:
    """Gathers the points of all paths.

    Args:
        most: rounds of each path that are kept; of more, every second of the older ones goes. All are kept if None.
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        self.rounds: dict[str, list[Round]] = {}

    def see(self, step: int, server: Parameters | None, replicas: Sequence[ReplicaParameters]) -> None:
        """Where they are at a global step; ``server`` is None where nobody knows. A replica that has made no commit since it was seen last is where it was."""
        if server is not None:
            self._add(PS, Round(step, (flat(server),), (False,)))
        for replica in replicas:
            mine = self.rounds.get(replica.worker, [])
            last = mine[-1] if mine else None
            if last is not None and last.step == replica.global_step:
                continue
            began, arrived = flat(replica.began), flat(replica.arrived)
            went = not np.array_equal(began, arrived)
            stayed = last is not None and np.array_equal(last.points[-1], began)
            found = [*([] if stayed else [(began, False)]), *([(arrived, True)] if went else [])]
            if found:
                self._add(replica.worker, Round(replica.global_step, tuple(p for p, _ in found), tuple(c for _, c in found)))

    def cut(self, step: int) -> None:
        """Forget what came after a global step: a training has gone back to it."""
        self.rounds = {name: kept for name, rounds in self.rounds.items() if (kept := [r for r in rounds if r.step <= step])}

    def paths(self) -> list[Path]:
        """The path of the ps, and of each replica, by name."""
        return [path_of(name, rounds) for name, rounds in sorted(self.rounds.items())]

    def _add(self, name: str, found: Round) -> None:
        mine = self.rounds.setdefault(name, [])
        mine.append(found)
        if self.most is not None and len(mine) > self.most:
            del mine[1 : -(self.most // 2) : 2]


def path_of(name: str, rounds: Sequence[Round]) -> Path:
    """Rounds, one after the other."""
    steps = [found.step for found in rounds for _ in found.points]
    return Path(
        name, np.array(steps), np.array([p for found in rounds for p in found.points]), np.array([c for found in rounds for c in found.commits])
    )


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
        """The plane through the last point of the ps in which paths are seen; where nobody knows the ps, through the middle of the replicas' last.

        By PCA of the points, about that point. Points that differ in one direction only, or in none, get others at random.
        """
        origin = np.mean([path.points[-1] for path in paths if path.name == PS] or [path.points[-1] for path in paths], axis=0)
        apart = np.concatenate([path.points for path in paths]) - origin
        random = np.random.default_rng(seed).standard_normal((2, len(origin)))
        wanted = random
        if directions is Directions.PCA:
            values, vectors = np.linalg.eigh(apart @ apart.T)  # as many as there are points, which are far fewer than parameters
            main = [apart.T @ vectors[:, -k] for k in (1, 2) if len(values) >= k and values[-k] > 1e-12 * max(values[-1], 1e-300)]
            wanted = np.array([*main, *random])[:2]
        basis = np.linalg.qr(wanted.T)[0].T
        basis *= np.where(np.sum(basis * wanted, axis=1) < 0, -1.0, 1.0)[:, None]
        return cls(origin, basis, shares_along(apart, basis))

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


def shares_along(apart: Array, directions: Array) -> tuple[float, float]:
    """Of the squared lengths of some vectors, what lies along each of two directions."""
    size = float(np.sum(apart**2)) or 1.0
    along = np.sum((apart @ directions.T) ** 2, axis=0) / size
    return float(along[0]), float(along[1])


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
