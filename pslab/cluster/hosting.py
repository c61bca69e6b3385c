"""Hosting a cluster on Dask: a scheduler, a named worker per task, and the way to call them."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import dask
import psutil
from distributed import Client, Nanny, Scheduler, Worker
from distributed.comm.core import CommClosedError
from distributed.utils import get_mp_context

from pslab.cluster.options import CLIENT, HostOptions, task_names
from pslab.cluster.plugin import TaskHost
from pslab.cluster.registry import Entry, Registry
from pslab.cluster.status import TaskStatus
from pslab.errors import DeadlineExceededError, FailedPreconditionError, NotFoundError, ResourceExhaustedError, UnavailableError

ANSWER_S = 2.0
"""Seconds in which a task that lives answers."""
LOOK_S = 0.2
"""Seconds between two looks at a task that is awaited."""
START_S = 60.0
CLOSE_S = 5.0


_QUIET = {
    "distributed.comm.timeouts.connect": "3s",  # a task that is gone is told as such
    # what Dask does for its own tasks, and what would take the interpreter from ours at every turn
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.disk": False,
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.active-memory-manager.start": False,
}


class Hosting:
    """A cluster, hosted in this process and its children; or on a Dask scheduler that runs elsewhere."""

    def __init__(self, options: HostOptions) -> None:
        self._options = options
        self._ps, self._workers = options.ps, options.workers
        self._registry = Registry(**({"connection_args": options.security.get_connection_args("worker")} if options.security else {}))
        self._scheduler: Scheduler | None = None
        self._client: Client | None = None
        self._nannies: dict[str, Nanny] = {}
        self._here: Worker | None = None
        self._guests: dict[str, tuple[str, ...]] = {}

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the ps and workers."""
        return task_names(self._ps, self._workers)

    async def start(self) -> str:
        """Bring everything up; returns the scheduler's address.

        Raises:
            PslabError: it could not be brought up.
        """
        options = self._options
        dask.config.set(_QUIET)
        await self._registry.listen(f"tcp://{options.host}:0" if options.address is None else "tcp://:0")
        if options.address is None:
            dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
            # what every task needs is imported once, in the process that they are forked from
            get_mp_context().set_forkserver_preload(["distributed.nanny", "numpy", options.service.partition(":")[0]])
            self._scheduler = await Scheduler(host=options.host, port=0, dashboard=False, security=options.security)
            where = str(self._scheduler.address)
        else:
            where = options.address
        mine = (CLIENT,) if options.processes or options.address is not None else (CLIENT, *options.tasks)
        starting = [self._start_here(where, mine)]
        if options.address is not None:
            starting.append(self._start_guests(where))
        elif options.processes:
            starting.extend(self._start_nanny(where, task) for task in options.tasks)
        await asyncio.gather(*starting)
        await self._registry.wait_for((CLIENT, *self.tasks), START_S)
        return where

    def _plugin(self, tasks: dict[str, tuple[str, ...]]) -> TaskHost:
        return TaskHost(tasks, self._options.service, self._options.secret, self._registry.address, self._options.security)

    async def _start_here(self, scheduler: str, tasks: tuple[str, ...]) -> None:
        """A worker in this process. It takes none of the scheduler's own tasks: it is there for ours."""
        name = f"pslab-host-{os.getpid()}"
        self._here = await Worker(
            scheduler,
            name=name,
            nthreads=1,
            memory_limit=0,
            dashboard=False,
            resources={"pslab": 0},
            plugins=(self._plugin({name: tasks}),),
            security=self._options.security,
        )

    async def _start_nanny(self, scheduler: str, task: str) -> None:
        self._nannies[task] = await Nanny(
            scheduler,
            name=task,
            nthreads=1,
            host=self._options.host,
            memory_limit=0,
            dashboard=False,
            plugins=(self._plugin({task: (task,)}),),
            security=self._options.security,
        )

    async def _start_guests(self, scheduler: str) -> None:
        """Spread the tasks over the workers of a scheduler that is not ours."""
        self._client = await Client(scheduler, asynchronous=True, security=self._options.security, timeout=10)
        await self._spread()

    async def _spread(self) -> None:
        assert self._client is not None
        identity = await self._client.scheduler.identity(n_workers=-1)
        names = sorted(str(w["name"]) for w in identity["workers"].values() if not str(w["name"]).startswith("pslab-host-"))
        if not names:
            raise ResourceExhaustedError(f"the Dask scheduler at {self._options.address} has no workers", "start some: dask worker ADDRESS")
        hosts: dict[str, list[str]] = {name: [] for name in names}
        for number, task in enumerate(self.tasks):
            hosts[names[number % len(names)]].append(task)
        self._guests = {name: tuple(tasks) for name, tasks in hosts.items()}
        await self._client.register_plugin(self._plugin(self._guests), name=self._guest_plugin)

    @property
    def _guest_plugin(self) -> str:
        return f"pslab-{self._registry.address}"

    async def call(self, task: str, method: str, arguments: bytes) -> dict[str, Any]:
        """Call a method of a task.

        Raises:
            UnavailableError: the task's process is gone, or was lost meanwhile.
            NotFoundError: there is no such task.
        """
        entry = self._entry(task)
        try:
            return await self._registry.rpc(entry.worker).pslab_call(task=task, method=method, arguments=arguments)  # type: ignore[no-any-return]
        except (OSError, CommClosedError) as error:
            raise UnavailableError(f"{task} does not answer: {error}", "its process was lost; it will be started anew") from None

    def _entry(self, task: str) -> Entry:
        if task not in (CLIENT, *self.tasks):
            raise NotFoundError(f"there is no task {task!r}; there is {', '.join((*self.tasks, CLIENT))}")
        entry = self._registry.entries.get(task)
        if entry is None or (task in self._nannies and not psutil.pid_exists(entry.pid)):
            raise UnavailableError(f"{task} is not there now", "its process was lost; it will be started anew")
        return entry

    async def answers(self, task: str, within: float = ANSWER_S) -> bool:
        """Whether a task answers now, within some seconds."""
        try:
            entry = self._entry(task)
            async with asyncio.timeout(within):
                await self._registry.rpc(entry.worker).identity()
        except (OSError, CommClosedError, TimeoutError, UnavailableError):
            return False
        return True

    async def wait_for(self, task: str, timeout: float) -> None:
        """Wait until a task answers.

        Raises:
            DeadlineExceededError: it did not, in ``timeout`` seconds.
        """
        try:
            async with asyncio.timeout(timeout):
                await self._registry.wait_for((task,), timeout)
                while not await self.answers(task, LOOK_S):
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise DeadlineExceededError(f"{task} did not come back in {timeout:g} s") from None

    async def status(self) -> tuple[TaskStatus, ...]:
        """All tasks."""
        names = (*self.tasks, CLIENT)
        alive = await asyncio.gather(*(self.answers(name) for name in names))
        return tuple(_status(name, self._registry.entries[name], up) for name, up in zip(names, alive, strict=True))

    def kill(self, task: str) -> None:
        """End a task's process with SIGKILL.

        Raises:
            FailedPreconditionError: it has no process of its own here.
        """
        entry = self._entry(task)
        if task not in self._nannies:
            why = "tasks are threads of one process" if self._options.address is None else "its process belongs to another Dask cluster"
            raise FailedPreconditionError(f"cannot kill {task}: {why}" if task != CLIENT else "the client lives in the host process itself")
        os.kill(entry.pid, signal.SIGKILL)

    async def scale(self, ps: int, workers: int) -> None:
        """Start and retire tasks until there are so many; those with the highest numbers go."""
        before = self.tasks
        self._ps, self._workers = ps, workers
        gone, new = [t for t in before if t not in self.tasks], [t for t in self.tasks if t not in before]
        for task in gone:
            self._registry.forget(task)
        if self._options.address is not None:
            await self._client.unregister_worker_plugin(self._guest_plugin)  # type: ignore[union-attr]
            await self._spread()
        elif self._options.processes:
            assert self._scheduler is not None
            await asyncio.gather(*(self._nannies.pop(task).close(timeout=CLOSE_S) for task in gone))
            await asyncio.gather(*(self._start_nanny(self._scheduler.address, task) for task in new))
        else:
            assert self._here is not None
            where = self._here.scheduler.address
            await self._here.close(timeout=CLOSE_S, nanny=False)
            await self._start_here(where, (CLIENT, *self.tasks))
        await self._registry.wait_for((CLIENT, *self.tasks), START_S)

    async def close(self) -> None:
        """Take everything down."""
        if self._client is not None:
            await self._client.unregister_worker_plugin(self._guest_plugin)
            await self._client.close()
        closing = [nanny.close(timeout=CLOSE_S) for nanny in self._nannies.values()]
        if self._here is not None:
            closing.append(self._here.close(timeout=CLOSE_S, nanny=False))
        await asyncio.gather(*closing, return_exceptions=True)
        if self._scheduler is not None:
            await self._scheduler.close()
        await self._registry.close()


def _status(name: str, entry: Entry, alive: bool) -> TaskStatus:
    memory = 0
    if alive:
        try:
            memory = psutil.Process(entry.pid).memory_info().rss
        except psutil.Error:
            memory = 0  # on another machine
    return TaskStatus(name, "running" if alive else "lost", entry.pid, entry.host, entry.address, memory, entry.restarts)
