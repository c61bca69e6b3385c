"""The master of a session's steps: it plans them, and runs them on its own task and the others."""

from __future__ import annotations

import functools
import itertools
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

from pslab.errors import CancelledError
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.partition import partition, prune
from pslab.graph.placement import describe, place
from pslab.graph.plan import Partition, StepPlan
from pslab.graph.tensor import Tensor
from pslab.runtime.config import ConfigProto
from pslab.runtime.connections import Connection, Connections, Dial
from pslab.runtime.deadline import Deadline
from pslab.runtime.driver import Link, PhaseTimes, drive
from pslab.runtime.run_options import PLAIN, RunOptions
from pslab.runtime.step_run import PartResult, StepRun
from pslab.runtime.task import Task
from pslab.runtime.tracing import Span, Tracer
from pslab.runtime.transport import Kind, Message


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step gave.

    Attributes:
        values: one array per fetched tensor. They may share memory with variables and feeds: read them only.
        times: where each task's time went.
        spans: each task's ops, one by one; none unless the step was traced.
    """

    values: tuple[Any, ...]
    times: Mapping[str, PhaseTimes]
    spans: Mapping[str, Sequence[Span]]


class Master:
    """Plans and runs the steps of one session.

    Args:
        task: the task of this process, which drives the steps.
        tasks: names of all tasks of the cluster, this one among them.
        dial: opens a channel to another task's server.
        config: the options that hold where a session gives none.
    """

    def __init__(self, task: Task, tasks: Collection[str], dial: Dial, config: ConfigProto | None = None) -> None:
        self.task = task
        self._tasks = tasks
        self._connections = Connections(dial)
        self._config = config if config is not None else ConfigProto()
        self._devices: dict[str, tuple[str, ...]] = {task.name: task.devices}

    def prepare(self, graph: Graph, fetches: Sequence[Tensor | Operation], feeds: Sequence[Tensor], config: ConfigProto) -> PreparedStep:
        """Prune, place, partition and compile what ``fetches`` need.

        Args:
            graph: the graph they belong to.
            fetches: tensors whose values are wanted, and ops to run.
            feeds: tensors whose values will be given.
            config: where to be lenient, and what to log.

        Raises:
            GraphError: the graph cannot be placed or cut as it is.
            UnavailableError: a task that takes part cannot be reached.
        """
        config = config.over(self._config)
        tensors = [f for f in fetches if isinstance(f, Tensor)]
        fed = set(feeds)
        wanted = [f.op if isinstance(f, Tensor) else f for f in fetches if f not in fed]
        operations = prune(wanted, feeds)
        placed = place(
            operations,
            master=self.task.name,
            tasks=self._tasks,
            devices=self.devices,
            allow_soft_placement=config.allow_soft_placement,
        )
        if config.log_device_placement:
            print(describe(placed))
        plan = partition(operations, placed, master=self.task.name, fetches=tensors, feeds=feeds)
        return PreparedStep(plan, [f.name for f in feeds], self.task, self._connections, config.operation_timeout)

    def devices(self, task: str) -> tuple[str, ...]:
        """Names of a task's devices, preferred first; asked for once.

        Raises:
            UnavailableError: the task cannot be reached.
        """
        if task not in self._devices:
            with self._connections.borrow(task) as connection:
                connection.channel.send(Message(Kind.DEVICES))
                self._devices[task] = tuple(connection.channel.recv().body.decode().split(","))
        return self._devices[task]

    def cancel(self) -> None:
        """Give up the steps that are running on other tasks; their `run` raises."""
        self._connections.cancel()

    def close(self) -> None:
        """Let go of the other tasks; steps that run there are given up."""
        self._connections.close()


class PreparedStep:
    """A planned step, to be run any number of times, by any number of threads.

    Attributes:
        plan: what it does.
        source: the Python that this process's own part compiled to.
    """

    def __init__(self, plan: StepPlan, feeds: Sequence[str], task: Task, connections: Connections, timeout: float | None) -> None:
        self.plan = plan
        self._task = task
        self._connections = connections
        self._timeout = timeout
        self._id = secrets.randbits(63)
        self._numbers = itertools.count()
        self._local = task.compile(plan.partitions[plan.master])
        self._remote = {name: part for name, part in plan.partitions.items() if name != plan.master}
        self._fed = {name: tuple(feeds.index(f) for f in part.feeds) for name, part in plan.partitions.items()}
        self._where = [_locate(name, task_name, plan, feeds) for name, task_name in plan.fetches]
        self.source = self._local.source

    @functools.cached_property
    def borrowed(self) -> tuple[bool, ...]:
        """For each fetch, whether its array may share memory with a variable, a constant or a feed."""
        return tuple(_borrows(name, task, self.plan) for name, task in self.plan.fetches)

    def run(self, feeds: Sequence[Any], options: RunOptions = PLAIN) -> StepResult:
        """Run the step with the values of the fed tensors, in the order given to `Master.prepare`.

        Raises:
            OpError: an op failed, a task was lost, or the step was cancelled.
            DeadlineExceededError: it took longer than ``options``, or the session's own, allow.
        """
        own = tuple(feeds[i] for i in self._fed[self.plan.master])
        deadline = Deadline(self._timeout, options.timeout)
        tracer = Tracer(self._local) if options.traced else None
        if not self._remote:
            values, times = drive(self._local, own, _Alone(self._connections, deadline), self._task.monitor, tracer)
            return self._result(feeds, {self.plan.master: PartResult(values, times, tracer.spans if tracer else ())})
        return self._run_with_others(feeds, own, deadline, tracer)

    def _run_with_others(self, feeds: Sequence[Any], own: tuple[Any, ...], deadline: Deadline, tracer: Tracer | None) -> StepResult:
        connections: dict[str, Connection] = {}
        try:
            for name, part in self._remote.items():
                connections[name] = self._connect(name, part)
            fed = {name: tuple(feeds[i] for i in self._fed[name]) for name in self._remote}
            run = StepRun(self._id, next(self._numbers), self._remote, connections, fed, deadline, self._task.tally, traced=tracer is not None)
            run.begin()
            values, times = drive(self._local, own, run, self._task.monitor, tracer)
            clock = perf_counter_ns()
            others = run.collect()
            times.pull += perf_counter_ns() - clock
            times.bytes_received += run.bytes_answered
            _separate_waiting(times, [part.times for part in others.values()])
        except BaseException:
            for connection in connections.values():
                self._connections.discard(connection)
            raise
        for name, connection in connections.items():
            self._connections.release(name, connection)
        return self._result(feeds, {self.plan.master: PartResult(values, times, tracer.spans if tracer else ()), **others})

    def _connect(self, name: str, part: Partition) -> Connection:
        connection = self._connections.acquire(name)
        if self._id not in connection.plans:
            connection.channel.send(Message(Kind.REGISTER, plan=self._id, body=part.pack()))
            connection.plans.add(self._id)
        return connection

    def _result(self, feeds: Sequence[Any], parts: Mapping[str, PartResult]) -> StepResult:
        values = tuple(feeds[i] if task is None else parts[task].values[i] for task, i in self._where)
        spans = {name: part.spans for name, part in parts.items() if part.spans}
        return StepResult(values, {name: part.times for name, part in parts.items()}, spans)


def _separate_waiting(times: PhaseTimes, others: Sequence[PhaseTimes]) -> None:
    """What the other tasks spent waiting for a rule of consistency, this one spent waiting for it, and not receiving."""
    waited = min(times.pull, max((t.wait for t in others), default=0))
    times.pull -= waited
    times.wait += waited


def _locate(name: str, task: str | None, plan: StepPlan, feeds: Sequence[str]) -> tuple[str | None, int]:
    return (None, feeds.index(name)) if task is None else (task, plan.partitions[task].fetches.index(name))


def _borrows(name: str, task: str | None, plan: StepPlan) -> bool:
    if task is None:
        return True
    if task != plan.master:
        return False
    op = name.rpartition(":")[0]
    node = next(n for s in plan.partitions[task].stages for n in (*s.nodes, *s.waits) if n.name == op)
    return node.type == "Const" or node.definition.view or node.definition.stateful


class _Alone(Link):
    """The link of a step that has one task."""

    def __init__(self, connections: Connections, deadline: Deadline) -> None:
        self._connections = connections
        self._deadline = deadline
        self._cancellations = connections.cancellations

    def send(self, cut: Any, arrays: Any) -> int:
        raise CancelledError(f"there is nobody to send {cut} to")

    def recv(self, cut: Any) -> Any:
        raise CancelledError(f"there is nobody to receive {cut} from")

    def alive(self) -> bool:
        self._deadline.check("this task")
        return not self._connections.closed and self._connections.cancellations == self._cancellations  # it may have begun after the end
