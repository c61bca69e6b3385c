"""Running a graph on one task, through the real partition, compiler and driver, without a session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pslab.execution.compiler import Program
from pslab.graph.operation import Operation
from pslab.graph.partition import partition, prune
from pslab.graph.placement import place
from pslab.graph.plan import Cut
from pslab.graph.tensor import Tensor
from pslab.runtime.driver import drive
from pslab.runtime.task import Task


class NoLink:
    """The link of a task that is alone: nothing is ever sent or received."""

    def send(self, cut: Cut, arrays: tuple[Any, ...]) -> int:
        """Refuse."""
        raise AssertionError(f"one task has nobody to send to: {cut}")

    def recv(self, cut: Cut) -> tuple[tuple[Any, ...], int]:
        """Refuse."""
        raise AssertionError(f"one task has nobody to receive from: {cut}")

    def alive(self) -> bool:
        """Always."""
        return True


def program(task: Task, fetches: list[Tensor | Operation], feeds: list[Tensor]) -> Program:
    """Compile ``fetches`` for ``task``."""
    tensors = [f for f in fetches if isinstance(f, Tensor)]
    operations = prune([f.op if isinstance(f, Tensor) else f for f in fetches], feeds)
    placed = place(operations, master=task.name, tasks=[task.name], devices=lambda _: ("CPU:0",))
    plan = partition(operations, placed, master=task.name, fetches=tensors, feeds=feeds)
    return task.compile(plan.partitions[task.name])


def run(task: Task, *fetches: Any, feeds: Mapping[Tensor, Any] | None = None) -> Any:
    """Run ``fetches`` (tensors, variables, ops) once on ``task``.

    Returns:
        The tensors' values: one bare, several as a tuple, None if there is none.
    """
    wanted = [f._as_tensor() if hasattr(f, "_as_tensor") else f for f in fetches]
    feeds = dict(feeds or {})
    compiled = program(task, wanted, list(feeds))
    by_name = {t.name: np.asarray(v, dtype=t.dtype.as_numpy_dtype) for t, v in feeds.items()}
    values, _ = drive(compiled, [by_name[name] for name in compiled.partition.feeds], NoLink(), task.monitor)
    named = dict(zip(compiled.partition.fetches, values, strict=True))
    results = tuple(named[t.name] for t in wanted if isinstance(t, Tensor))
    return results[0] if len(results) == 1 else results or None
