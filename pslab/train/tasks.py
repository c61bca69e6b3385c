"""The tasks of a training, seen from where it is steered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Tasks(Protocol):
    """What a trainer needs of a cluster."""

    ps: int
    workers: int

    def call(self, task: str, method: str, /, **arguments: Any) -> Any:
        """Call a method of a task's `TaskService`."""

    def call_all(self, method: str, /, tasks: Sequence[str] | None = None, **arguments: Any) -> dict[str, Any]:
        """Call a method of several tasks at once; of all of them by default."""

    def wait_for(self, task: str, timeout: float) -> None:
        """Wait until a task answers."""
