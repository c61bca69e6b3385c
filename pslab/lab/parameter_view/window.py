"""How much of a plane is seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pslab.train.trajectories import Array

ROOM = 0.22
"""Of the points' extent, what is left free on each side of a new window."""
LEAST_ROOM = 0.03
"""Of a window's extent, what must be left free on each side."""
SMALL = 0.4
"""Of a window's extent, what points must fill at least, one way or the other."""
FLATTEST = 6.0
"""How many times as long as the other way a window is at most: what is hardly a motion is not to look like one."""


class Window(NamedTuple):
    """A rectangle, in the units of parameters.

    Attributes:
        left: the least along the first direction.
        right: the greatest.
        bottom: the least along the second direction.
        top: the greatest.
    """

    left: float
    right: float
    bottom: float
    top: float


def window_for(points: Array, before: Window | None) -> Window:
    """A window with all points in it, of shape [points, 2]: the one before, where that still fits."""
    (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
    if before is not None:
        wide, high = before.right - before.left, before.top - before.bottom
        x, y = LEAST_ROOM * wide, LEAST_ROOM * high
        inside = left >= before.left + x and right <= before.right - x and bottom >= before.bottom + y and top <= before.top - y
        if inside and max((right - left) / wide, (top - bottom) / high) >= SMALL:
            return before
    least = max(right - left, top - bottom) or 1e-3
    wide, high = (max(extent, least / FLATTEST) * (1 + 2 * ROOM) for extent in (right - left, top - bottom))
    x, y = (left + right) / 2, (bottom + top) / 2
    return Window(*(float(v) for v in (x - wide / 2, x + wide / 2, y - high / 2, y + high / 2)))


def ticks_of(window: Window, count: int) -> tuple[Array, Array]:
    """``count`` places along each direction, from side to side."""
    return np.linspace(window.left, window.right, count), np.linspace(window.bottom, window.top, count)
