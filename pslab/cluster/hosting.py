"""Hosting a cluster: the registry, the places of its tasks, and the way to call them."""

from __future__ import annotations

import asyncio
from typing import Any

import dask
import psutil
from distributed.comm.addressing import get_address_host
from distributed.utils import get_ip

from pslab.cluster.encryption import Encryption
from pslab.cluster.options import CLIENT, HostOptions, task_names
from pslab.cluster.places import Guests, Place, Processes, Threads
from pslab.cluster.plugin import GuestHost, TaskHost, handler_name
from pslab.cluster.registry import Entry, Registry
from pslab.cluster.status import TaskStatus
from pslab.errors import DeadlineExceededError, FailedPreconditionError, NotFoundError, UnavailableError, UsageError

ANSWER_S = 2.0
"""Seconds in which a task that lives answers."""
START_S = 60.0

_DASK = {
    "distributed.worker.multiprocessing-method": "forkserver",
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
        self._tasks: tuple[str, ...] = ()
        self._encryption = Encryption(options.security)
        self._registry = Registry(connection_args=self._encryption.connecting)
        self._here = Threads(self._registry, self._host_of)
        self._place = self._choose()

    def _choose(self) -> Place:
        options = self._options
        if options.address is not None:
            return Guests(options.address, self._encryption, self._registry, self._guest_of)
        return Processes(options.host, self._encryption, self._host_of) if options.processes else self._here

    def _host_of(self, task: str) -> TaskHost:
        return TaskHost(task, self._options.service, self._options.secret, self._registry.address, self._encryption)

    def _guest_of(self, task: str) -> GuestHost:
        return GuestHost(task, self._options.service, self._options.secret, self._registry.address, self._encryption)

    async def start(self) -> str:
        """Bring everything up; returns the scheduler's address.

        Raises:
            PslabError: it could not be brought up.
        """
        options = self._options
        dask.config.set(_DASK)
        host = options.host if options.address is None else _reachable_from(options.address)
        await self._registry
        try:
            await self._registry.listen(f"{self._encryption.protocol}://{host}:0", **self._encryption.listening)
        except OSError as error:
            raise UnavailableError(f"cannot listen on {host}: {error}", "host must be an address of this machine") from None
        scheduler = await self._place.open()
        await asyncio.gather(self._here.begin(CLIENT), self._begin(options.tasks))
        return scheduler

    async def _begin(self, tasks: tuple[str, ...]) -> None:
        begun = await asyncio.gather(*(self._place.begin(task) for task in tasks), return_exceptions=True)
        for failure in begun:
            if failure is not None:
                raise failure
        try:
            async with asyncio.timeout(START_S):
                await self._registry.present(tasks)
        except TimeoutError:
            raise DeadlineExceededError(f"not there after {START_S:g} s: {', '.join(self._registry.missing(tasks))}") from None
        self._tasks = (*self._tasks, *tasks)

    async def scale(self, ps: int, workers: int) -> None:
        """Start and retire tasks until there are so many; those with the highest numbers go. If one cannot be started, all is as it was.

        Raises:
            PslabError: a task could not be started.
        """
        wanted = task_names(ps, workers)
        new, surplus = [t for t in wanted if t not in self._tasks], [t for t in self._tasks if t not in wanted]
        try:
            await self._begin(tuple(new))
        except BaseException:
            await asyncio.gather(*(self._end(task) for task in new), return_exceptions=True)
            raise
        self._tasks = wanted
        await asyncio.gather(*(self._end(task) for task in surplus))

    async def _end(self, task: str) -> None:
        self._registry.forget(task)
        await self._place.end(task)

    async def call(self, task: str, method: str, arguments: bytes) -> dict[str, bytes]:
        """Call a method of a task.

        Raises:
            UnavailableError: the task's process is gone, or was lost meanwhile.
            NotFoundError: there is no such task.
        """
        entry = self._entry(task)
        try:
            answer: dict[str, bytes] | None = await getattr(self._registry.rpc(entry.worker), handler_name(self._registry.address, task))(
                method=method, arguments=arguments
            )
        except OSError:
            raise UnavailableError(f"{task} is not answering: it was lost before {method} was done", "it will be started anew") from None
        if answer is None:  # its worker lives, and knows it no more
            raise UnavailableError(f"{task} was retired")
        return answer

    async def stand(self, method: str, arguments: bytes) -> None:
        """Have every task that comes from now on called for a method."""
        self._registry.standing[method] = arguments

    def _entry(self, task: str) -> Entry:
        self._check(task)
        entry = self._registry.entries.get(task)
        if entry is None or entry.lost:
            raise UnavailableError(f"{task} is not there now", "its process was lost; it will be started anew")
        return entry

    def _check(self, task: str) -> None:
        names = (*self._tasks, CLIENT)
        if task not in names:
            raise NotFoundError(f"there is no task {task!r}; there is {', '.join(names)}")

    async def wait_for(self, task: str, timeout: float) -> None:
        """Wait until a task is there and answers.

        Raises:
            DeadlineExceededError: it did not, in ``timeout`` seconds.
            NotFoundError: there is no such task.
        """
        self._check(task)
        try:
            async with asyncio.timeout(timeout):
                await self._answering(task)
        except TimeoutError:
            raise DeadlineExceededError(f"{task} did not answer in {timeout:g} s") from None

    async def _answering(self, task: str) -> None:
        while True:
            await self._registry.present((task,))
            entry = self._registry.entries[task]
            try:
                await self._ping(entry)
            except OSError:
                await self._registry.lost(task, entry)  # which it will learn in a moment
            else:
                return

    async def _ping(self, entry: Entry) -> None:
        await self._registry.rpc(entry.worker).identity()

    async def status(self) -> tuple[TaskStatus, ...]:
        """All tasks."""
        return tuple(await asyncio.gather(*(self._status(name) for name in (*self._tasks, CLIENT))))

    async def _status(self, name: str) -> TaskStatus:
        entry = self._registry.entries.get(name)
        if entry is None:
            return TaskStatus(name, "starting", 0, "", "", 0, 0)
        state = "lost" if entry.lost else "running" if await self._answers(entry) else "silent"
        return TaskStatus(name, state, entry.pid, entry.host, entry.address, 0 if entry.lost else _memory(entry.pid), entry.restarts)

    async def _answers(self, entry: Entry) -> bool:
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._ping(entry)
        except (OSError, TimeoutError):
            return False
        return True

    async def kill(self, task: str) -> None:
        """End a task's process with SIGKILL, and wait until it is gone.

        Raises:
            FailedPreconditionError: it has no process of its own here.
        """
        entry = self._entry(task)
        if task == CLIENT:
            raise FailedPreconditionError(f"cannot kill {CLIENT}: the client lives in the host process itself")
        self._place.kill(task)
        await self._registry.lost(task, entry)

    async def close(self) -> None:
        """Take everything down."""
        places: tuple[Any, ...] = (self._place, self._here)
        await asyncio.gather(*(place.close() for place in dict.fromkeys(places)))
        await self._registry.close()


def _reachable_from(scheduler: str) -> str:
    """The address of this machine that the machine of a scheduler can reach."""
    try:
        return str(get_ip(get_address_host(scheduler)))
    except ValueError as error:
        raise UsageError(f"{scheduler!r} is no address of a Dask scheduler: {error}", "such as tcp://127.0.0.1:8786") from None


def _memory(pid: int) -> int:
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0  # on another machine
