"""How the lab's training fares, for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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
        state: ``"idle"``, ``"running"``, ``"paused"``, ``"done"`` or ``"failed"``.
        message: why it is paused or failed.
        replication: ``"between-graph"`` or ``"in-graph"``.
        update: ``"sync"`` or ``"async"``.
        global_step: updates that were made.
        target_step: updates that are to be made.
        workers: the loops.
        loss: mean loss of the last steps; NaN before the first.
        metrics: mean metrics of the last steps.
        steps_per_s: worker steps per second over the last steps.
        dropped: gradients in flight that changes of mode dropped.
        dataset: name of the data.
        model: name of the model.
    """

    state: str
    message: str
    replication: str
    update: str
    global_step: int
    target_step: int
    workers: tuple[LoopState, ...]
    loss: float
    metrics: Mapping[str, float]
    steps_per_s: float
    dropped: int
    dataset: str
    model: str
