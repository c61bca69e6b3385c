"""What a task can be asked about all that decides a race, and told of it: who has read what, whose turn it is, and where random sequences are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pslab.execution.arrays import host_array
from pslab.graph.ops.random import GENERATORS, generator_at, generator_state
from pslab.runtime.task_server import TaskServer
from pslab.sync.gate_ops import GATES, gate_of
from pslab.sync.last_read_ops import last_reads_of
from pslab.sync.ledger_ops import LEDGERS, ledger_of
from pslab.sync.ops import ACCUMULATORS
from pslab.sync.pacing_ops import CLOCKS
from pslab.train.epoch_names import resources_of


class AtGate(NamedTuple):
    """How things stand at a task's gate.

    Attributes:
        waiting: which worker waits with what, in the order of arrival.
        passed: how many messages have been let in, and are through.
        settled: whether nobody is in, or admitted.
        updates: contributions that were applied, in this epoch.
        held: workers that the task's clock holds, until others have caught up.
        gathered: workers whose contributions wait for those of others.
        dropped: contributions that came too late, in this epoch.
    """

    waiting: dict[int, str]
    passed: int
    settled: bool
    updates: int
    held: tuple[int, ...]
    gathered: tuple[int, ...] = ()
    dropped: int = 0


class OrderService:
    """The part of a `TaskService` that knows about orders."""

    _server: TaskServer

    def ledger(self, epoch_id: str) -> np.ndarray[Any, Any]:
        """The entries of an epoch's ledger, as `Ledger.order` gives them; none if there is no ledger here."""
        task = self._server.task
        with task.monitor:
            found = task.resources(LEDGERS + resources_of(epoch_id))
            return found[0].order() if found else np.empty(0, np.int32)

    def updates(self, epoch_id: str) -> int:
        """How many updates of an epoch are in the ledger of this task."""
        task = self._server.task
        with task.monitor:
            return sum(ledger.updates for ledger in task.resources(LEDGERS + resources_of(epoch_id)))

    def generators(self) -> dict[str, np.ndarray[Any, Any]]:
        """Where each random sequence of this task is, by its key: a `generator_state`."""
        task = self._server.task
        with task.monitor:
            return {key: generator_state(generator) for key, generator in task.resources_by_key(GENERATORS).items()}

    def draw_from(self, generators: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Let random sequences go on from where others were, and those that are not among them begin anew."""
        task = self._server.task
        task.drop_resources(GENERATORS)
        with task.monitor:
            for key, state in generators.items():
                task.resource(key, partial(generator_at, state))

    def gate(self, epoch_id: str) -> AtGate:
        """How things stand at the gate of an epoch."""
        task, name = self._server.task, resources_of(epoch_id)
        with task.monitor:
            gate = gate_of(task, name)
            held = {worker for clock in task.resources(CLOCKS + name) for worker in clock.held}
            accumulators = task.resources(ACCUMULATORS + name)
            gathered = max((a.workers for a in accumulators), key=len, default=())
            dropped = max((a.stats().dropped for a in accumulators), default=0)
            settled, updates = gate.inside is None and not gate.left, ledger_of(task, name).updates
            return AtGate(gate.waiting, gate.passed, settled, updates, tuple(sorted(held)), gathered, dropped)

    def admit(self, epoch_id: str, workers: Sequence[int], keep_after: int | None = None) -> None:
        """Let messages of these workers in at the gate of an epoch, in this order; and keep the variables when so many in all are through."""
        task = self._server.task
        with task.monitor:
            gate = gate_of(task, resources_of(epoch_id))
            gate.keep_after = keep_after
            gate.admit(workers)
            task.monitor.notify_all()

    def kept(self, epoch_id: str) -> dict[str, np.ndarray[Any, Any]]:
        """The variables that were kept."""
        task = self._server.task
        with task.monitor:
            return {name: host_array(value) for name, value in gate_of(task, resources_of(epoch_id)).kept.items()}

    def last_reads(self, epoch_id: str) -> dict[int, dict[str, Any]]:
        """The parameters of this ps as the towers of an epoch have read them last, by worker."""
        task = self._server.task
        with task.monitor:
            found = dict(last_reads_of(task, resources_of(epoch_id)))
        return {worker: {name: host_array(value) for name, value in values.items()} for worker, values in found.items()}

    def let_go(self, epoch_id: str) -> None:
        """Let workers go on that wait in an epoch for slower ones, or at gates, so that their turns come to an end.

        What an epoch that was abandoned has left waiting stays there, until it is seen that nobody wants it any more.
        """
        task, name = self._server.task, resources_of(epoch_id)
        with task.monitor:
            for waited in (*task.resources(CLOCKS + name), *task.resources(GATES + name)):
                waited.open()
            task.monitor.notify_all()
