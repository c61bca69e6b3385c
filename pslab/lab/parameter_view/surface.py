"""The loss of the model in a part of a plane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pslab.lab.parameter_view.window import Window, ticks_of
from pslab.train.trajectories import Array, Plane

GRID = 13
"""Places along each direction."""
REACH = 0.25
"""Of a window's extent, how far a surface goes beyond it on each side: paths go on."""
LARGE = 4.0
"""How many times as large as the window a surface may be, one way or the other, before it is too coarse."""
MOVED = 0.1
"""Of a window's diagonal, how far out of the plane the parameters may go before the surface is another."""


@dataclass(frozen=True, eq=False)
class View:
    """What a surface is of.

    Attributes:
        plane: the plane.
        window: the part of it; a surface's goes beyond what is seen.
        base: the parameters that the surface goes through, where the ps is now; of shape [parameters].
        step: the global step there.
    """

    plane: Plane
    window: Window
    base: Array
    step: int


@dataclass(frozen=True, eq=False)
class Surface:
    """The loss.

    Attributes:
        view: of what.
        losses: float64 of shape [GRID, GRID], a row per place along the second direction.
    """

    view: View
    losses: Array

    def fits(self, view: View) -> bool:
        """Whether it is near enough to the surface of another view."""
        mine = self.view
        if mine.plane.directions is not view.plane.directions or not _covers(mine.window, view.window):
            return False
        moved = view.base - mine.base
        out = moved - (moved @ view.plane.directions.T) @ view.plane.directions
        diagonal = np.hypot(view.window.right - view.window.left, view.window.top - view.window.bottom)
        return bool(np.linalg.norm(out) <= MOVED * diagonal)


def take(view: View, losses: Callable[[Array, Array, Array, Array], Array], wanted: Callable[[], bool]) -> Surface | None:
    """Take a surface, a row at a time, so that nobody waits for long; None where it is not ``wanted`` any more.

    Args:
        view: of what.
        losses: from a point, two directions and places along each, to the losses there (`pslab.train.landscape.LandscapeLooks.surface`).
        wanted: asked before each row.
    """
    view = replace(view, window=_beyond(view.window))
    xs, ys = ticks_of(view.window, GRID)
    origin = view.base - view.plane.project(view.base) @ view.plane.directions
    rows = []
    for y in ys:
        if not wanted():
            return None
        rows.append(losses(origin, view.plane.directions, xs, np.array([y]))[0])
    return Surface(view, np.array(rows))


def _beyond(window: Window) -> Window:
    x, y = REACH * (window.right - window.left), REACH * (window.top - window.bottom)
    return Window(window.left - x, window.right + x, window.bottom - y, window.top + y)


def _covers(mine: Window, seen: Window) -> bool:
    within = mine.left <= seen.left and seen.right <= mine.right and mine.bottom <= seen.bottom and seen.top <= mine.top
    return within and mine.right - mine.left <= LARGE * (seen.right - seen.left) and mine.top - mine.bottom <= LARGE * (seen.top - seen.bottom)
