"""The survey: what is costly to see, looked at seldom and in threads of its own: the tasks, bytes per link, and what a step should take."""

from __future__ import annotations

import math
from collections import deque
from time import thread_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pslab.lab.costs import tensor_sizes
from pslab.simulate.cost import predict
from pslab.train.costing import workload
from pslab.train.history import Place

if TYPE_CHECKING:
    from pslab.lab.lab import Lab
    from pslab.trace.recorder import Records
    from pslab.train.job import Job
    from pslab.train.trainer import Trainer

SHARE = 0.01
"""Part of this thread's time that either kind of look may take of a processor."""
LINKS_EVERY_S, FORECAST_EVERY_S = 2.0, 20.0
"""Seconds between two looks at the least."""
SETTLED_S = 1.5
"""Seconds after a change before a step is predicted: what computing takes is measured anew."""
RECENT = 2000
"""Records that this is measured by."""
MOST_STEPS = 40
"""Steps of a worker during one of the slowest's up to which the cost model is asked: it runs them all."""
KEPT = 40
"""Predictions that are kept, one for each change."""


class TaskFace(NamedTuple):
    """How a task fares.

    Attributes:
        name: such as ``"worker:1"``.
        state: as in `ClusterStatus`.
        restarts: how often it was lost, and came back.
        delay: by how much it is slowed down, in words; empty where it is not.
    """

    name: str
    state: str
    restarts: int
    delay: str


class LinkBytes(NamedTuple):
    """What went one way over a link since the present mode began.

    Attributes:
        source: the task that sent.
        destination: the task that received.
        bytes: per worker step, to three digits.
        messages: likewise.
        total: bytes in all.
    """

    source: str
    destination: str
    bytes: float
    messages: float
    total: int


class Forecast(NamedTuple):
    """What a worker's step should take from a change on, by the cost model.

    Attributes:
        step: the global step at which the change was seen.
        seconds: compute, wait, push and pull together; None where it would take too long to say: one worker makes very many steps while another makes one.
        bottleneck: ``"network"``, ``"ps"`` or ``"cores"``; empty where nothing is predicted.
    """

    step: int
    seconds: float | None
    bottleneck: str = ""


class Survey:
    """Looks at a lab's training where it is due. What it sees is replaced as a whole, so others may read it at any time.

    Args:
        lab: whose.

    Attributes:
        tasks: those of the cluster.
        links: bytes per link.
        forecasts: what a step should have taken, oldest first.
    """

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._trainer: Trainer | None = None
        self._place: Place | None = None
        self._recent: Records | None = None
        self._key: Any = None
        self._changed_at = (0, -math.inf)
        self._due = dict.fromkeys(("links", "forecast"), -math.inf)
        self._forecasts: deque[Forecast] = deque(maxlen=KEPT)
        self.tasks: list[TaskFace] = []
        self.links: list[LinkBytes] = []
        self.forecasts: list[Forecast] = []

    def look_at_tasks(self) -> None:
        """Look at the tasks. That waits for no training, so it may be done in another thread than `look`, which does.

        Raises:
            PslabError: the cluster is being changed, or is gone. What was seen before stays.
        """
        cluster = self._lab.cluster
        tasks = cluster.status().tasks if cluster.running else ()
        self.tasks = [TaskFace(task.name, task.state, task.restarts, task.delay) for task in tasks]

    def look(self, now: float) -> None:
        """Look at what is due of the training.

        Args:
            now: seconds, of any origin.

        Raises:
            PslabError: the cluster is being changed, or is gone. What was seen before stays.
        """
        trainer = self._lab.trainer
        if trainer is not self._trainer:
            self._forget(trainer)
        if trainer is None:
            return
        self._see_change(trainer, now)
        if trainer.seen().state != "running":
            return
        if now >= self._due["links"]:
            began = thread_time()
            self.links = _links(trainer)
            self._due["links"] = now + max(LINKS_EVERY_S, (thread_time() - began) / SHARE)
        if now >= max(self._due["forecast"], self._changed_at[1] + SETTLED_S):
            self._predict(trainer, now)

    def cut(self, step: int) -> None:
        """Forget predictions after a global step: a training has gone back to it."""
        self._forecasts = deque((forecast for forecast in self._forecasts if forecast.step <= step), maxlen=KEPT)
        self.forecasts = list(self._forecasts)
        self._key = None

    def _forget(self, trainer: Trainer | None) -> None:
        self._trainer, self._place, self._recent, self._key = trainer, None, None, None
        self._forecasts.clear()
        self.links, self.forecasts = [], []

    def _see_change(self, trainer: Trainer, now: float) -> None:
        cluster = self._lab.cluster
        key = (len(trainer.strategies), self._lab.batch_size, cluster.network, tuple(cluster.delays.items()), cluster.ps, cluster.workers)
        if key != self._key:
            self._key, self._recent = key, None
            self._changed_at, self._due["forecast"] = (trainer.seen().global_step, now), -math.inf
        elif self._recent is None and now >= self._changed_at[1] + SETTLED_S / 3:  # what was in flight is over
            news = trainer.news(self._place)
            self._place, self._recent = news.place, news.records[:0]

    def _predict(self, trainer: Trainer, now: float) -> None:
        if self._recent is None:
            return
        news = trainer.news(self._place)
        self._place, self._recent = news.place, np.concatenate([self._recent, news.records], dtype=news.records.dtype)[-RECENT:]
        job = trainer.job()
        recent = self._recent[self._recent["strategy"] == job.epoch]
        if len(np.unique(recent["worker"])) < job.workers:
            return
        began = thread_time()
        forecast = self._forecast(trainer, job, recent)
        self._due["forecast"] = now + max(FORECAST_EVERY_S, (thread_time() - began) / SHARE)
        if self._forecasts and self._forecasts[-1].step == forecast.step:
            self._forecasts.pop()
        self._forecasts.append(forecast)
        self.forecasts = list(self._forecasts)

    def _forecast(self, trainer: Trainer, job: Job, recent: Records) -> Forecast:
        step, cluster = self._changed_at[0], self._lab.cluster
        walls = [float(np.median(recent["wall"][recent["worker"] == worker])) for worker in range(job.workers)]
        if max(walls) > MOST_STEPS * min(walls):
            return Forecast(step, None)
        found = predict(workload(job, cluster.network, recent, cluster.cores, tensor_sizes(trainer.traffic())))
        return Forecast(step, _short(found.compute + found.wait + found.push + found.pull), found.bottleneck)


def _links(trainer: Trainer) -> list[LinkBytes]:
    found = []
    for link in trainer.traffic().links():
        steps = max(link.steps, 1)
        found.append(LinkBytes(link.source, link.destination, _short(link.sent.bytes / steps), _short(link.sent.messages / steps), link.sent.bytes))
    return sorted(found)


def _short(value: float) -> float:
    return float(f"{value:.3g}")
