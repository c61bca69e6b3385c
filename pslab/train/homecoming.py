"""How parameters that live on the workers come back to the ps, and what is said where some of them are lost."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Protocol

from pslab.errors import PslabError
from pslab.train.job import CLIENT
from pslab.train.resident import holders
from pslab.train.strategy import Strategy

FIRST_PS = "ps:0"
"""The task that keeps the global step and the claims."""


class Caller(Protocol):
    """What calls the tasks."""

    workers: int

    def call(self, task: str, method: str, /, **arguments: Any) -> Any:
        """Call a method of a task's `TaskService`."""


class Homecoming:
    """The parameters of one epoch on their way back to the ps.

    Args:
        cluster: the tasks.
        strategy: the mode of the epoch.
        step: the global step at which the epoch begins, and its parameters lie on the ps.
    """

    def __init__(self, cluster: Caller, strategy: Strategy, step: int) -> None:
        self._cluster = cluster
        self._holders = holders(strategy, cluster.workers) if strategy.resident else []
        self._published = step

    def whole(self) -> bool:
        """Whether no parameters are lost, on any task that should have some."""
        return all(step is not None for step in self._steps().values())

    def publish(self, step: int) -> None:
        """Let the ps have the parameters of global step ``step``, which no update follows meanwhile.

        Raises:
            OpError: a task was lost.
        """
        if self._holders and step != self._published:
            self._cluster.call(self._holders[0], "publish")
            self._published = step

    def end(self) -> str:
        """Let the ps have the parameters of the copy that has had most updates; or else the global step be that of those it has.

        Returns:
            What was lost, or would have been; empty where nothing was.

        Raises:
            OpError: a task was lost.
        """
        steps = self._steps()
        known = {task: step for task, step in steps.items() if step is not None}
        if not self._holders:
            return ""
        if not known:
            self._cluster.call(FIRST_PS, "go_back", step=self._published)
            whose = "parameters of its stages" if self._holders == [CLIENT] else "only copies of the parameters"
            return f"a task was lost, and the {whose} with it: back to global step {self._published}, at which all were on the ps last"
        furthest = max(known, key=lambda task: known[task])
        self._cluster.call(furthest, "publish")  # in any case: a ps may have come back empty
        lost = [task for task in steps if task not in known]
        return (
            f"{', '.join(lost)} was lost; {furthest} has a copy of all parameters, at global step {known[furthest]}, so nothing else is"
            if lost
            else ""
        )

    def _steps(self) -> dict[str, int | None]:
        found: dict[str, int | None] = dict.fromkeys(self._holders)
        for task in found:
            with suppress(PslabError):
                found[task] = self._cluster.call(task, "resident_step")
        return found
