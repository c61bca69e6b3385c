"""What a cluster tells about itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TaskStatus:
    """One task.

    Attributes:
        name: ``"job:index"``.
        state: ``"running"``; ``"silent"`` if it is there, but does not answer; ``"lost"`` while its process is gone and not yet back; ``"starting"``.
        pid: process it runs in.
        host: machine it runs on.
        address: where its server listens for other tasks.
        memory: resident bytes of its process, which it may share with others; 0 if it is lost.
        restarts: how often it was started anew.
        delay: by how much it is slower in each step of training; an empty string where it is not.
    """

    name: str
    state: str
    pid: int
    host: str
    address: str
    memory: int
    restarts: int
    delay: str = ""


@dataclass(frozen=True)
class ClusterStatus:
    """A cluster.

    Attributes:
        tasks: its tasks, parameter servers first.
        scheduler: address of its Dask scheduler; an empty string where the tasks are threads, which need none.
        processes: whether each task has a process of its own.
        note: why it is as it is, where that was not asked for; or an empty string.
    """

    tasks: tuple[TaskStatus, ...]
    scheduler: str
    processes: bool
    note: str
