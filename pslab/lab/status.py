"""How the lab's training fares, for people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pslab.data.division import Division
from pslab.train.delays import Delay
from pslab.train.trainer_status import TrainerStatus

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class LoopState:
    """A loop of the training, for people.

    Attributes:
        name: the task it belongs to, or ``"chief"``.
        state: what it does.
        step: steps it made since the last change of mode.
    """

    name: str
    state: str
    step: int


@dataclass(frozen=True)
class LabStatus:
    """How the lab's training fares.

    Attributes:
        state: ``"idle"``, ``"running"``, ``"paused"``, ``"done"``, ``"out of data"`` or ``"failed"``.
        message: why it is paused, out of data or failed.
        replication: ``"between-graph"`` or ``"in-graph"``.
        update: ``"sync"`` or ``"async"``.
        compression: such as ``"top-k 1 %"``; empty where there is none.
        global_step: updates that were made.
        target_step: updates that are to be made.
        workers: the loops.
        loss: mean loss of the last steps; NaN before the first.
        metrics: mean metrics of the last steps.
        steps_per_s: worker steps per second over the last steps.
        dropped: contributions that were in no update: they came too late, or were in flight at a change of mode.
        dataset: name of the data.
        model: name of the model.
        slow: by how much workers are slower than they could be, such as ``"50 ms"``.
        divided: of workers that do not all get as much, what each gets, such as ``"batches of 32, 0.7 of the examples"``.
        out_of_data: workers that are, such as ``"worker:2 after 8 steps (256 examples)"``.
    """

    state: str
    message: str
    replication: str
    update: str
    compression: str
    global_step: int
    target_step: int
    workers: tuple[LoopState, ...]
    loss: float
    metrics: Mapping[str, float]
    steps_per_s: float
    dropped: int
    dataset: str
    model: str
    slow: Mapping[str, str] = field(default_factory=dict)
    divided: Mapping[str, str] = field(default_factory=dict)
    out_of_data: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        now: TrainerStatus,
        recent: pandas.DataFrame | None,
        metrics: Sequence[str],
        workers: int,
        dataset: str,
        model: str,
        delays: Mapping[str, Delay],
        division: Division,
    ) -> LabStatus:
        """What people are told of a training.

        Args:
            now: how it fares.
            recent: its last steps, as of `pslab.lab.tables.metrics_table`; None without a training.
            metrics: names of the model's metrics.
            workers: number of workers.
            dataset: name of the data.
            model: name of the model.
            delays: of the workers that are slow.
            division: how the data are divided among the workers.
        """
        steps = None if recent is None or not len(recent) else recent

        def mean(column: str) -> float:
            return math.nan if steps is None else float(steps[column].mean())

        wall = mean("wall")
        return cls(
            state=now.state,
            message=now.message,
            replication=str(now.strategy.replication),
            update=str(now.strategy.update),
            compression=str(now.strategy.compression or ""),
            global_step=now.global_step,
            target_step=now.target_step,
            workers=tuple(LoopState(loop.name, loop.state, loop.steps) for loop in now.loops),
            loss=mean("loss"),
            metrics={} if steps is None else {name: mean(name) for name in metrics},
            steps_per_s=workers / wall if wall > 0 else math.nan,
            dropped=now.dropped,
            dataset=dataset,
            model=model,
            slow={task: str(delay) for task, delay in delays.items()},
            divided={f"worker:{i}": division.of(i) for i in range(workers)} if division.numbers == workers > 1 else {},
            out_of_data=tuple(str(place) for place in now.places if place.out),
        )
