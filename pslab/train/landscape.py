"""What a trainer is asked about the way its replicas go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pslab.errors import UsageError
from pslab.train.by_message import MEASURED_ON, ByMessage
from pslab.train.distances import Parameters, ReplicaParameters
from pslab.train.trajectories import Array, Directions, Landscape, Plane, Trajectories, ticks_around

GRID = 25
"""Places along each direction that the loss is taken at."""
PATIENCE_S = 0.05
"""Seconds that a glimpse waits for somebody else who is at the trainer."""


class Glimpse(NamedTuple):
    """Where all are at one moment.

    Attributes:
        global_step: of the ps.
        server: the parameters on the ps; None where those live on the workers, and are being trained.
        replicas: as they came to their last commits; none where no epoch is on.
    """

    global_step: int
    server: Parameters | None
    replicas: Sequence[ReplicaParameters]


class LandscapeLooks(ByMessage):
    """The part of a `Trainer` that follows its replicas through parameter space."""

    def step(self, n: int = 1, timeout: float = 60.0) -> None:
        """Make exactly ``n`` updates, and be paused."""
        raise NotImplementedError

    def landscape(self, looks: int = 40, every: int = 1, directions: Directions = Directions.PCA, seed: int = 0) -> Landscape:
        """Follow the replicas and the ps for ``looks`` times ``every`` updates, and take the loss in the plane of their paths, on test examples.

        A training that runs goes on meanwhile, and is looked at as often as that goes; one that stands still makes these updates, and is paused.

        Raises:
            UsageError: there are fewer than 2 looks, or less than 1 update between them.
            DeadlineExceededError: the updates were not made in a minute.
        """
        if looks < 2 or every < 1:
            raise UsageError(f"at least 2 looks are wanted, and 1 update between them; found looks={looks}, every={every}")
        seen = Trajectories()
        with self._lock:
            seen.see(self._crew.look().global_step, self.parameters(), ())
        for _ in range(looks):
            self._go_on(every)
            with self._lock:
                self._come_together()
                seen.see(self._crew.look().global_step, self.parameters(), self._crew.replicas())
        paths = seen.paths()
        plane = Plane.of(paths, directions, seed)
        placed = {path.name: (path.steps, plane.project(path.points)) for path in paths}
        points = np.concatenate([coordinates for _, coordinates in placed.values()])
        xs, ys = (ticks_around(points[:, axis], GRID) for axis in (0, 1))
        return Landscape(placed, plane.shares, xs, ys, self.surface(plane.origin, plane.directions, xs, ys))

    def glimpse(self) -> Glimpse | None:
        """Where the replicas and the ps are, as a training that runs comes by: nobody waits for anybody. None while somebody else is at the trainer.

        Raises:
            OpError: a task was lost.
        """
        if not self._lock.acquire(timeout=PATIENCE_S):
            return None
        try:
            replicas = self._crew.replicas()
            away = self._strategy.resident and self._crew.active and self._state == "running"
            return Glimpse(self._crew.look().global_step, None if away else self._crew.ask("parameters"), replicas)
        finally:
            self._lock.release()

    def surface(self, origin: Array, directions: Array, xs: Array, ys: Array) -> Array:
        """The loss on test examples at ``origin + a·directions[0] + b·directions[1]``, float64 of shape [ys, xs]; the training goes on meanwhile."""
        x, y = self._dataset.x_test[:MEASURED_ON], self._dataset.y_test[:MEASURED_ON]
        found: Array = self._crew.ask("surface", origin=origin, directions=directions, xs=xs, ys=ys, x=x, y=y)
        return found

    def _go_on(self, updates: int) -> None:
        if self._state != "running":
            self.step(updates)
            return
        wanted = self._crew.progress.global_step + updates
        self._until(lambda: self._crew.progress.global_step >= wanted or self._state != "running", 60.0, f"{updates} updates")
