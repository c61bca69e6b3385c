"""What has changed of the graph of the present mode, and which messages have gone, since it was told last."""

from __future__ import annotations

import threading
from collections import ChainMap, deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pslab.errors import PslabError
from pslab.lab.costs import tensor_sizes
from pslab.lab.graph_view.folding import Scope, Scopes
from pslab.lab.graph_view.parts import Parts
from pslab.lab.graph_view.scene import Told, scene_of
from pslab.lab.language import language, tr
from pslab.train.costing import steps_of
from pslab.train.history import Place

if TYPE_CHECKING:
    from pslab.lab.lab import Lab
    from pslab.train.job import Job
    from pslab.train.plans import PlannedStep
    from pslab.train.trainer import Trainer

ENOUGH = 32
"""Steps of a mode after which the tasks are asked, once, how many bytes its tensors have."""
RATE_OVER_S = 2.0
"""Seconds that the rate of updates is taken over."""

Message = dict[str, Any]
"""What front ends are told: ``"scene"``, ``"state"`` and ``"lit"``, those that there is something to say of."""


class Watch:
    """Looks at a lab. Beside the weights of tensors, once in each mode, it asks no task anything.

    Args:
        lab: whose graph.
        job: what is, or would be, trained.

    Attributes:
        scene: the picture as it was told last; None before.
        words: what it is of.
    """

    def __init__(self, lab: Lab, job: Callable[[], Job]) -> None:
        self._lab, self._job = lab, job
        self.scene: dict[str, Any] | None = None
        self.words = ""
        self._key: object = None
        self._steps: Sequence[PlannedStep] = ()
        self._batch = 1
        self._scopes = Scopes(Parts((), ()))
        self._open: frozenset[Scope] | None = None
        self._language = language()
        self._measured = False
        self._seen = 0
        self._place: Place | None = None
        self._progress: deque[tuple[float, int]] = deque()
        self._told: dict[str, Any] = {}
        self._whole = True
        self._lock = threading.Lock()

    def begin_anew(self) -> None:
        """Let the next message be everything."""
        self._whole = True

    def open(self, scope: str) -> None:
        """Open a scope, and what is around it."""
        names = tuple(scope.split("/"))
        self._fold((self._open or frozenset()) | {names[: i + 1] for i in range(len(names))})

    def close(self, scope: str) -> None:
        """Fold a scope, and what is in it."""
        names = tuple(scope.split("/"))
        self._fold(frozenset(other for other in self._open or () if other[: len(names)] != names))

    def unfold(self) -> None:
        """Open all scopes."""
        self._fold(self._scopes.all)

    def fold(self) -> None:
        """Fold all scopes."""
        self._fold(frozenset())

    def next(self, clock: float) -> Message:
        """What has changed; empty if nothing has.

        Args:
            clock: seconds, of any origin.
        """
        with self._lock:
            return self._next(clock)

    def _fold(self, opened: frozenset[Scope]) -> None:
        with self._lock:
            self._open, self.scene = opened, None

    def _next(self, clock: float) -> Message:
        trainer, job = self._lab.trainer, self._job()
        self._follow(job)
        lit = self._gone(trainer)
        if self._language != language():
            self._language, self.scene = language(), None
        message: Message = {}
        if trainer is not None and not self._measured and self._seen >= ENOUGH:
            self._measure(trainer)
        whole, self._whole = self._whole, False
        if self.scene is None or whole:
            self.scene = self.scene or self._draw(job)
            message["scene"] = self.scene
        state = self._state(trainer, job, clock)
        if whole or state != self._told:
            message["state"] = self._told = state
        if lit:
            message["lit"] = lit
        return message

    def _follow(self, job: Job) -> None:
        key = (id(job.model), job.strategy, job.ps, job.workers, job.reading, job.gates)
        if key == self._key:
            return
        self._steps = steps_of(job)
        self._batch = max(1, round(job.division.together(job.workers) / job.workers))
        self._key, self._measured, self._seen, self.scene = key, False, 0, None
        self._take(Parts.of(self._steps, self._batch, {}))

    def _take(self, parts: Parts) -> None:
        self._scopes = Scopes(parts)
        if self._open is None:
            self._open = self._scopes.at_a_glance()

    def _measure(self, trainer: Trainer) -> None:
        self._measured = True
        try:
            sizes = tensor_sizes(trainer.traffic())
        except (PslabError, OSError):  # tasks come and go; static shapes are as good
            return
        self._take(Parts.of(self._steps, self._batch, sizes))
        self.scene = None

    def _draw(self, job: Job) -> dict[str, Any]:
        gradients = ChainMap(*({name: tuple(ops) for name, ops in step.graph.gradient_ops.items()} for step in self._steps))
        scene = scene_of(self._scopes.fold(self._open or ()), Told(gradients, self._measured))
        self.words = tr("The graph of {}, {} workers, {} ps", job.strategy, job.workers, job.ps)
        return {**scene, "mode": str(job.strategy)}

    def _gone(self, trainer: Trainer | None) -> list[int]:
        """The loops that have made a step since."""
        if trainer is None:
            self._place = None
            return []
        begun, news = self._place is not None, trainer.news(self._place)
        self._place = news.place
        if not begun or not len(news.records):
            return []
        self._seen += len(news.records)
        loops = {int(worker) for worker in np.unique(news.records["worker"])} if len(self._steps) > 1 else {0}
        chiefs = set(range(trainer.job().workers, len(self._steps)))
        return sorted(loops | chiefs)

    def _state(self, trainer: Trainer | None, job: Job, clock: float) -> dict[str, Any]:
        if trainer is None:
            return {"training": "idle", "mode": str(job.strategy), "step": 0, "rate": 0.0, "message": ""}
        status = trainer.seen()
        return {
            "training": status.state,
            "mode": str(job.strategy),
            "step": status.global_step,
            "rate": self._rate(status.state, status.global_step, clock),
            "message": status.message,
        }

    def _rate(self, state: str, step: int, clock: float) -> float:
        if state != "running" or (self._progress and step < self._progress[-1][1]):
            self._progress.clear()
        if state != "running":
            return 0.0
        self._progress.append((clock, step))
        while len(self._progress) > 2 and clock - self._progress[0][0] > RATE_OVER_S:
            self._progress.popleft()
        (begun, first), (ended, last) = self._progress[0], self._progress[-1]
        return float(f"{(last - first) / (ended - begun):.2g}") if ended > begun else 0.0
