"""In which plane the paths are seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pslab.train.trajectories import Array, Directions, Path, Plane, shares_along

BETTER = 0.02
"""Part of the squared distances that another plane must show more of before it takes the place of one by PCA: it is to stand still mostly."""
FITTED = 160
"""Points that a plane is fitted to at most, evenly chosen."""


class Planes:
    """Chooses a plane, and stays with it while it is nearly as good as the best.

    Args:
        directions: by what.
        seed: of random directions.

    Attributes:
        plane: the plane; None before there are paths.
    """

    def __init__(self, directions: Directions, seed: int) -> None:
        self._directions, self._seed = directions, seed
        self.plane: Plane | None = None

    def fit(self, paths: Sequence[Path]) -> bool:
        """Look whether there is a better plane for paths; returns whether that has taken the place of the one before."""
        thinned = _thinned(paths)
        if self.plane is None:
            self.plane = Plane.of(thinned, self._directions, self._seed)
            return True
        points = np.concatenate([path.points for path in thinned])
        if self._directions is Directions.RANDOM:
            self.plane = Plane(self.plane.origin, self.plane.directions, shares_along(points - self.plane.origin, self.plane.directions))
            return False
        best = Plane.of(thinned, self._directions, self._seed)
        now = shares_along(points - best.origin, self.plane.directions)
        if sum(best.shares) <= sum(now) + BETTER:
            self.plane = Plane(self.plane.origin, self.plane.directions, now)
            return False
        self.plane = _alike(best, self.plane.directions)
        return True


def _thinned(paths: Sequence[Path]) -> list[Path]:
    """Every n-th point of each path, the last among them."""
    step = -(-sum(len(path.steps) for path in paths) // FITTED)
    return [Path(p.name, p.steps[::-step][::-1], p.points[::-step][::-1], p.commits[::-step][::-1]) for p in paths]


def _alike(plane: Plane, before: Array) -> Plane:
    """The same plane with each direction turned so that what went to the right before does so again."""
    signs = np.where(np.sum(plane.directions * before, axis=1) < 0, -1.0, 1.0)
    return Plane(plane.origin, plane.directions * signs[:, None], plane.shares)
