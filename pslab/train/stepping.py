"""A training one message at a time: what waits at the gates of the ps, and what happens when it is let in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic, sleep

import numpy as np

from pslab.errors import DeadlineExceededError, FailedPreconditionError, UsageError
from pslab.train.homecoming import FIRST_PS
from pslab.train.job import CLIENT, Job
from pslab.train.order_service import AtGate
from pslab.train.tasks import Tasks

LOOK_S = 0.005
"""Seconds between two looks at the gates."""


@dataclass(frozen=True)
class Message:
    """Something that waits at a gate.

    Attributes:
        ps: whose gate.
        worker: who sent it.
        what: ``"commit"``, or ``"read"``.
    """

    ps: str
    worker: int
    what: str

    def __str__(self) -> str:
        return f"{self.what} of worker:{self.worker} at {self.ps}"


@dataclass(frozen=True)
class Passage:
    """What happened when a message was let in.

    Attributes:
        message: the message.
        read: how many updates the ps had made when the worker read its parameters; None of a read, or where contributions are gathered.
        staleness: updates that others made since; None likewise.
        updates: how many the ps has made now.
        global_step: how many were made of the model.
        waiting: what waits now.
        held: workers that wait for slower ones.
    """

    message: Message
    read: int | None
    staleness: int | None
    updates: int
    global_step: int
    waiting: tuple[Message, ...]
    held: tuple[int, ...]

    def __str__(self) -> str:
        read = "" if self.read is None else f", computed at version {self.read}, {self.staleness} stale"
        held = "".join(f"; worker:{worker} waits for slower ones" for worker in self.held)
        waiting = ", ".join(map(str, self.waiting)) or "nothing"
        return f"{self.message}{read}: version {self.updates} now, global step {self.global_step}; waiting: {waiting}{held}"


class Passages(tuple[Passage, ...]):
    """What happened, message after message; a line each."""

    def __repr__(self) -> str:
        return "\n".join(map(str, self))


class Stepper:
    """Lets messages in, one by one.

    Args:
        cluster: the tasks.
        job: the epoch whose gates they are.
        timeout: seconds that a message may take to come, or to get through.
    """

    def __init__(self, cluster: Tasks, job: Job, timeout: float = 60.0) -> None:
        self._cluster = cluster
        self._gathered = job.strategy.gathered
        self._epoch_id = job.epoch_id
        self._timeout = timeout

    def messages(self) -> tuple[Message, ...]:
        """What waits, by ps and in the order of arrival."""
        return tuple(Message(ps, worker, what) for ps, gate in self._gates().items() for worker, what in gate.waiting.items())

    def advance(self, worker: int | None = None) -> Passage:
        """Let one message in: the first that waits, or the first of ``worker``.

        Raises:
            UsageError: there is no such worker.
            FailedPreconditionError: none of that worker can come: it waits for slower ones, or is out of data.
            DeadlineExceededError: none came.
        """
        if worker is not None and not 0 <= worker < self._cluster.workers:
            raise UsageError(f"there is no worker {worker}; they are numbered from 0 to {self._cluster.workers - 1}")
        self._until(lambda: self._waiting(worker) or self._held(worker) or self._out(worker), "a message")
        if not (waiting := self._waiting(worker)):
            if self._out(worker):
                raise FailedPreconditionError("no message can come: out of data", "lab.data(passes=…) with more passes begins anew")
            raise FailedPreconditionError(f"worker:{worker} waits for slower ones", "let another worker's message in first")
        message = waiting[0]
        before, passed = self._order(message.ps), self._gate(message.ps).passed
        self._cluster.call(message.ps, "admit", epoch_id=self._epoch_id, workers=[message.worker])
        self._until(lambda: self._gate(message.ps).passed > passed, "its way through the gate")
        return self._told(message, before, self._order(message.ps))

    def _told(self, message: Message, before: np.ndarray, after: np.ndarray) -> Passage:
        mine = np.flatnonzero(before == ~message.worker)
        applied = not self._gathered and len(after) > len(before) and bool((after[len(before) :] == message.worker).any())
        read = int((before[: mine[-1]] >= 0).sum()) if applied and len(mine) else None
        made = int((before >= 0).sum())
        gates = self._gates()
        return Passage(
            message,
            read,
            None if read is None else made - read,
            gates[message.ps].updates,
            self._cluster.call(FIRST_PS, "progress").global_step,
            self.messages(),
            gates[FIRST_PS].held,
        )

    def _waiting(self, worker: int | None) -> list[Message]:
        return [m for m in self.messages() if worker is None or m.worker == worker]

    def _held(self, worker: int | None) -> bool:
        return worker is not None and any(worker in gate.held for gate in self._gates().values())

    def _out(self, worker: int | None) -> bool:
        """Whether a worker, or everybody, is out of data."""
        workers = range(self._cluster.workers) if worker is None else [worker]
        found = self._cluster.call_all("loops", tasks=[*(f"worker:{w}" for w in range(self._cluster.workers)), CLIENT])
        out = {place.worker for loops in found.values() for loop in loops for place in loop.places if place.out}
        return out.issuperset(workers)

    def _order(self, ps: str) -> np.ndarray:
        return self._cluster.call(ps, "ledger", epoch_id=self._epoch_id)  # type: ignore[no-any-return]

    def _gate(self, ps: str) -> AtGate:
        return self._cluster.call(ps, "gate", epoch_id=self._epoch_id)  # type: ignore[no-any-return]

    def _gates(self) -> dict[str, AtGate]:
        return {f"ps:{i}": self._gate(f"ps:{i}") for i in range(self._cluster.ps)}

    def _until(self, true: Callable[[], object], what: str) -> None:
        deadline = monotonic() + self._timeout
        while not true():
            if monotonic() > deadline:
                raise DeadlineExceededError(f"{what} did not come in {self._timeout:g} s")
            sleep(LOOK_S)
