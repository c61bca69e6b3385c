"""Where tasks can be: in this process, in a process each, or on the workers of another Dask cluster."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Any, Protocol

from distributed import Client, Nanny, Scheduler
from distributed.core import Server

from pslab.cluster.encryption import Encryption
from pslab.cluster.plugin import GuestHost, TaskHost
from pslab.cluster.registry import Registry
from pslab.errors import FailedPreconditionError, ResourceExhaustedError, UnavailableError

CLOSE_S = 5.0
CONNECT_S = 5.0


class Place(Protocol):
    """A place for tasks."""

    async def open(self) -> str:
        """Make it ready; returns the address of its Dask scheduler, or an empty string where it has none."""
        ...

    async def begin(self, task: str) -> None:
        """Start a task."""
        ...

    async def end(self, task: str) -> None:
        """End a task for good."""
        ...

    def kill(self, task: str) -> None:
        """End a task's process as a crash would.

        Raises:
            FailedPreconditionError: it has no process of its own.
            UnavailableError: it is being started anew.
        """
        ...

    async def close(self) -> None:
        """End all tasks."""
        ...


class Threads:
    """Tasks as threads of this process, called through a Dask server that is here anyway."""

    def __init__(self, server: Server, host_of: Callable[[str], TaskHost]) -> None:
        self._server = server
        self._host_of = host_of
        self._hosts: dict[str, TaskHost] = {}

    async def open(self) -> str:
        """Nothing to be done."""
        return ""

    async def begin(self, task: str) -> None:
        """Start a task's threads."""
        host = self._host_of(task)
        await host.setup(self._server)
        self._hosts[task] = host

    async def end(self, task: str) -> None:
        """End a task's threads."""
        await self._hosts.pop(task).teardown(self._server)

    def kill(self, task: str) -> None:
        """Refused: the process is this one."""
        raise FailedPreconditionError(f"cannot kill {task}: tasks are threads of one process", "start the cluster with processes=True")

    async def close(self) -> None:
        """End all tasks."""
        await asyncio.gather(*(self.end(task) for task in tuple(self._hosts)))


class Processes:
    """A process for each task, under the eyes of a nanny that starts it anew, with a Dask scheduler of our own."""

    def __init__(self, address: str, encryption: Encryption, host_of: Callable[[str], TaskHost]) -> None:
        self._address = address
        self._encryption = encryption
        self._host_of = host_of
        self._nannies: dict[str, Nanny] = {}
        self._scheduler: Scheduler | None = None

    async def open(self) -> str:
        """Start the scheduler."""
        self._scheduler = await Scheduler(
            host=self._address,
            port=0,
            protocol=self._encryption.protocol,
            security=self._encryption.security,
            dashboard=False,
            dashboard_address=f"{self._address}:0",  # the usual port is left to the learner's own Dask
        )
        return str(self._scheduler.address)

    async def begin(self, task: str) -> None:
        """Start a task's process."""
        assert self._scheduler is not None
        self._nannies[task] = await Nanny(
            self._scheduler.address,
            name=task,
            nthreads=1,
            host=self._address,
            memory_limit=0,
            dashboard=False,
            plugins=(self._host_of(task),),
            security=self._encryption.security,
        )

    async def end(self, task: str) -> None:
        """End a task's process."""
        await self._nannies.pop(task).close(timeout=CLOSE_S)

    def kill(self, task: str) -> None:
        """Send SIGKILL to a task's process."""
        pid = self._nannies[task].pid
        if pid is None:
            raise UnavailableError(f"{task} has no process now", "it is being started anew")
        os.kill(pid, signal.SIGKILL)

    async def close(self) -> None:
        """End all tasks, and the scheduler."""
        await asyncio.gather(*(self.end(task) for task in tuple(self._nannies)))
        if self._scheduler is not None:
            await self._scheduler.close()


class Guests:
    """Tasks as guests on the workers of a Dask cluster that runs already. It is left as it was."""

    def __init__(self, address: str, encryption: Encryption, registry: Registry, host_of: Callable[[str], GuestHost]) -> None:
        self._address = address
        self._encryption = encryption
        self._registry = registry
        self._host_of = host_of
        self._plugins: dict[str, str] = {}
        self._turn = asyncio.Lock()  # tasks are begun together, but take their places in their order: the same each time
        self._client: Any = None

    async def open(self) -> str:
        """Connect to its scheduler."""
        try:
            self._client = await Client(self._address, asynchronous=True, security=self._encryption.security, timeout=CONNECT_S, set_as_default=False)
        except (OSError, TimeoutError) as error:
            raise UnavailableError(f"no Dask scheduler answers at {self._address}: {error}", "start one: dask scheduler") from None
        imported = await self._client.run(exec, "import pslab", {}, on_error="return")
        for worker, failure in imported.items():
            if failure is not None:
                raise FailedPreconditionError(f"the Dask worker at {worker} cannot import pslab: {failure}", "install pslab where it runs")
        return str(self._client.scheduler.address)

    async def begin(self, task: str) -> None:
        """Start a task on the worker that has the fewest."""
        async with self._turn:
            identity = await self._client.scheduler.identity(n_workers=-1)
            names = sorted(str(worker["name"]) for worker in identity["workers"].values())
            if not names:
                raise ResourceExhaustedError(f"the Dask scheduler at {self._address} has 0 workers", f"start some: dask worker {self._address}")
            taken = list(self._registry.guests.values())
            self._registry.guests[task] = min(names, key=taken.count)
        host = self._host_of(task)
        self._plugins[task] = host.name
        await self._client.register_plugin(host, name=host.name)

    async def end(self, task: str) -> None:
        """End a task."""
        await self._client.unregister_worker_plugin(self._plugins.pop(task))

    def kill(self, task: str) -> None:
        """Refused: the process is not ours."""
        raise FailedPreconditionError(f"cannot kill {task}: its process belongs to the Dask cluster at {self._address}")

    async def close(self) -> None:
        """End all tasks, and leave."""
        await asyncio.gather(*(self.end(task) for task in tuple(self._plugins)), return_exceptions=True)
        if self._client is not None:
            await self._client.close()
