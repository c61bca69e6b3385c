"""One run of a step, as its master sees it: the link to the other tasks that take part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pslab.errors import DeadlineExceededError, InternalError
from pslab.graph.plan import Cut, Partition
from pslab.runtime.connections import Connection
from pslab.runtime.deadline import Deadline
from pslab.runtime.driver import Link, PhaseTimes
from pslab.runtime.failure import unpack_error
from pslab.runtime.rendezvous import POLL_S
from pslab.runtime.tally import Tally, is_weighed
from pslab.runtime.tracing import Span, unpack_spans
from pslab.runtime.transport import Kind, Message

Arrays = tuple[Any, ...]

TRACED = b"traced"
"""The body of a `Kind.STEP` message for a part whose ops are to be measured one by one; its answer then has the spans."""


class PartResult(NamedTuple):
    """What a task's part of a step gave: fetched arrays, where its time went, and its ops one by one if the step was traced."""

    values: Arrays
    times: PhaseTimes
    spans: Sequence[Span] = ()


class StepRun(Link):
    """Starts the other tasks' parts, exchanges cuts with them, and collects what they return.

    Args:
        plan: id of the plan.
        number: number of this run among the plan's.
        parts: the other tasks' partitions.
        connections: one per part.
        fed: the values fed to each part.
        deadline: when the run is given up.
        tally: what weighs the tensors that are sent.
        traced: whether the parts' ops are measured one by one.

    Attributes:
        bytes_answered: bytes on the wire of the answers that end the parts, which bring the fetched values.
    """

    def __init__(
        self,
        plan: int,
        number: int,
        parts: Mapping[str, Partition],
        connections: Mapping[str, Connection],
        fed: Mapping[str, Arrays],
        deadline: Deadline,
        tally: Tally,
        traced: bool = False,
    ) -> None:
        self._plan = plan
        self._number = number
        self._parts = parts
        self._connections = connections
        self._fed = fed
        self._deadline = deadline
        self._order = TRACED if traced else b""
        self._tally = tally if is_weighed(number) else None
        self._patient = not deadline.given and len(parts) == 1  # nothing else to look at while it waits
        self._arrived: dict[int, tuple[Arrays, int]] = {}
        self._done: dict[str, PartResult] = {}
        self.bytes_answered = 0

    def begin(self) -> None:
        """Start the parts whose start does not ride in a cut."""
        for name, part in self._parts.items():
            if part.rides is None:
                self._start(name, ())

    def _start(self, task: str, arrays: Arrays) -> int:
        fed = self._fed[task]
        size = self._send(task, Message(Kind.STEP, plan=self._plan, step=self._number, body=self._order, arrays=(*fed, *arrays)))
        return size - sum(int(a.nbytes) for a in fed)

    def _send(self, task: str, message: Message) -> int:
        return self._connections[task].channel.send(message)

    def send(self, cut: Cut, arrays: Arrays) -> int:
        """Send a cut; where a part's start rides in it, start the part."""
        task = cut.destination
        if self._tally is not None:
            self._tally.weigh(task, cut.tensors, arrays)
        rides = self._parts[task].rides
        if rides is not None and rides.index == cut.index:
            return self._start(task, arrays)
        return self._send(task, Message(Kind.TENSORS, plan=self._plan, step=self._number, cut=cut.index, arrays=arrays))

    def recv(self, cut: Cut) -> tuple[Arrays, int]:
        """Wait for a cut; others that come first are kept."""
        while cut.index not in self._arrived:
            self._receive(cut.source)
        return self._arrived.pop(cut.index)

    def alive(self) -> bool:
        """Always: the master wants its own step. Its connections tell when it no longer can be had.

        Raises:
            DeadlineExceededError: the time is over.
        """
        self._deadline.check("this task")
        return all(c.channel.alive() for c in self._connections.values())

    def collect(self) -> dict[str, PartResult]:
        """Wait until all parts are done; returns what each gave."""
        for task in self._parts:
            while task not in self._done:
                self._receive(task)
        return self._done

    def _receive(self, task: str) -> None:
        channel = self._connections[task].channel
        if self._patient:
            self._sort(task, channel.recv())
            return
        try:
            self._sort(task, channel.recv(timeout=POLL_S))
        except DeadlineExceededError:
            self._look_around()

    def _look_around(self) -> None:
        """While one task keeps us waiting, another may have failed."""
        self._deadline.check(", ".join(t for t in self._parts if t not in self._done))
        for task, connection in self._connections.items():
            if task not in self._done:
                try:
                    self._sort(task, connection.channel.recv(timeout=0))
                except DeadlineExceededError:
                    continue

    def _sort(self, task: str, message: Message) -> None:
        if message.kind == Kind.FAILED:
            raise unpack_error(message.body)
        if (message.plan, message.step) != (self._plan, self._number):
            raise InternalError(f"{task} answered step {message.step} of plan {message.plan}, not step {self._number} of plan {self._plan}")
        if message.kind == Kind.TENSORS:
            self._arrived[message.cut] = message.arrays, message.size
        elif message.kind == Kind.DONE:
            self._done[task] = PartResult(message.arrays, PhaseTimes(*message.fields), unpack_spans(message.body))
            self.bytes_answered += message.size
        else:
            raise InternalError(f"{task} sent {message.kind!r} in the middle of a step")
