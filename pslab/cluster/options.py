"""What a host process is told to host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class HostOptions:
    """A cluster, as it was asked for and decided.

    Attributes:
        ps: number of parameter servers.
        workers: number of workers.
        processes: a process per task, or threads of one process.
        address: a Dask scheduler that is running already, or None for one of our own.
        host: address that our own scheduler and workers listen on.
        service: ``"module:class"`` of the object that stands for a task.
        secret: what tasks prove to each other.
        security: a `distributed.Security`, or None.
    """

    ps: int
    workers: int
    processes: bool
    address: str | None
    host: str
    service: str
    secret: bytes
    security: Any = None

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of its ps and workers."""
        return task_names(self.ps, self.workers)


CLIENT = "client:0"
"""The one task that lives in the host process itself, to drive graphs that span all workers."""


def task_names(ps: int, workers: int) -> tuple[str, ...]:
    """Names of so many parameter servers and workers."""
    return (*(f"ps:{i}" for i in range(ps)), *(f"worker:{i}" for i in range(workers)))
