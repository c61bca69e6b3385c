"""What each task's process of a program is started with."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TaskPlan:
    """One task of a program.

    Attributes:
        job: its job, such as ``"worker"``.
        index: its index in the job.
        arguments: the program's command line: the caller's own arguments, and the flags that ps/worker programs read.
        environment: ``TF_CONFIG``, and how Python is to run.
    """

    job: str
    index: int
    arguments: tuple[str, ...]
    environment: Mapping[str, str]

    @property
    def name(self) -> str:
        """Such as ``"worker:1"``."""
        return f"{self.job}:{self.index}"


def plan_tasks(hosts: Mapping[str, Sequence[str]], arguments: Sequence[str], directories: Sequence[Path] = ()) -> list[TaskPlan]:
    """The tasks of a program.

    Args:
        hosts: by job, ``host:port`` of each task.
        arguments: the caller's arguments for the program.
        directories: where modules are imported from besides.
    """
    path = os.pathsep.join([*map(str, directories), *filter(None, [os.environ.get("PYTHONPATH")])])
    cluster = {job: list(addresses) for job, addresses in hosts.items() if addresses}
    flags = [f"--{job}_hosts={','.join(addresses)}" for job, addresses in hosts.items()]
    tasks = [(job, index) for job, addresses in hosts.items() for index in range(len(addresses))]
    return [
        TaskPlan(
            job,
            index,
            (*arguments, f"--job_name={job}", f"--task_index={index}", *flags),
            {
                "TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": job, "index": index}}),
                "PYTHONUNBUFFERED": "1",
                **({"PYTHONPATH": path} if directories else {}),
            },
        )
        for job, index in tasks
    ]
