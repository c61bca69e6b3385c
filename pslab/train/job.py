"""A job: what is trained, on which tasks, and how. One value from which every task builds its own part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from pslab.data.division import Division
from pslab.train.model import Features, Model
from pslab.train.reading import Reading
from pslab.train.strategy import Strategy

CHIEF = "worker:0"
"""The task that makes a synchronous update of its workers' gradients, and that initialises, saves and restores."""
CLIENT = "client:0"
"""The task that drives all towers of in-graph replication."""


class Gates(StrEnum):
    """What waits at the ps until it is let in."""

    NONE = "none"
    MESSAGES = "messages"
    """What a worker sends: what it brings, and where that is a message of its own, that it reads."""
    ALL = "all"
    """All that is entered in the ledgers: what the chief does, too, and how its workers are answered."""


@dataclass(frozen=True)
class Job:
    """What a task must know to take part in training.

    Attributes:
        model: the model.
        features: what a batch looks like.
        ps: number of parameter servers.
        workers: number of workers.
        strategy: how the replicas work together.
        trainer: id of the trainer whose job it is.
        epoch: number of this activation among the trainer's; each change of mode begins a new one.
        division: how the data are divided among the workers.
        first_step: the global step at which the epoch begins; it sets the place in data that do not end.
        reading: how examples come in.
        gates: what waits at the ps until it is let in.
        places: of data that end, the batch with which each worker begins; empty otherwise.
    """

    model: Model
    features: Features
    ps: int
    workers: int
    strategy: Strategy
    trainer: str
    epoch: int
    division: Division
    first_step: int
    reading: Reading = Reading.FEEDING
    gates: Gates = Gates.NONE
    places: tuple[int, ...] = ()

    @property
    def fed(self) -> Job:
        """The same with examples that are fed: a model at rest takes what it is given."""
        return replace(self, reading=Reading.FEEDING)

    def place(self, worker: int) -> int:
        """The batch with which a worker begins."""
        return self.places[worker] if self.places else self.first_step

    @property
    def epoch_id(self) -> str:
        """A name of this activation that no other has, whoever's it is."""
        return f"{self.trainer}.{self.epoch}"

    @property
    def task_names(self) -> tuple[str, ...]:
        """Names of all tasks that take part, the client among them."""
        return (*(f"ps:{i}" for i in range(self.ps)), *(f"worker:{i}" for i in range(self.workers)), CLIENT)
