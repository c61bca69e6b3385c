"""How much memory training, testing and predicting will take on each task, before anything runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pslab.graph.memory import TaskMemory, step_memory
from pslab.train.collective import Pipeline
from pslab.train.job import CHIEF, Job
from pslab.train.plans import PlannedStep, chief_step, mode_step
from pslab.train.strategy import Replication

_NOTHING = TaskMemory(0, 0, 0, 0)


class TrainingMemory:
    """What a step of training takes on each task, as all workers do theirs at once. The steps are planned once, for batches of any size.

    Args:
        job: what is trained, and how.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        strategy = job.strategy
        self._alike = strategy.replication is not Replication.IN_GRAPH and not strategy.resident
        piped = isinstance(strategy.update, Pipeline)
        steps = 1 if self._alike or strategy.gathered or piped else job.workers
        self._steps = [mode_step(job, worker) for worker in range(steps)]
        self._chief = chief_step(job) if self._alike and strategy.gathered else None
        self._piped = piped

    def of_each(self, sizes: Sequence[int]) -> dict[str, TaskMemory]:
        """What it takes, by task, if the workers' batches are of these sizes. What serves all is taken as if they had the largest."""
        if self._piped:  # every batch goes through every worker
            return self.of(math.ceil(sum(sizes) / len(sizes)))
        of = {size: self.of(size) for size in set(sizes)}
        return {**of[max(sizes)], **{f"worker:{i}": of[size][f"worker:{i}"] for i, size in enumerate(sizes)}}

    def of(self, batch: int) -> dict[str, TaskMemory]:
        """What it takes with batches of this size, by task."""
        whole = batch * (self._job.workers if self._piped else 1)
        found = [memory_of(step, whole) for step in self._steps]
        if self._alike:
            workers = range(self._job.workers)
            found = [{(f"worker:{i}" if task == CHIEF else task): memory for task, memory in found[0].items()} for i in workers]
        if self._chief is not None:
            found.append(memory_of(self._chief, batch))
        return {task: together(part.get(task, _NOTHING) for part in found) for task in self._job.task_names}


def memory_of(step: PlannedStep, batch: int) -> dict[str, TaskMemory]:
    """What a planned step takes on each of its tasks."""
    return step_memory(step.plan, step.graph, step.feeds, batch)


def together(parts: Iterable[TaskMemory]) -> TaskMemory:
    """What several steps take on one task if they run at once; its variables are the same for all."""
    total = _NOTHING
    for part in parts:
        total = replace(
            total,
            variables=max(total.variables, part.variables),
            constants=total.constants + part.constants,
            feeds=total.feeds + part.feeds,
            working=total.working + part.working,
        )
    return total
