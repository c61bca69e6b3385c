"""What a Dask worker needs to host tasks."""

from __future__ import annotations

import asyncio
import importlib
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cloudpickle
from distributed import Worker
from distributed.core import rpc
from distributed.diagnostics.plugin import WorkerPlugin

from pslab.errors import NotFoundError, UnavailableError

CALLS = 64
"""Calls that a process can have under way; a pause or a stop may take its time."""
RESOLVE_S = 10.0


class TaskHost(WorkerPlugin):
    """Hosts tasks on a worker: makes their service objects, tells the registry where they are, and lets them be called.

    A nanny that starts its process anew runs it again, so that the tasks come back under their names.

    Args:
        tasks: the tasks by the name of the worker that hosts them.
        service: ``"module:class"``.
        secret: what tasks prove to each other.
        registry: address of the `Registry`.
    """

    name = "pslab"

    def __init__(self, tasks: dict[str, tuple[str, ...]], service: str, secret: bytes, registry: str, security: Any = None) -> None:
        self._tasks = tasks
        self._service = service
        self._secret = secret
        self._registry = registry
        self._security = security

    async def setup(self, worker: Worker) -> None:
        """Start the tasks of this worker. Dask calls it by this argument's name."""
        self._loop = asyncio.get_running_loop()
        self._connection = rpc(self._registry, **(self._security.get_connection_args("worker") if self._security else {}))
        self._pool = ThreadPoolExecutor(CALLS, thread_name_prefix="pslab call")
        self._services: dict[str, Any] = {}
        names = self._tasks.get(str(worker.name), ())
        if not names:
            return
        module, _, attribute = self._service.partition(":")
        make = getattr(importlib.import_module(module), attribute)
        ip = worker.ip
        for name in names:
            self._services[name] = make(name, host=ip, secret=self._secret, resolve=self.resolve)
        worker.handlers["pslab_call"] = self.call
        await self._connection.announce(
            tasks={name: service.address for name, service in self._services.items()}, worker=worker.address, pid=os.getpid(), host=ip
        )

    async def teardown(self, worker: Worker) -> None:
        """End the tasks."""
        await asyncio.get_running_loop().run_in_executor(None, self._close)
        await self._connection.close_rpc()

    def _close(self) -> None:
        for service in self._services.values():
            service.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def resolve(self, task: str) -> str:
        """The address of a task's server, asked of the registry; from any thread but the event loop's.

        Raises:
            UnavailableError: the task is not there, or the registry is not.
        """
        future = asyncio.run_coroutine_threadsafe(self._connection.resolve(task=task), self._loop)
        try:
            address = future.result(RESOLVE_S)
        except (OSError, TimeoutError) as error:
            raise UnavailableError(f"cannot ask where {task} is: {error}", "has the cluster been stopped?") from None
        if address is None:
            raise UnavailableError(f"there is no {task} now", "is it being started anew?")
        return str(address)

    async def call(self, task: str, method: str, arguments: bytes) -> dict[str, Any]:
        """Call a method of a task's service in a thread; what it returns or raises comes back pickled."""
        return await self._loop.run_in_executor(self._pool, self._call, task, method, arguments)

    def _call(self, task: str, method: str, arguments: bytes) -> dict[str, Any]:
        try:
            service = self._services.get(task)
            if service is None:
                raise NotFoundError(f"this process hosts {', '.join(self._services)}, not {task}")
            return {"value": cloudpickle.dumps(getattr(service, method)(**cloudpickle.loads(arguments)))}
        except Exception as error:
            return {"error": _portable(error)}


def _portable(error: Exception) -> bytes:
    try:
        data: bytes = cloudpickle.dumps(error)
        cloudpickle.loads(data)
    except Exception:
        data = cloudpickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return data
