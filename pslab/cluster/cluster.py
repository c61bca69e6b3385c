"""A cluster of tasks, as the notebook holds it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Self

import cloudpickle

from pslab.cluster.host_process import HostProcess
from pslab.cluster.memory import available, choose_processes, overhead, parse_bytes
from pslab.cluster.options import CLIENT, HostOptions, task_names
from pslab.cluster.status import ClusterStatus
from pslab.errors import FailedPreconditionError, UnavailableError, UsageError


class Cluster:
    """Parameter servers and workers, hosted on Dask in a process of their own that ends with this one.

    Args:
        ps: number of parameter servers.
        workers: number of workers.
        processes: a process per task; False for threads of one process; None chooses by the memory there is.
        address: a Dask scheduler that is running already, whose workers are to host the tasks.
        memory_limit: bytes that all of it may use, or such as ``"2GB"``; by default what the machine or the container has.
        host: address to listen on.
        security: a `distributed.Security`, for TLS on the control plane.
        service: ``"module:class"`` of the object that stands for a task.
        timeout: seconds that a start may take.

    Attributes:
        ps: number of parameter servers.
        workers: number of workers.

    Raises:
        UsageError: a number is less than 1.
        ResourceExhaustedError: there is not enough memory.
    """

    def __init__(
        self,
        ps: int = 1,
        workers: int = 2,
        *,
        processes: bool | None = None,
        address: str | None = None,
        memory_limit: int | str | None = None,
        host: str = "127.0.0.1",
        security: Any = None,
        service: str = "pslab.train.service:TaskService",
        timeout: float = 60.0,
    ) -> None:
        _check(ps, workers)
        self._limit = available() if memory_limit is None else parse_bytes(memory_limit)
        if address is None:
            self._processes, self._note = choose_processes(ps + workers, processes, self._limit)
        else:
            self._processes, self._note = True, f"the tasks are guests on the workers of {address}"
        self.ps, self.workers = ps, workers
        self._address = address
        self._host_address = host
        self._security = security
        self._service = service
        self._timeout = timeout
        self._host: HostProcess | None = None
        self._scheduler = ""

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of all tasks, the client's among them."""
        return (*task_names(self.ps, self.workers), CLIENT)

    @property
    def running(self) -> bool:
        """Whether it was started, and not stopped."""
        return self._host is not None

    @property
    def room(self) -> int | None:
        """Bytes that each task may take for what it computes: equal shares of what there is. None where they are guests on machines of others."""
        if self._address is not None:
            return None
        return (self._limit - overhead(self.ps + self.workers, self._processes)) // len(self.tasks)

    def start(self) -> Self:
        """Bring the cluster up, and wait until every task answers. Nothing happens if it runs already.

        Raises:
            DeadlineExceededError: it was not up in time.
            UnavailableError: the host process ended.
        """
        if self._host is None:
            options = HostOptions(
                self.ps,
                self.workers,
                self._processes,
                self._address,
                self._host_address,
                self._service,
                secrets.token_bytes(32),
                self._security,
            )
            host = HostProcess(options)
            try:
                self._scheduler = host.start(self._timeout)
            except BaseException:  # an interrupt too: a cluster is up, or it is not
                host.close()
                raise
            self._host = host
        return self

    def stop(self) -> None:
        """Take it down; nothing is left behind. Nothing happens if it does not run."""
        host, self._host = self._host, None
        if host is not None:
            host.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    def call(self, task: str, method: str, /, **arguments: Any) -> Any:
        """Call a method of a task's service; what it returns or raises comes back.

        Raises:
            UnavailableError: the task's process is gone.
            NotFoundError: there is no such task.
        """
        return _outcome(self._running().ask("call", task, method, cloudpickle.dumps(arguments)).result())

    def call_all(self, method: str, /, tasks: Sequence[str] | None = None, **arguments: Any) -> dict[str, Any]:
        """Call a method of several tasks at once (of all, by default); returns what each returns.

        Raises:
            UnavailableError: a task's process is gone. The others were called all the same.
        """
        host, packed = self._running(), cloudpickle.dumps(arguments)
        asked = {task: host.ask("call", task, method, packed) for task in (self.tasks if tasks is None else tasks)}
        return {task: _outcome(answer.result()) for task, answer in asked.items()}

    def call_always(self, method: str, /, **arguments: Any) -> None:
        """Call a method of all tasks, and of each that is started from now on, or started anew. What is called for later under the same name counts."""
        self._running().ask("stand", method, cloudpickle.dumps(arguments)).result()
        with suppress(UnavailableError):  # a task that was lost is called when it is back
            self.call_all(method, **arguments)

    def wait_for(self, task: str, timeout: float = 30.0) -> None:
        """Wait until a task answers, such as one that was killed and comes back.

        Raises:
            DeadlineExceededError: it did not, in ``timeout`` seconds.
        """
        self._running().ask("wait_for", task, timeout).result()

    def status(self) -> ClusterStatus:
        """All tasks: where they are, and how they fare."""
        tasks = self._running().ask("status").result()
        return ClusterStatus(tasks, self._scheduler, self._processes, self._note)

    def scale(self, ps: int | None = None, workers: int | None = None) -> None:
        """Start further tasks, or retire those with the highest numbers. A retired ps takes its variables with it.

        Raises:
            UsageError: a number is less than 1.
            ResourceExhaustedError: there is not enough memory.
        """
        ps, workers = ps if ps is not None else self.ps, workers if workers is not None else self.workers
        _check(ps, workers)
        if self._address is None:
            choose_processes(ps + workers, self._processes, self._limit)
        self._running().ask("scale", ps, workers).result()
        self.ps, self.workers = ps, workers

    def kill(self, task: str) -> None:
        """End a task's process with SIGKILL, as a crash would; it comes back under its name.

        Raises:
            NotFoundError: there is no such task.
            FailedPreconditionError: it has no process of its own.
        """
        self._running().ask("kill", task).result()

    def _running(self) -> HostProcess:
        if self._host is None:
            raise FailedPreconditionError("the cluster does not run", "start it: cluster.start()")
        return self._host

    def __repr__(self) -> str:
        state = "running" if self.running else "stopped"
        return f"<pslab.Cluster ps={self.ps} workers={self.workers} {state}>"


def _outcome(answer: dict[str, bytes]) -> Any:
    if "error" in answer:
        raise cloudpickle.loads(answer["error"])
    return cloudpickle.loads(answer["value"])


def _check(ps: int, workers: int) -> None:
    for name, number in (("ps", ps), ("workers", workers)):
        if number < 1:
            raise UsageError(f"{name} must be at least 1, found {number}")
