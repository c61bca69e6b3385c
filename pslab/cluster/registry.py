"""Who is where: the tasks tell it, the tasks ask it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from distributed.core import Server

from pslab.errors import DeadlineExceededError


@dataclass(frozen=True)
class Entry:
    """Where a task is.

    Attributes:
        address: its server, on the data plane.
        worker: the Dask worker that hosts it.
        pid: its process.
        host: its machine.
        restarts: how often it was announced again.
    """

    address: str
    worker: str
    pid: int
    host: str
    restarts: int = 0


class Registry(Server):
    """A Dask RPC server that knows where each task is now.

    A task that comes back after a crash announces itself again; nobody remembers addresses.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(handlers={"announce": self.announce, "resolve": self.resolve}, **kwargs)
        self.entries: dict[str, Entry] = {}
        self._changed = asyncio.Condition()

    async def announce(self, tasks: dict[str, str], worker: str, pid: int, host: str) -> None:
        """Note where tasks are."""
        async with self._changed:
            for name, address in tasks.items():
                entry = Entry(address, worker, pid, host)
                before = self.entries.get(name)
                self.entries[name] = entry if before is None else replace(entry, restarts=before.restarts + 1)
            self._changed.notify_all()

    def resolve(self, task: str) -> str | None:
        """The address of a task's server, or None."""
        entry = self.entries.get(task)
        return None if entry is None else entry.address

    def forget(self, task: str) -> None:
        """A task was retired."""
        self.entries.pop(task, None)

    async def wait_for(self, tasks: tuple[str, ...], timeout: float) -> None:
        """Wait until all of ``tasks`` were announced.

        Raises:
            DeadlineExceededError: some were not, in ``timeout`` seconds.
        """
        try:
            async with asyncio.timeout(timeout), self._changed:
                await self._changed.wait_for(lambda: all(t in self.entries for t in tasks))
        except TimeoutError:
            missing = ", ".join(t for t in tasks if t not in self.entries)
            raise DeadlineExceededError(f"not started in {timeout:g} s: {missing}") from None
