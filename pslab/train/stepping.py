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
from pslab.train.race import APPLIED, DROPPED, GATHERED, Message, Moment, Race, RaceBook
from pslab.train.tasks import Tasks

LOOK_S = 0.005
"""Seconds between two looks at the gates."""


@dataclass(frozen=True)
class Passage:
    """What happened when a message was let in.

    Attributes:
        message: the message.
        read: how many updates the ps had made when the worker read its parameters; None of a read.
        staleness: updates that others made since; None likewise.
        updates: how many the ps has made now.
        global_step: how many were made of the model.
        waiting: what waits now.
        held: workers that wait for slower ones.
        outcome: what became of it: ``"applied"``, ``"gathered"`` for an update of several, or ``"dropped"`` as stale; ``""`` of a read.
    """

    message: Message
    read: int | None
    staleness: int | None
    updates: int
    global_step: int
    waiting: tuple[Message, ...]
    held: tuple[int, ...]
    outcome: str = ""

    def __str__(self) -> str:
        fate = f", {self.outcome}" if self.outcome in (GATHERED, DROPPED) else ""
        read = "" if self.read is None else f", computed at version {self.read}, {self.staleness} stale{fate}"
        held = "".join(f"; worker:{worker} waits for slower ones" for worker in self.held)
        waiting = ", ".join(map(str, self.waiting)) or "nothing"
        return f"{self.message}{read}: version {self.updates} now, global step {self.global_step}; waiting: {waiting}{held}"


class Passages(tuple[Passage, ...]):
    """What happened, message after message; a line each."""

    def __repr__(self) -> str:
        return "\n".join(map(str, self))


class Stepper:
    """Lets messages in, one by one, and keeps the book of what they did.

    Args:
        cluster: the tasks.
        job: of the epoch whose gates they are.
        timeout: seconds that a message may take to come, or to get through.

    Attributes:
        epoch_id: of that epoch.
    """

    def __init__(self, cluster: Tasks, job: Job, timeout: float = 60.0) -> None:
        self._cluster = cluster
        self.epoch_id = job.epoch_id
        self._timeout = timeout
        self._book = RaceBook(job.strategy, job.ps, job.workers, job.first_step)

    def messages(self) -> tuple[Message, ...]:
        """What waits, by ps and in the order of arrival."""
        return self._look().waiting

    def race(self) -> Race:
        """What has happened until now, and what waits."""
        self._look()
        return self.seen

    @property
    def seen(self) -> Race:
        """The same as it was when it was looked at last; asks no task."""
        return self._book.race()

    def advance(self, worker: int | None = None, ps: int | None = None) -> Passage:
        """Let one message in: the first that waits, or the first of ``worker``, or at ``ps``.

        Raises:
            UsageError: there is no such worker, or ps.
            FailedPreconditionError: none of that worker can come: it waits for others, or is out of data.
            DeadlineExceededError: none came.
        """
        for number, kind, most in ((worker, "worker", self._cluster.workers), (ps, "ps", self._cluster.ps)):
            if number is not None and not 0 <= number < most:
                raise UsageError(f"there is no {kind} {number}; they are numbered from 0 to {most - 1}")
        self._until(lambda: self._waiting(worker, ps) or self._book.stands(worker) or self._out(worker), "a message")
        if not (waiting := self._waiting(worker, ps)):
            if self._out(worker):
                raise FailedPreconditionError("no message can come: out of data", "lab.data(passes=…) with more passes begins anew")
            others = "slower ones" if worker in self._book.now.held else "the update that it is part of"
            raise FailedPreconditionError(f"worker:{worker} waits for {others}", "let another worker's message in first")
        message = waiting[0]
        passed = self._gate(message.ps).passed
        self._book.let_in(message)
        self._cluster.call(message.ps, "admit", epoch_id=self.epoch_id, workers=[message.worker])
        self._until(lambda: self._gate(message.ps).passed > passed, "its way through the gate")
        self._until(lambda: (self._look(), not self._book.due)[1], "the update")
        return self._told(message)

    def measured(self, loss: float, norm: float) -> None:
        """Enter what was measured of the parameters as they are now."""
        self._book.measured(loss, norm)

    def _told(self, message: Message) -> Passage:
        now, brought = self._book.now, self._book.brought()
        version = self._book.version(message.ps)
        if brought is None:
            return Passage(message, None, None, version, now.global_step, now.waiting, now.held)
        assert brought.staleness is not None
        at = brought.version - (brought.what == APPLIED)
        return Passage(message, at - brought.staleness, brought.staleness, version, now.global_step, now.waiting, now.held, brought.what)

    def _waiting(self, worker: int | None, ps: int | None) -> list[Message]:
        return [m for m in self.messages() if worker in (None, m.worker) and (ps is None or m.ps == f"ps:{ps}")]

    def _look(self) -> Moment:
        gates = {ps: self._gate(ps) for ps in (f"ps:{i}" for i in range(self._cluster.ps))}
        orders = {} if self._book.strategy.gathered else {ps: self._order(ps) for ps in gates}
        self._book.see(gates, orders, self._cluster.call(FIRST_PS, "progress").global_step)
        return self._book.now

    def _out(self, worker: int | None) -> bool:
        """Whether a worker, or everybody, is out of data."""
        workers = range(self._cluster.workers) if worker is None else [worker]
        found = self._cluster.call_all("loops", tasks=[*(f"worker:{w}" for w in range(self._cluster.workers)), CLIENT])
        out = {place.worker for loops in found.values() for loop in loops for place in loop.places if place.out}
        return out.issuperset(workers)

    def _order(self, ps: str) -> np.ndarray:
        return self._cluster.call(ps, "ledger", epoch_id=self.epoch_id)  # type: ignore[no-any-return]

    def _gate(self, ps: str) -> AtGate:
        return self._cluster.call(ps, "gate", epoch_id=self.epoch_id)  # type: ignore[no-any-return]

    def _until(self, true: Callable[[], object], what: str) -> None:
        deadline = monotonic() + self._timeout
        while not true():
            if monotonic() > deadline:
                raise DeadlineExceededError(f"{what} did not come in {self._timeout:g} s")
            sleep(LOOK_S)
