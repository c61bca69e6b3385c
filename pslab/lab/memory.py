"""Memory before it hurts: what the lab is about to do, against the memory there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pslab.errors import ResourceExhaustedError, UsageError
from pslab.graph.memory import TaskMemory, largest_batch
from pslab.train.job import Job
from pslab.train.memory import TrainingMemory, memory_of
from pslab.train.plans import PlannedStep


@dataclass(frozen=True)
class MemoryEstimate:
    """What a step of training will take, in bytes.

    Attributes:
        batch: examples per worker and step.
        tasks: what each task takes.
        data: the training examples, of which every worker and the client have a copy.
        limit: what all of it may take together; None where that is not known.
        largest: the largest batch that fits; 0 if none does.
    """

    batch: int
    tasks: Mapping[str, TaskMemory]
    data: int
    limit: int | None
    largest: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.data + sum(task.total for task in self.tasks.values())

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("task", "variables", "feeds", "working", "in all")]
        rows += [(n, *map(amount, (t.variables, t.feeds, t.working, t.total))) for n, t in self.tasks.items()]
        lines = [f"{row[0]:10}" + "".join(f"{cell:>12}" for cell in row[1:]) for row in rows]
        limit = "unknown" if self.limit is None else amount(self.limit)
        end = (
            f"batch {self.batch}: {amount(self.total)} with {amount(self.data)} of data; limit {limit}; the largest batch that fits is {self.largest}"
        )
        return "\n".join([*lines, end])


@dataclass(frozen=True)
class Room:
    """The memory there is.

    Attributes:
        host: bytes that all tasks may take together; None where that is not known.
        gpu: bytes of the GPU that they compute on, if there is one.
    """

    host: int | None
    gpu: int | None

    def holds(self, tasks: Mapping[str, TaskMemory], data: int) -> bool:
        """Whether a step fits, beside ``data`` bytes on the host."""
        step = sum(task.total for task in tasks.values())
        if self.gpu is not None:
            return step <= self.gpu and (self.host is None or data <= self.host)
        return self.host is None or step + data <= self.host

    @property
    def limit(self) -> int | None:
        """The limit of a step."""
        return self.host if self.gpu is None else self.gpu


def estimate(job: Job, batch: int, data: int, most: int, room: Room) -> MemoryEstimate:
    """What a step of training takes.

    Args:
        job: what is trained, and how.
        batch: examples per worker and step.
        data: bytes of the training examples on all tasks.
        most: the largest batch that the examples allow.
        room: the memory there is.

    Raises:
        UsageError: ``batch`` is less than 1.
    """
    if batch < 1:
        raise UsageError(f"a batch has at least 1 example, found {batch}")
    memory = TrainingMemory(job)
    fits = room.holds(memory.of(most), data)
    largest = most if fits else largest_batch(lambda size: room.holds(memory.of(size), data), most)
    return MemoryEstimate(batch, memory.of(batch), data, room.limit, largest)


def check_training(found: MemoryEstimate) -> None:
    """Refuse a batch that does not fit.

    Raises:
        ResourceExhaustedError: it does not; the message has the estimate, the limit and the largest batch that does.
    """
    if found.limit is not None and found.batch > found.largest:
        worst = max(found.tasks, key=lambda name: found.tasks[name].total)
        raise ResourceExhaustedError(
            f"training with batches of {found.batch} needs about {amount(found.total)}, of these {amount(found.tasks[worst].total)} on {worst}, "
            f"but there are {amount(found.limit)}",
            f"batches of at most {found.largest}: lab.data(batch_size={found.largest})" if found.largest else "fewer workers, or a smaller model",
        )


def chunk_that_fits(step: PlannedStep, data: int, most: int, room: Room, what: str) -> int:
    """How many examples, of at most ``most``, to take at a time.

    Raises:
        ResourceExhaustedError: not even one fits.
    """

    def fits(size: int) -> bool:
        return room.holds(memory_of(step, size), data)

    size = most if fits(most) else largest_batch(fits, most)
    if not size:
        one = sum(task.total for task in memory_of(step, 1).values()) + data
        raise ResourceExhaustedError(
            f"{what} needs about {amount(one)} even for one example at a time, but there are {amount(room.limit or 0)}", "less data"
        )
    return size


def amount(size: int) -> str:
    """Bytes for people."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"
