"""Who is where: the tasks tell it, the tasks ask it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from distributed.comm.core import Comm, CommClosedError
from distributed.core import Server, Status


@dataclass(frozen=True)
class Entry:
    """Where a task is.

    Attributes:
        address: its server, on the data plane.
        worker: the Dask server that it can be called through.
        pid: its process.
        host: its machine.
        restarts: how often it was announced again.
        lost: whether it is gone since.
    """

    address: str
    worker: str
    pid: int
    host: str
    restarts: int = 0
    lost: bool = False


class Registry(Server):
    """A Dask RPC server that knows where each task is now.

    A task is there as long as the connection stands on which it announced itself: when its process dies, the registry knows at once, on whatever worker it
    was. One that comes back announces itself again; nobody remembers addresses.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(handlers={"announce": self.announce, "resolve": self.resolve, "claim": self.claim}, **kwargs)
        self.entries: dict[str, Entry] = {}
        self.guests: dict[str, str] = {}
        """For tasks on workers that are not ours: the name of the worker."""
        self.standing: dict[str, bytes] = {}
        """What every task is to be called for when it comes: packed arguments by method."""
        self._announced: Counter[str] = Counter()
        self._changed = asyncio.Condition()

    async def announce(self, comm: Comm, task: str, address: str, worker: str, pid: int, host: str) -> Status:
        """Note where a task is, until the connection ends; it is answered with what stands for every task."""
        entry = Entry(address, worker, pid, host, restarts=self._announced[task])
        self._announced[task] += 1
        await self._note(task, entry)
        with suppress(CommClosedError):  # which is how it ends
            await comm.write(self.standing)
            await comm.read()
        if self.entries.get(task) is entry:
            await self._note(task, replace(entry, lost=True))
        return Status.dont_reply

    async def _note(self, task: str, entry: Entry) -> None:
        async with self._changed:
            self.entries[task] = entry
            self._changed.notify_all()

    def resolve(self, task: str) -> str | None:
        """The address of a task's server, or None if it is not there now."""
        entry = self.entries.get(task)
        return None if entry is None or entry.lost else entry.address

    def claim(self, task: str, worker: str) -> bool:
        """Whether a worker that is not ours is to host a task: the one it was given to, or a new one if that was lost."""
        entry = self.entries.get(task)
        if entry is not None and entry.lost and self.guests[task] != worker:
            self.guests[task] = worker
            del self.entries[task]  # it is not lost any more: no other new worker gets it too
        return self.guests.get(task) == worker

    def forget(self, task: str) -> None:
        """A task was retired."""
        for known in (self.entries, self.guests, self._announced):
            known.pop(task, None)

    def missing(self, tasks: Iterable[str]) -> list[str]:
        """Those of ``tasks`` that are not there now."""
        return [task for task in tasks if self.resolve(task) is None]

    async def present(self, tasks: Sequence[str]) -> None:
        """Wait until all of ``tasks`` are there."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self.missing(tasks))

    async def lost(self, task: str, entry: Entry) -> None:
        """Wait until a task is no longer where it was."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.entries.get(task) is not entry)
