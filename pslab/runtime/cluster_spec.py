"""Which tasks there are, and where (TensorFlow 1's ``tf.train.ClusterSpec``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pslab.errors import NotFoundError, UsageError


class ClusterSpec:
    """Addresses of tasks, by job and index.

    Args:
        cluster: from a job's name to the ``"host:port"`` of its tasks: a list, or a dict by index where some are left out. Or another `ClusterSpec`.

    Raises:
        UsageError: it is not of that form.
    """

    def __init__(self, cluster: Mapping[str, Sequence[str] | Mapping[int, str]] | ClusterSpec) -> None:
        if isinstance(cluster, ClusterSpec):
            self._jobs: dict[str, dict[int, str]] = {job: dict(tasks) for job, tasks in cluster._jobs.items()}
            return
        if not isinstance(cluster, Mapping):
            raise UsageError(f'a cluster is a dict such as {{"ps": ["host:2222"], "worker": [...]}}, not {type(cluster).__name__}')
        self._jobs = {job: _tasks(job, tasks) for job, tasks in cluster.items()}

    @property
    def jobs(self) -> list[str]:
        """Names of the jobs, in order of the alphabet."""
        return sorted(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """Number of tasks of a job."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """Indices of a job's tasks, in order."""
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The ``"host:port"`` of a task.

        Raises:
            NotFoundError: there is no such task.
        """
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise NotFoundError(f"job {job_name!r} has no task {task_index}; it has {', '.join(map(str, sorted(tasks)))}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str]:
        """Addresses of a job's tasks, by index."""
        tasks = self._job(job_name)
        return [tasks[i] for i in sorted(tasks)]

    def task_names(self) -> list[str]:
        """``"job:index"`` of every task."""
        return [f"{job}:{index}" for job in self.jobs for index in sorted(self._jobs[job])]

    def as_dict(self) -> dict[str, Any]:
        """Jobs with lists of addresses, or dicts by index where indices are left out."""
        return {
            job: [tasks[i] for i in sorted(tasks)] if sorted(tasks) == list(range(len(tasks))) else dict(tasks) for job, tasks in self._jobs.items()
        }

    def as_cluster_def(self) -> ClusterSpec:
        """The cluster as a `Server` takes it: TensorFlow's message of it is not needed here."""
        return self

    def _job(self, name: str) -> dict[int, str]:
        if name not in self._jobs:
            raise NotFoundError(f"there is no job {name!r}; there is {', '.join(self.jobs) or 'none'}")
        return self._jobs[name]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    def __hash__(self) -> int:
        return hash(tuple((job, *sorted(tasks.items())) for job, tasks in sorted(self._jobs.items())))

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __repr__(self) -> str:
        return f"ClusterSpec({self.as_dict()!r})"


def _tasks(job: str, tasks: Any) -> dict[int, str]:
    if isinstance(tasks, str) or not isinstance(tasks, Sequence | Mapping):
        raise UsageError(f"job {job!r} needs a list of addresses, found {tasks!r}", f'write {{"{job}": ["host:2222"]}}')
    found = dict(tasks) if isinstance(tasks, Mapping) else dict(enumerate(tasks))
    for index, address in found.items():
        if not isinstance(index, int) or not isinstance(address, str) or not address.rpartition(":")[2].isdigit():
            raise UsageError(f"task {index!r} of job {job!r} has no address of the form host:port: {address!r}")
    return found
