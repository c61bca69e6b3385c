"""Memory before it hurts: what the lab is about to do, against the memory there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pslab.data.partitions import DataSource
from pslab.errors import ResourceExhaustedError, UsageError
from pslab.graph.memory import TaskMemory, largest_batch
from pslab.train.job import CHIEF, CLIENT, Job
from pslab.train.memory import TrainingMemory, memory_of
from pslab.train.plans import PlannedStep

MOST = 2**20
"""The largest batch that is thought of where nobody knows how many examples there are."""


class Shortage(NamedTuple):
    """A task needs more than it may take.

    Attributes:
        task: its name.
        needed: bytes that it needs.
        limit: bytes that it may take.
    """

    task: str
    needed: int
    limit: int

    def __str__(self) -> str:
        return f"about {amount(self.needed)} on {self.task}, but a task may take {amount(self.limit)}"


@dataclass(frozen=True)
class MemoryEstimate:
    """What a step of training will take, in bytes.

    Attributes:
        batch: examples per worker and step: one number for all, or one per worker.
        tasks: what the step takes on each task.
        data: what each task holds beside it: every worker and the client have a copy of the training examples.
        limit: what a task may take; None where that is not known.
        shortage: the task that exceeds it most; None if none does.
        largest: the largest batch that fits; 0 if none does.
    """

    batch: int | Sequence[int]
    tasks: Mapping[str, TaskMemory]
    data: Mapping[str, int]
    limit: int | None
    shortage: Shortage | None
    largest: int

    def total(self, task: str) -> int:
        """All that a task takes."""
        return self.tasks[task].total + self.data.get(task, 0)

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("task", "variables", "feeds", "working", "data", "in all")]
        rows += [(name, *map(amount, (t.variables, t.feeds, t.working, self.data.get(name, 0), self.total(name)))) for name, t in self.tasks.items()]
        lines = [f"{row[0]:10}" + "".join(f"{cell:>12}" for cell in row[1:]) for row in rows]
        limit = "unknown" if self.limit is None else amount(self.limit)
        return "\n".join([*lines, f"batch {told(self.batch)}; limit of a task {limit}; the largest batch that fits is {self.largest}"])


@dataclass(frozen=True)
class Room:
    """The memory there is for a task.

    Attributes:
        host: bytes that a task may take; None where that is not known.
        gpu: bytes that a task may take of the GPU that it computes on, if there is one.
    """

    host: int | None
    gpu: int | None

    def shortage(self, tasks: Mapping[str, TaskMemory], data: Mapping[str, int]) -> Shortage | None:
        """The task that exceeds its limit most, with a step and the ``data`` that it holds on the host; None if none does."""
        if self.gpu is None:
            wanted = [(name, task.total + data.get(name, 0), self.host) for name, task in tasks.items()]
        else:
            wanted = [(name, task.total, self.gpu) for name, task in tasks.items()] + [(name, size, self.host) for name, size in data.items()]
        short = [Shortage(name, needed, limit) for name, needed, limit in wanted if limit is not None and needed > limit]
        return max(short, key=lambda one: one.needed - one.limit, default=None)

    @property
    def limit(self) -> int | None:
        """The limit of a step."""
        return self.host if self.gpu is None else self.gpu


def held(dataset: DataSource, workers: int, tested: int = 0) -> dict[str, int]:
    """Bytes of examples by task: every worker and the client have those to train on, the chief those that are ``tested``, too."""
    holders = (*(f"worker:{i}" for i in range(workers)), CLIENT)
    return {task: dataset.nbytes + (tested if task == CHIEF else 0) for task in holders}


def estimate(job: Job, batch: int | Sequence[int], data: Mapping[str, int], most: int, room: Room) -> MemoryEstimate:
    """What a step of training takes.

    Args:
        job: what is trained, and how.
        batch: examples per worker and step: one number for all, or one per worker.
        data: by task, bytes of the training examples that it has.
        most: the largest batch that the examples allow.
        room: the memory there is.

    Raises:
        UsageError: ``batch`` is no whole number from 1 on, or not one per worker.
    """
    sizes = tuple(batch) if isinstance(batch, Sequence) else (batch,) * job.workers
    if len(sizes) != job.workers or not all(isinstance(size, int) and size >= 1 for size in sizes):
        raise UsageError(f"a batch, of all workers or of each, is a whole number of examples, at least 1; found {batch!r}")
    memory = TrainingMemory(job)
    largest = _most_that_fits(memory.of, data, most, room)
    tasks = memory.of_each(sizes)
    return MemoryEstimate(batch, tasks, data, room.limit, room.shortage(tasks, data), largest)


def check_training(found: MemoryEstimate) -> None:
    """Refuse a batch that does not fit.

    Raises:
        ResourceExhaustedError: on a task it does not; the message has the task, the estimate, the limit and the largest batch that does.
    """
    if found.shortage is not None:
        raise ResourceExhaustedError(
            f"training with batches of {told(found.batch)} needs {found.shortage}",
            f"batches of at most {found.largest}: lab.data(batch_size={found.largest})" if found.largest else "fewer tasks, or a smaller model",
        )


def chunk_that_fits(step: PlannedStep, data: Mapping[str, int], most: int, room: Room, what: str) -> int:
    """How many examples, of at most ``most``, to take at a time.

    Args:
        step: what is done with them.
        data: by task, bytes of examples that it has.
        most: the most that are taken.
        room: the memory there is.
        what: what is done, such as ``"testing"``.

    Raises:
        ResourceExhaustedError: on a task, not even one fits.
    """
    size = _most_that_fits(lambda batch: memory_of(step, batch), data, most, room)
    if not size:
        raise ResourceExhaustedError(f"{what} needs {room.shortage(memory_of(step, 1), data)}, even for one example at a time", "less data")
    return size


def _most_that_fits(needed: Callable[[int], Mapping[str, TaskMemory]], data: Mapping[str, int], most: int, room: Room) -> int:
    def fits(size: int) -> bool:
        return room.shortage(needed(size), data) is None

    return most if fits(most) else largest_batch(fits, most)


def told(batch: int | Sequence[int]) -> str:
    """A batch size for people."""
    return str(batch) if isinstance(batch, int) else ", ".join(map(str, batch))


def amount(size: int) -> str:
    """Bytes for people."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"
