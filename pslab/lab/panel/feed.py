"""The feed: what has changed since it was told last, of all that a panel shows."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pslab.lab.language import language, tr
from pslab.lab.panel.actions import checkpoints
from pslab.lab.panel.buckets import Buckets
from pslab.lab.panel.controls import CONTROLS, GROUPS
from pslab.lab.panel.desk import Desk
from pslab.lab.panel.face import Face
from pslab.lab.panel.marks import Marks
from pslab.lab.panel.survey import Survey
from pslab.lab.panel.timeline import FIELDS, Timeline
from pslab.train.history import Place
from pslab.train.trainer_status import TrainerStatus

if TYPE_CHECKING:
    from pslab.trace.recorder import Records
    from pslab.train.trainer import Trainer

RATE_OVER_S = 2.0
"""Seconds that the rate of updates is taken over."""
FILES_EVERY_S = 1.0
"""Seconds between two looks at the folder of checkpoints."""
TIMELINE_EVERY_S = 0.2
"""Seconds between two pictures of the timeline."""
LATEST_OF = 3
"""Stretches among which the last value is looked for that is known."""
BEAT_S = 1.0
"""Seconds after which something is said even if nothing has changed: who hears nothing knows that the kernel is gone."""


class Message(NamedTuple):
    """What front ends are told.

    Attributes:
        content: values for JSON. ``"state"`` has the entries of the state that have changed; ``"steps"`` and ``"timeline"`` say what the buffers are.
        buffers: float32.
    """

    content: dict[str, Any]
    buffers: list[bytes]


@dataclass
class _Curves:
    """What is drawn of one training."""

    metrics: tuple[str, ...]
    workers: int
    buckets: Buckets = field(init=False)
    timeline: Timeline = field(init=False)

    def __post_init__(self) -> None:
        self.buckets = Buckets(self.metrics, self.workers)
        self.timeline = Timeline(self.workers)


class Feed:
    """Looks at a lab and its desk, and says what has changed. It asks no task anything.

    Args:
        desk: the desk of the lab.

    Attributes:
        survey: what is costly to see; somebody else lets it look.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.survey = Survey(desk.lab)
        self._curves = _Curves((), 0)
        self._marks = Marks()
        self._language = language()
        self._place: Place | None = None
        self._trainer: Trainer | None = None
        self._told: dict[str, Any] = {}
        self._whole = True
        self._ghost: dict[str, list[float | None]] | None = None
        self._progress: deque[tuple[float, int]] = deque()
        self._step = 0
        self._files: list[str] = []
        self._lock = threading.Lock()
        self._due = dict.fromkeys(("files", "timeline", "beat"), -math.inf)

    def begin_anew(self) -> None:
        """Let the next message be the whole picture."""
        self._whole = True

    def freeze(self) -> None:
        """Keep the curves as they are, to be drawn behind those to come."""
        with self._lock:
            columns, means = self._curves.buckets.columns, self._curves.buckets.all().means
        rows = {name: row for name, row in zip(columns, means, strict=True) if not name.startswith("divergence:")}
        self._ghost = {name: [None if math.isnan(v) else float(v) for v in row] for name, row in rows.items()}

    def thaw(self) -> None:
        """Forget what was kept."""
        self._ghost = None

    def next(self, now: float, clock: float) -> Message | None:
        """What has changed; None if nothing has, and something was said of late.

        Args:
            now: Unix time.
            clock: seconds, of any origin.
        """
        with self._lock:
            return self._next(now, clock)

    def _next(self, now: float, clock: float) -> Message | None:
        status, records, anew = self._look()
        stretched = self._curves.buckets.add(records)
        self._curves.timeline.add(records)
        turned = self._turn_back(status.global_step)
        whole = self._whole or anew or turned
        self._whole = False
        state = self._state(status, now, clock)
        changes = state if whole else {name: value for name, value in state.items() if self._told.get(name, _NOTHING) != value}
        self._told = state
        message = Message({}, [])
        if changes:
            message.content["state"] = changes
        self._add_steps(message, whole or stretched)
        if whole or (len(records) and clock >= self._due["timeline"]):
            self._due["timeline"] = clock + TIMELINE_EVERY_S
            message.content["timeline"] = {"origin": self._curves.timeline.origin, "fields": FIELDS, "buffer": len(message.buffers)}
            message.buffers.append(self._curves.timeline.rows().tobytes())
        if not message.content and clock < self._due["beat"]:
            return None
        self._due["beat"] = clock + BEAT_S
        return message

    def _add_steps(self, message: Message, all_of_them: bool) -> None:
        buckets = self._curves.buckets
        stretch = buckets.all() if all_of_them else buckets.changed()
        if all_of_them:
            buckets.changed()
        if stretch.means.shape[1] or all_of_them:
            message.content["steps"] = {
                "anew": all_of_them,
                "columns": buckets.columns,
                "width": buckets.width,
                "origin": max(buckets.origin, 0),
                "first": stretch.first,
                "count": stretch.means.shape[1],
                "buffer": len(message.buffers),
            }
            message.buffers.append(np.ascontiguousarray(stretch.means).tobytes())

    def _look(self) -> tuple[TrainerStatus, Records, bool]:
        """How the training fares, its new records, and whether these are of another training, or of other workers, than those before."""
        lab = self._desk.lab
        trainer = lab.trainer
        if trainer is None:
            anew = self._trainer is not None
            self._trainer = self._place = None
            status = TrainerStatus("idle", "", lab.strategy, 0, 0, (), 0)
            metrics, records = (), np.zeros(0, np.dtype([("global_step", "i8")]))
            if anew:
                self._curves = _Curves(metrics, 0)
            return status, records, anew
        if trainer is not self._trainer:
            self._trainer, self._place = trainer, None
        news, status = trainer.news(self._place), trainer.seen()
        self._place = news.place
        shape = (trainer.metric_names, lab.cluster.workers)
        if not news.anew and shape == (self._curves.metrics, self._curves.workers):
            return status, news.records, False
        self._curves = _Curves(*shape)
        return status, trainer.news().records if not news.anew else news.records, True

    def _turn_back(self, step: int) -> bool:
        """After a restore or a reset the training goes on from an earlier step; what came after it is no part of it. Returns whether that is so."""
        back = step < self._step
        if back:
            self._curves.buckets.cut(step)
            self._marks.cut(step)
            self.survey.cut(step)
            self._progress.clear()
        self._step = step
        return back

    def _state(self, status: TrainerStatus, now: float, clock: float) -> dict[str, Any]:
        desk = self._desk
        if clock >= self._due["files"]:
            self._due["files"] = clock + FILES_EVERY_S
            self._files = checkpoints(desk)
        faces = {control.name: face for control in CONTROLS if (face := control.face(desk)) is not None}
        settings = _settings(faces) | {"network": str(desk.lab.cluster.network)}
        if self._language != language():
            self._language = language()
            self._marks.reword(settings)
        self._marks.see(status.global_step, now, settings)
        latest = self._latest()
        return {
            "training": status.state,
            "message": status.message,
            "step": status.global_step,
            "target": status.target_step,
            "dropped": status.dropped,
            "rate": self._rate(status, clock),
            "latest": latest,
            "metrics": self._curves.metrics,
            "workers": self._curves.workers,
            "controls": {name: face._asdict() for name, face in faces.items()},
            "groups": {tr(heading): [control.name for control in group] for heading, group in GROUPS.items()},
            "pending": desk.pending,
            "refusal": desk.refusal and desk.refusal._asdict(),
            "tasks": [task._asdict() for task in self.survey.tasks],
            "loops": {loop.name: loop.state for loop in status.loops},
            "checkpoints": self._files,
            "links": self.survey.links,
            "forecasts": [forecast._asdict() for forecast in self.survey.forecasts],
            "marks": [mark._asdict() for mark in self._marks.all()],
            "ghost": self._ghost,
        }

    def _latest(self) -> dict[str, float | None]:
        """The last means that are known of loss, metrics and staleness."""
        buckets = self._curves.buckets
        means = buckets.last(LATEST_OF).means
        names = ("loss", *self._curves.metrics, "staleness")
        rows = ((name, means[buckets.columns.index(name)]) for name in names)
        return {name: float(row[~np.isnan(row)][-1]) if not np.all(np.isnan(row)) else None for name, row in rows}

    def _rate(self, status: TrainerStatus, clock: float) -> float:
        """Updates per second of late, to three digits; 0 where it does not run."""
        if status.state != "running":
            self._progress.clear()
            return 0.0
        self._progress.append((clock, status.global_step))
        while len(self._progress) > 2 and clock - self._progress[0][0] > RATE_OVER_S:
            self._progress.popleft()
        (begun, first), (ended, last) = self._progress[0], self._progress[-1]
        return float(f"{(last - first) / (ended - begun):.3g}") if ended > begun else 0.0


def _settings(faces: Mapping[str, Face]) -> dict[str, str]:
    """What is in force, in words. A parameter of a rule goes by the rule's name: where the rule is changed, that alone is a change."""
    rule = faces["update"].value
    return {f"{name} of {rule}" if name in ("parameter", "aggregation") else name: face.words for name, face in faces.items()}


_NOTHING = object()
