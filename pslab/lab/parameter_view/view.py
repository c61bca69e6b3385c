"""The widget of the parameter view. As the panel, it has two comms: one takes wishes, the other tells what has changed (`pslab.lab.panel.panel` says why)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from pslab.lab import palette
from pslab.lab.panel.front_end import DRAWING, in_front_of
from pslab.lab.panel.living import Living
from pslab.lab.panel.snapshot import Still, picture
from pslab.lab.panel.teller import Teller
from pslab.lab.parameter_view.surface import GRID
from pslab.lab.parameter_view.watch import ParameterWatch
from pslab.lab.parameter_view.window import ticks_of
from pslab.lab.trajectories_figure import trajectories_figure
from pslab.train.trajectories import Directions, Landscape

if TYPE_CHECKING:
    from pslab.lab.lab import Lab

FRONT_END = DRAWING + in_front_of(__file__, ("contours", "trails", "parameter_paint", "parameters"), ("parameters",))
STILL_INCHES = (13.5, 7.0)
POLL_S = 0.05
"""Seconds after which it is seen whether a look, or a surface, is due."""
TROUBLED_S = 1.0
"""The same where it could not be done."""
REST_S = 1.0
"""Seconds without a change after which the picture that a notebook keeps is drawn anew."""
PATIENCE_S = 15.0
"""The same where the surface is still to come, or cannot be taken."""


class ParameterView(Living):
    """Where the replicas and the ps of a lab go, over the loss, alive; shown where it is the value of a cell.

    Args:
        station: what it shares with the other views of the lab.
    """

    _esm = FRONT_END.text
    _css = FRONT_END.style
    colors = traitlets.List().tag(sync=True)

    def __init__(self, station: ParameterStation) -> None:
        super().__init__(station.teller, colors=list(palette.SERIES))
        self._station = station
        self.on_msg(self._hear)

    def __repr__(self) -> str:
        return "pslab parameter view"

    def still(self) -> Still:
        """A picture of the paths as they are now."""
        return self._station.still()

    def _hear(self, _: ParameterView, content: dict[str, Any], buffers: list[bytes]) -> None:
        self._station.hear(content.get("ask"), content.get("value"))


class ParameterStation:
    """What all parameter views of a lab share: the watch, and the threads that look, survey and tell while a view is open.

    Args:
        lab: whose.

    Attributes:
        watch: what is seen.
        teller: tells all views what has changed.
    """

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self.watch = ParameterWatch(lab, monotonic())
        self._changed_at: float | None = None
        self.teller = Teller("parameters", self._news)
        self._troubles: dict[str, str] = {}
        for name, work in (("look", self.watch.look), ("surface", self.watch.survey)):
            threading.Thread(target=self._again, args=(name, work), name=f"pslab parameters {name}", daemon=True).start()

    def open(self, directions: Directions, seed: int) -> ParameterView:
        """A further view; all that are open see the same plane."""
        self.watch.choose(directions, seed=seed)
        return ParameterView(self)

    def hear(self, ask: str | None, value: Any) -> None:
        """Do what a front end asks for; one that has just come is told everything."""
        if ask is None:
            self.watch.begin_anew()
        elif ask == "directions" and value in list(Directions):
            self.watch.choose(Directions(value))
        elif ask == "trail":
            self.watch.choose(trail=value)

    def still(self) -> Still:
        """A picture of the paths as they are now."""
        verb, now, surface = "trajectories --live", self.watch.picture, self.watch.surface
        if now.view is None or not now.trails:
            return Still(verb, "", b"")
        plane, window = now.view.plane, now.view.window
        of_it = surface is not None and surface.view.plane.directions is plane.directions
        xs, ys = ticks_of(surface.view.window if surface is not None and of_it else window, GRID)
        losses = surface.losses if surface is not None and of_it else np.full((GRID, GRID), np.nan)
        paths = {name: (rows[:, 2].astype(np.int64), rows[:, :2].astype(np.float64)) for name, rows in now.trails.items()}
        words = f"{self._lab.strategy}, the replicas and the ps until step {now.view.step}"
        figure = trajectories_figure(Landscape(paths, plane.shares, xs, ys, losses), f"Trajectories, {self._lab.strategy}")
        figure.set_size_inches(*STILL_INCHES)
        return Still(verb, words, picture(figure))

    def _again(self, name: str, work: Callable[[float], bool]) -> None:
        while self.teller.wait():
            now = monotonic()
            try:
                if work(now):
                    self._changed_at = monotonic()
                trouble = ""
            except Exception as error:  # the lab goes on, and so does the view with its next look
                trouble = f"the parameters cannot be looked at now: {type(error).__name__}: {error}"
            self._troubles[name] = trouble
            self.watch.message = next(filter(None, self._troubles.values()), "")
            sleep(TROUBLED_S if trouble else POLL_S)

    def _news(self) -> tuple[dict[str, Any], list[bytes]] | None:
        now = monotonic()
        changed_at = self._changed_at
        if changed_at is not None and now > changed_at + (REST_S if self.watch.settled else PATIENCE_S):
            self._changed_at = None
            threading.Thread(target=self._keep_stills, name="pslab parameters picture", daemon=True).start()
        return self.watch.next(now)

    def _keep_stills(self) -> None:
        self.teller.keep(self.still())
