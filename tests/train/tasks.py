"""Tasks without a cluster around them: the services of one training, in this process, over real sockets."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any, Self

from pslab.errors import UnavailableError
from pslab.train.service import TaskService

SECRET = b"a secret of the tests"


class LocalTasks:
    """What a `Trainer` needs of a cluster (`pslab.train.crew.Tasks`), with nothing that hosts it."""

    def __init__(self, ps: int = 1, workers: int = 2) -> None:
        self.ps, self.workers = ps, workers
        self.services: dict[str, TaskService] = {}
        for name in self._names():
            self.start(name)
        self._pool = ThreadPoolExecutor(16)

    def _names(self) -> list[str]:
        return [*(f"ps:{i}" for i in range(self.ps)), *(f"worker:{i}" for i in range(self.workers)), "client:0"]

    def start(self, name: str) -> None:
        self.services[name] = TaskService(name, host="127.0.0.1", secret=SECRET, resolve=self._resolve)

    def _resolve(self, name: str) -> str:
        if name not in self.services:
            raise UnavailableError(f"there is no {name} now")
        return self.services[name].address

    def call(self, task: str, method: str, /, **arguments: Any) -> Any:
        service = self.services.get(task)
        if service is None:
            raise UnavailableError(f"there is no {task} now")
        return getattr(service, method)(**arguments)

    def call_all(self, method: str, /, tasks: Sequence[str] | None = None, **arguments: Any) -> dict[str, Any]:
        names = self._names() if tasks is None else list(tasks)
        calls = {n: self._pool.submit(self.call, n, method, **arguments) for n in names}
        return {n: call.result() for n, call in calls.items()}

    def wait_for(self, task: str, timeout: float) -> None:
        deadline = monotonic() + timeout
        while task not in self.services:
            assert monotonic() < deadline
            threading.Event().wait(0.01)

    def scale(self, ps: int, workers: int) -> None:
        old, (self.ps, self.workers) = self._names(), (ps, workers)
        for name in self._names():
            if name not in old:
                self.start(name)
        for name in old:
            if name not in self._names():
                self.services.pop(name).close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown()
        for service in self.services.values():
            service.close()
