"""What has changed of the parameter view since it was told last."""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from pslab.lab.parameter_view.budget import Budget
from pslab.lab.parameter_view.follow import Follower
from pslab.lab.parameter_view.planes import Planes
from pslab.lab.parameter_view.surface import Surface, View, take
from pslab.lab.parameter_view.window import Window, window_for
from pslab.train.distances import PS
from pslab.train.trajectories import Array, Directions, Round, Trajectories, path_of

if TYPE_CHECKING:
    from pslab.lab.lab import Lab

WHOLE, LATEST = "whole", "latest"
"""How much of the paths is seen: all that is kept, or the last rounds."""
LATEST_ROUNDS = 6
SURFACE_SHARE, SURFACE_CREDIT_S = 0.01, 2.0
"""Part of the training time that surfaces may take of the chief, and what they may take at once."""
FIT_SHARE, FIT_CREDIT_S = 0.02, 1.0
"""The same of choosing planes, of the kernel."""
FEWEST_POINTS = 3
"""Points from which on there is a surface."""
COLUMNS = ("x", "y", "step", "loss", "commit")
"""What is told of a point; the loss is NaN where it is not known, the commit 1 where a replica was pulled on from there."""
BEAT_S = 1.0
"""Seconds after which something is said even if nothing has changed: who hears nothing knows that the kernel is gone."""
_NOTHING = object()
Trails = dict[str, np.ndarray[Any, np.dtype[np.float32]]]


@dataclass(frozen=True, eq=False)
class Picture:
    """What is seen.

    Attributes:
        trails: for each path by name, float32 of shape [points, 5], as `COLUMNS` has them, oldest first.
        view: what the surface is to be of; None where there are no points.
        wanted: as what it was drawn (how, and of which training).
    """

    trails: Trails
    view: View | None
    wanted: object = None


class ParameterWatch:
    """Looks at a lab's training, draws the paths in a plane, and takes the loss there.

    One thread calls `look`, another `survey`, a third `next`; what one leaves for another is replaced as a whole.

    Args:
        lab: whose.
        now: time in seconds, of any origin.

    Attributes:
        picture: the paths as they are now.
        surface: the last surface that was taken; None where there is none.
        directions: by what the plane is chosen.
        trail: how much of the paths is seen.
        seed: of random directions.
    """

    def __init__(self, lab: Lab, now: float) -> None:
        self._lab = lab
        self._follower = Follower(lab, now)
        self._surfaces, self._fits = Budget(SURFACE_SHARE, SURFACE_CREDIT_S, now), Budget(FIT_SHARE, FIT_CREDIT_S, now)
        self.directions, self.trail, self.seed = Directions.PCA, WHOLE, 0
        self._planes = Planes(self.directions, self.seed)
        self._window: Window | None = None
        self._places: dict[Round, Array] = {}
        self.picture = Picture({}, None)
        self.surface: Surface | None = None
        self.message = ""
        self._served: object = None
        self._told: dict[str, Any] = {}
        self._whole, self._due = True, -math.inf

    def begin_anew(self) -> None:
        """Let the next message be everything."""
        self._whole = True

    def choose(self, directions: Directions | None = None, trail: str | None = None, seed: int | None = None) -> None:
        """See the paths in another plane, or more or less of them; what is not given stays."""
        self.directions = self.directions if directions is None else directions
        self.trail = self.trail if trail not in (WHOLE, LATEST) else trail
        self.seed = self.seed if seed is None else seed

    def look(self, now: float) -> bool:
        """See where everybody is, if that is due, and draw it; returns whether the picture is another.

        Raises:
            OpError: a task was lost. What was seen before stays.
        """
        changed = self._follower.look(now)
        wanted = directions, trail, seed, seen = self._wanted
        if not changed and wanted == self.picture.wanted:
            return False
        if wanted != self.picture.wanted or not seen.rounds:
            self._planes, self._window = Planes(directions, seed), None
        trails, view = self._draw(trail, now)
        self.picture = Picture(trails, view, wanted)
        return True

    def survey(self, now: float) -> bool:
        """Take the loss in the plane, if the surface is not that of the picture any more, and that can be afforded; returns whether it was taken.

        Raises:
            OpError: a task was lost.
        """
        trainer, picture = self._lab.trainer, self.picture
        view = picture.view
        if trainer is None or view is None or sum(map(len, picture.trails.values())) < FEWEST_POINTS:
            return False
        if self.surface is not None and self.surface.fits(view):
            return False
        chosen = picture.wanted != self._served  # who has chosen another plane does not wait for its surface
        if picture.wanted != self._wanted or (self._running and not chosen and not self._surfaces.affords(now)):
            return False
        began = perf_counter()
        try:
            found = take(view, trainer.surface, lambda: self._same_plane(view))
        finally:
            self._surfaces.spend(perf_counter() - began)
        if found is not None:
            self.surface, self._served = found, picture.wanted
        return found is not None

    def next(self, clock: float) -> tuple[dict[str, Any], list[bytes]] | None:
        """What has changed, and buffers of float32; None if nothing has, and something was said of late.

        Args:
            clock: seconds, of any origin.
        """
        whole, self._whole = self._whole, False
        picture, surface = self.picture, self.surface
        if surface is not None and (picture.view is None or surface.view.plane.directions is not picture.view.plane.directions):
            surface = None  # of another plane
        state = {**self._state(picture), "trails": picture, "surface": surface}
        changes = {name: value for name, value in state.items() if whole or self._told.get(name, _NOTHING) != value}
        self._told = state
        if not changes and clock < self._due:
            return None
        self._due = clock + BEAT_S
        buffers: list[bytes] = []
        if "trails" in changes:
            changes["trails"] = {"names": list(picture.trails), "counts": [len(rows) for rows in picture.trails.values()], "buffer": len(buffers)}
            buffers.append(b"".join(rows.tobytes() for rows in picture.trails.values()))
        if "surface" in changes and surface is not None:
            changes["surface"] = {"window": surface.view.window, "step": surface.view.step, "grid": len(surface.losses), "buffer": len(buffers)}
            buffers.append(surface.losses.astype(np.float32).tobytes())
        return changes, buffers

    @property
    def settled(self) -> bool:
        """Whether the surface is that of the picture."""
        surface, view = self.surface, self.picture.view
        return view is None or (surface is not None and surface.fits(view))

    @property
    def _wanted(self) -> tuple[Directions, str, int, Trajectories]:
        """What the picture is to be of: how, and of which training."""
        return self.directions, self.trail, self.seed, self._follower.seen

    @property
    def _running(self) -> bool:
        trainer = self._lab.trainer
        return trainer is not None and trainer.seen().state == "running"

    def _same_plane(self, view: View) -> bool:
        now = self.picture.view
        return now is not None and now.plane.directions is view.plane.directions

    def _draw(self, trail: str, now: float) -> tuple[Trails, View | None]:
        seen = self._follower.seen.rounds
        if trail == LATEST:
            seen = {name: rounds[-LATEST_ROUNDS:] for name, rounds in seen.items()}
        if not seen:
            return {}, None
        self._fit(seen, now)
        plane = self._planes.plane
        assert plane is not None
        self._places = {r: self._places[r] if r in self._places else plane.project(np.array(r.points)) for rounds in seen.values() for r in rounds}
        trails = {name: self._rows(name, seen[name]) for name in sorted(seen, key=lambda name: (name == PS, len(name), name))}
        self._window = window_for(np.concatenate(list(trails.values()))[:, :2].astype(float), self._window)
        lasts = [seen[PS][-1]] if PS in seen else [rounds[-1] for rounds in seen.values()]
        base = np.mean([found.points[-1] for found in lasts], axis=0)
        return trails, View(plane, self._window, base, max(found.step for found in lasts))

    def _fit(self, seen: dict[str, list[Round]], now: float) -> None:
        """A better plane needs another surface: while it trains, it is looked for when both can be afforded."""
        if self._planes.plane is not None and self._running and not (self._fits.affords(now) and self._surfaces.affords(now)):
            return
        began = perf_counter()
        if self._planes.fit([path_of(name, rounds) for name, rounds in seen.items()]):
            self._places, self._window = {}, None
        self._fits.spend(perf_counter() - began)

    def _rows(self, name: str, rounds: list[Round]) -> np.ndarray[Any, np.dtype[np.float32]]:
        losses = self._follower.losses
        rows = [
            (*place, found.step, losses.get((name, found.step), math.nan), commit)
            for found in rounds
            for place, commit in zip(self._places[found], found.commits, strict=True)
        ]
        return np.array(rows, np.float32)

    def _state(self, picture: Picture) -> dict[str, Any]:
        trainer, plane = self._lab.trainer, None if picture.view is None else picture.view.plane
        status = None if trainer is None else trainer.seen()
        return {
            "training": "idle" if status is None else status.state,
            "step": 0 if status is None else status.global_step,
            "mode": str(self._lab.strategy),
            "directions": str(self.directions),
            "trail": self.trail,
            "shares": None if plane is None else [float(f"{share:.3g}") for share in plane.shares],
            "window": None if picture.view is None else list(picture.view.window),
            "spread": [None if math.isnan(value) else float(f"{value:.3g}") for value in self._follower.spread],
            "resident": self._lab.strategy.resident,
            "message": self.message,
        }
