"""What a Dask worker needs to host a task."""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import traceback
from contextlib import AsyncExitStack
from typing import Any

import cloudpickle
from distributed.comm import connect
from distributed.comm.addressing import get_address_host
from distributed.comm.core import Comm
from distributed.core import Server, rpc
from distributed.diagnostics.plugin import WorkerPlugin
from distributed.threadpoolexecutor import ThreadPoolExecutor

from pslab.cluster.encryption import Encryption
from pslab.errors import PslabError, UnavailableError

CALLS = 64
"""Calls that a task can have under way; a pause or a stop may take its time."""
RESOLVE_S = 10.0


class TaskHost(WorkerPlugin):
    """Hosts a task on a worker: makes its service object, lets it be called, and tells the registry where it is.

    A nanny that starts its process anew runs it again, so that the task comes back under its name.

    Args:
        task: name of the task.
        service: ``"module:class"``.
        secret: what tasks prove to each other.
        registry: address of the `Registry`.
        encryption: of all connections.

    Attributes:
        name: of the plugin, and of the handler by which the task is called; no other cluster has the same.
    """

    def __init__(self, task: str, service: str, secret: bytes, registry: str, encryption: Encryption) -> None:
        self.name = handler_name(registry, task)
        self._task = task
        self._service_name = service
        self._secret = secret
        self._registry_address = registry
        self._encryption = encryption
        self._closing = AsyncExitStack()

    async def setup(self, worker: Server) -> None:
        """Start the task. Dask calls it by this argument's name."""
        gc.freeze()  # what was imported stays: a full collection, some 50 ms in the middle of a step, need not look at it again and again
        await self._start(worker)

    async def _start(self, worker: Server) -> None:
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(CALLS, thread_name_prefix=f"pslab call {self._task}")  # its threads keep no process alive
        self._registry = rpc(self._registry_address, connection_args=self._encryption.connecting)
        host = get_address_host(worker.address)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._registry.close_rpc)
            stack.callback(self._pool.shutdown, wait=False)
            self._service = await self._loop.run_in_executor(self._pool, self._make, host)
            stack.push_async_callback(asyncio.to_thread, self._service.close)
            worker.handlers[self.name] = self.call
            stack.callback(worker.handlers.pop, self.name)
            self._line = await self._announce(worker.address, host)
            stack.push_async_callback(self._line.close)
            self._closing = stack.pop_all()

    def _make(self, host: str) -> Any:
        module, _, attribute = self._service_name.partition(":")
        service = getattr(importlib.import_module(module), attribute)
        return service(self._task, host=host, secret=self._secret, resolve=self.resolve, ssl_contexts=self._encryption.contexts)

    async def _announce(self, worker: str, host: str) -> Comm:
        """Say where the task is, on a connection that stands as long as the task does; do what every task is to do."""
        line = await connect(self._registry_address, **self._encryption.connecting)
        message = {"op": "announce", "task": self._task, "address": self._service.address, "worker": worker, "pid": os.getpid(), "host": host}
        await line.write(message)
        for method, arguments in (await line.read()).items():
            await self.call(method, arguments)
        return line

    async def teardown(self, worker: Server) -> None:
        """End the task, if it was started."""
        await self._closing.aclose()

    def resolve(self, task: str) -> str:
        """The address of a task's server, asked of the registry; from any thread but the event loop's.

        Raises:
            UnavailableError: the task is not there, or the registry is not.
        """
        future = asyncio.run_coroutine_threadsafe(self._registry.resolve(task=task), self._loop)
        try:
            address = future.result(RESOLVE_S)
        except (OSError, TimeoutError) as error:
            raise UnavailableError(f"cannot ask where {task} is: {error}", "has the cluster been stopped?") from None
        if address is None:
            raise UnavailableError(f"there is no {task} now", "is it being started anew?")
        return str(address)

    async def call(self, method: str, arguments: bytes) -> dict[str, bytes]:
        """Call a method of the task's service in a thread; what it returns or raises comes back pickled."""
        return await self._loop.run_in_executor(self._pool, self._call, method, arguments)

    def _call(self, method: str, arguments: bytes) -> dict[str, bytes]:
        try:
            return {"value": cloudpickle.dumps(getattr(self._service, method)(**cloudpickle.loads(arguments)))}
        except Exception as error:
            if not isinstance(error, PslabError):  # whose message says it all
                error.add_note(f"In {self._task}:\n{''.join(traceback.format_tb(error.__traceback__))}")
            return {"error": _portable(error)}


class GuestHost(TaskHost):
    """Hosts a task on a worker of somebody else's Dask cluster, if the registry gives it to that worker; ends it when the registry is gone."""

    async def setup(self, worker: Server) -> None:
        """Start the task, if it is to be here."""
        async with rpc(self._registry_address, connection_args=self._encryption.connecting) as registry:
            mine = await registry.claim(task=self._task, worker=str(worker.name))
        if mine:
            await self._start(worker)
            self._following = asyncio.create_task(self._follow())  # kept: the event loop itself would let it be collected

    async def _follow(self) -> None:
        try:
            await self._line.read()
        except OSError:
            await self._closing.aclose()


def handler_name(registry: str, task: str) -> str:
    """Name of the handler by which a task of a cluster is called."""
    return f"pslab {registry} {task}"


def _portable(error: Exception) -> bytes:
    try:
        data: bytes = cloudpickle.dumps(error)
        cloudpickle.loads(data)
    except Exception:
        data = cloudpickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return data
