"""How a training fares."""

from __future__ import annotations

from dataclasses import dataclass

from pslab.train.loop import LoopStatus
from pslab.train.places import DataPlace
from pslab.train.strategy import Strategy


@dataclass(frozen=True)
class TrainerStatus:
    """How a training fares.

    Attributes:
        state: ``"idle"``, ``"running"``, ``"paused"``, ``"done"``, ``"out of data"`` or ``"failed"``.
        message: why it is paused, out of data or failed, or an empty string.
        strategy: the mode in force.
        global_step: updates that were made.
        target_step: updates that are to be made.
        loops: the loops of the tasks.
        dropped: contributions that were in no update: they came too late, or were in flight at a change of mode.
        places: how far the workers are in their data, where those come to an end.
    """

    state: str
    message: str
    strategy: Strategy
    global_step: int
    target_step: int
    loops: tuple[LoopStatus, ...]
    dropped: int
    places: tuple[DataPlace, ...] = ()
