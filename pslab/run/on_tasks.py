"""Running a cell on tasks of a cluster, and showing what it prints there."""

from __future__ import annotations

from collections import defaultdict
from time import monotonic, sleep
from typing import Any

from pslab.cluster import Cluster
from pslab.errors import AbortedError, FailedPreconditionError, NotFoundError, UnavailableError
from pslab.run.cells import CellState
from pslab.run.output import Output
from pslab.runtime.transport.address import Address

LOOK_S = 0.1
GRACE_S = 3.0
"""Seconds that a cell has to end when it is interrupted."""


def run_cell(cluster: Cluster, where: str, source: str, anew: bool = False, output: Output | None = None) -> None:
    """Run a cell on tasks at once, and wait for its end. What it prints there is printed here.

    Args:
        cluster: a running cluster whose service is `CellService`.
        where: a task such as ``"worker:1"``, a job for all its tasks, or ``"client"``.
        source: the cell.
        anew: forget the names and the graph of earlier cells there.
        output: where the lines go.

    Raises:
        NotFoundError: there is no such task.
        FailedPreconditionError: a task still runs another.
        AbortedError: it has failed on some task, whose traceback was printed.
        KeyboardInterrupt: it was interrupted, and has ended.
    """
    tasks = tasks_of(cluster, where)
    run = _CellRun(cluster, tasks, output or Output(cluster.tasks))
    cluster.call_all("expect_no_cell", tasks)  # it is begun on all of them, or on none
    try:
        run.begin(source=source, addresses=_addresses(cluster), anew=anew)
        run.follow()
    except KeyboardInterrupt:
        run.interrupt()
        raise
    if run.failed:
        raise AbortedError(f"the cell has failed on {', '.join(run.failed)}; what it said is above")


def tasks_of(cluster: Cluster, where: str) -> list[str]:
    """Names of the tasks that ``where`` means.

    Raises:
        NotFoundError: none.
    """
    found = [task for task in cluster.tasks if where in (task, task.partition(":")[0])]
    if not found:
        jobs = dict.fromkeys(task.partition(":")[0] for task in cluster.tasks)
        raise NotFoundError(f"the cluster has no {where!r}", f"one of: {', '.join([*jobs, *cluster.tasks[:-1]])}")
    return found


def _addresses(cluster: Cluster) -> dict[str, list[str]]:
    """By job, ``host:port`` of its tasks."""
    jobs: defaultdict[str, list[str]] = defaultdict(list)
    for task in cluster.status().tasks:
        if not task.address:
            raise UnavailableError(f"{task.name} is {task.state}", "wait until it is back: %pslab cluster status")
        address = Address.parse(task.address)
        jobs[task.name.partition(":")[0]].append(f"{address.host}:{address.port}")
    return dict(jobs)


class _CellRun:
    """One cell on some tasks."""

    def __init__(self, cluster: Cluster, tasks: list[str], output: Output) -> None:
        self._cluster = cluster
        self._output = output
        self._running = list(tasks)
        self._begun_lines: dict[tuple[str, bool], str] = {}
        self.failed: list[str] = []

    def begin(self, **cell: Any) -> None:
        """Begin it on all of them."""
        for task in list(self._running):
            self._ask(task, "begin_cell", **cell)

    def follow(self, deadline: float | None = None) -> None:
        """Print what they print until all are done, or until the deadline."""
        while self._running and (deadline is None or monotonic() < deadline):
            for task in list(self._running):
                state = self._ask(task, "cell_state")
                if state is not None:
                    self._show(task, state)
            if self._running:
                sleep(LOOK_S)

    def interrupt(self) -> None:
        """Interrupt those that are still at work; who does not heed it is named."""
        for task in list(self._running):
            self._ask(task, "interrupt_cell")
        self.follow(monotonic() + GRACE_S)
        for task in self._running:
            self._output.say(f"{task} is still at work on the cell; %pslab cluster kill {task} ends its process")

    def _ask(self, task: str, method: str, **arguments: Any) -> Any:
        """Call a task; where its process was lost, and the cell with it, that is told, and its cell has failed."""
        try:
            return self._cluster.call(task, method, **arguments)
        except (UnavailableError, FailedPreconditionError) as error:  # the latter from the process that was started in its place
            self._output.say(f"the cell was lost: {error.message}")
            self._running.remove(task)
            self.failed.append(task)
            return None

    def _show(self, task: str, state: CellState) -> None:
        for text, error in state.printed:
            *lines, rest = (self._begun_lines.get((task, error), "") + text).split("\n")
            self._begun_lines[task, error] = rest
            for line in lines:
                self._output.line(task, line, error)
        if state.running:
            return
        self._running.remove(task)
        for error in (False, True):
            if rest := self._begun_lines.pop((task, error), ""):
                self._output.line(task, rest, error)
        if state.failed:
            self.failed.append(task)
