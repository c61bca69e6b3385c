"""Follows a lab's training through parameter space: looks at it now and then, and keeps where everybody was, within bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from pslab.lab.parameter_view.budget import Budget
from pslab.train.distances import PS, ReplicaParameters
from pslab.train.landscape import Glimpse
from pslab.train.trajectories import Trajectories, flat

if TYPE_CHECKING:
    from pslab.lab.lab import Lab
    from pslab.train.history import Place
    from pslab.train.trainer import Trainer

EVERY_S = 0.25
"""Seconds between two looks at the least."""
SHARE = 0.02
"""Part of the training time that looking may take, waiting for answers included, after a first credit of looks as often as they go."""
SETTLES_S = 2.0
"""Seconds for which a training that has come to rest is looked at: a replica may be on its way still."""
ROUNDS = 64
"""Rounds of each path that are kept at most."""
ROOM = 8_000_000
"""Numbers that all paths may have together; of a larger model fewer rounds are kept, but `FEWEST`."""
FEWEST = 8
RECENT = 4000
"""Step records that are searched for the loss of a round."""


class Follower:
    """Looks at a lab's training, at most four times a second.

    Args:
        lab: whose.
        now: time in seconds, of any origin.

    Attributes:
        seen: where everybody was.
        losses: of a worker's batch, by its name and the global step of the round.
        spread: root mean square distances of the replicas from their middle: at their last commits, and where they began those rounds; NaN where there
            are fewer than two.
    """

    def __init__(self, lab: Lab, now: float) -> None:
        self._lab = lab
        self._budget = Budget(SHARE, EVERY_S, now)
        self._trainer: Trainer | None = None
        self._due, self._moved_at, self._step = -math.inf, now, -1
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.seen = Trajectories(ROUNDS)
        self.losses: dict[tuple[str, int], float] = {}
        self.spread = (math.nan, math.nan)
        self._place: Place | None = None
        self._recent = np.zeros((3, 0))

    def look(self, now: float) -> bool:
        """Have a look if one is due; returns whether something else is seen than before.

        Raises:
            OpError: a task was lost.
        """
        trainer = self._lab.trainer
        anew = trainer is not self._trainer
        if anew:
            self._trainer, self._step = trainer, -1
            self.forget()
        if trainer is None:
            return anew
        status = trainer.seen()
        back = status.global_step < self._step
        if back:
            self._turn_back(status.global_step)
        if status.global_step != self._step or status.state == "running":
            self._step, self._moved_at = status.global_step, now
        rationed = status.state == "running" and not self._budget.affords(now)  # at rest it costs nobody anything
        if now < self._due or now > self._moved_at + SETTLES_S or rationed:
            return anew or back
        began = perf_counter()
        try:
            glimpse = trainer.glimpse()
        finally:
            self._budget.spend(perf_counter() - began)
            self._due = now + EVERY_S
        return (glimpse is not None and self._take(trainer, glimpse)) or anew or back

    def _turn_back(self, step: int) -> None:
        self.seen.cut(step)
        self.losses = {key: loss for key, loss in self.losses.items() if key[1] <= step}

    def _take(self, trainer: Trainer, glimpse: Glimpse) -> bool:
        step, server, replicas = glimpse
        if server is not None:
            numbers = sum(np.size(value) for value in server.values()) * (1 + 2 * len(replicas))
            self.seen.most = min(ROUNDS, max(FEWEST, ROOM // max(numbers, 1)))
        before = _lasts(self.seen)
        mine = self.seen.rounds.get(PS)
        still = mine is not None and mine[-1].step == step and server is not None and np.array_equal(mine[-1].points[-1], flat(server))
        self.seen.see(step, None if still else server, replicas)
        learned = self._learn_losses(trainer)
        if not self._lab.strategy.in_step or len({replica.global_step for replica in replicas}) == 1:  # else some are in another round
            self.spread = spread_of(replicas)
        return learned or _lasts(self.seen) != before

    def _learn_losses(self, trainer: Trainer) -> bool:
        """Losses of the rounds that are seen, from the step records that are here."""
        news = trainer.news(self._place)
        records = news.records[-RECENT:]
        self._place = news.place
        columns = np.array([records["worker"], records["global_step"], records["loss"]], float)
        self._recent = np.concatenate([self._recent, columns], axis=1)[:, -RECENT:]
        there = {(name, found.step) for name, rounds in self.seen.rounds.items() if name != PS for found in rounds}
        unknown = there - set(self.losses)
        kept = {key: loss for key, loss in self.losses.items() if key in there}
        for name, step in unknown:
            of_it = (self._recent[0] == int(name.partition(":")[2])) & (self._recent[1] == step)
            if of_it.any():
                kept[name, step] = float(self._recent[2, of_it][-1])
        learned, self.losses = bool(set(kept) - set(self.losses)), kept
        return learned


def spread_of(replicas: Sequence[ReplicaParameters]) -> tuple[float, float]:
    """Root mean square distances of replicas from their middle: with which they came to their last commits, and where they began those rounds."""
    if len(replicas) < 2:
        return math.nan, math.nan
    both = [np.array([flat(ends) for ends in found]) for found in ([r.arrived for r in replicas], [r.began for r in replicas])]
    at_commits, at_beginnings = (float(np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1)))) for points in both)
    return at_commits, at_beginnings


def _lasts(seen: Trajectories) -> dict[str, object]:
    return {name: rounds[-1] for name, rounds in seen.rounds.items()}
