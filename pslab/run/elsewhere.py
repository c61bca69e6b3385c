"""The tasks' processes on the workers of a Dask cluster.

The functions here that begin with ``on_worker`` run in a Dask worker's process. It starts the tasks' processes as the launcher would on its own machine,
keeps what they tell, and is asked for it ten times a second; where nobody asks any more, it ends them.
"""

from __future__ import annotations

import contextlib
import queue
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from pslab.errors import UnavailableError
from pslab.run.plan import TaskPlan
from pslab.run.processes import Ended, Events, LocalProcess, Printed, events

if TYPE_CHECKING:
    from pslab.cluster.dask_workers import DaskWorkers

ASK_S = 0.1
ALONE_S = 15.0
"""Seconds after which a Dask worker that is not asked ends the processes it has started."""


class RemoteProcess:
    """A task's process that a Dask worker has started.

    Args:
        plan: what it is started with.
        call: runs one of the functions below on its worker.
    """

    def __init__(self, plan: TaskPlan, call: Callable[..., object]) -> None:
        self.plan = plan
        self._call = call

    def workers_are_done(self) -> None:
        """Let a server's ``join()`` in it end."""
        self._call(on_worker_tell, self.plan.name, "workers_are_done")

    def interrupt(self) -> None:
        """Ask it to end, as Ctrl-C does."""
        self._call(on_worker_tell, self.plan.name, "interrupt")

    def kill(self) -> None:
        """End it, and what it has started."""
        self._call(on_worker_tell, self.plan.name, "kill")


class Elsewhere:
    """A program's processes on Dask workers.

    Args:
        dask: the workers.
        run: a name that no other run has.
        events: where it is told what happens.
    """

    def __init__(self, dask: DaskWorkers, run: str, events: Events) -> None:
        self._dask = dask
        self._run = run
        self._events = events
        self._where: dict[str, str] = {}
        self._ended: set[str] = set()
        self._over = threading.Event()
        self._asking = threading.Thread(target=self._ask, daemon=True)

    def start(self, plan: TaskPlan, worker: str, script: Path, as_tensorflow: bool) -> RemoteProcess:
        """Start a task's process on a worker."""
        self._dask.call(worker, on_worker_start, self._run, plan, script.name, script.read_text(), as_tensorflow)
        self._where[plan.name] = worker
        if not self._asking.is_alive():
            self._asking.start()
        return RemoteProcess(plan, lambda function, *arguments: self._dask.call_all([worker], function, self._run, *arguments))

    def close(self) -> None:
        """End and forget everything there."""
        self._over.set()
        if self._asking.is_alive():
            self._asking.join()
        self._dask.call_all(self._workers(), on_worker_forget, self._run)

    def _workers(self) -> list[str]:
        return sorted(set(self._where.values()))

    def _ask(self) -> None:
        while not self._over.wait(ASK_S):
            for worker, answer in self._dask.call_all(self._workers(), on_worker_events, self._run).items():
                if isinstance(answer, Exception):
                    self._lost(worker, answer)
                else:
                    self._pass_on(answer)

    def _pass_on(self, events: Iterable[Printed | Ended]) -> None:
        for event in events:
            if isinstance(event, Ended):
                self._ended.add(event.task)
            self._events.put(event)

    def _lost(self, worker: str, error: Exception) -> None:
        tasks = [task for task, where in self._where.items() if where == worker and task not in self._ended]
        self._pass_on(event for task in tasks for event in (Printed(task, str(error), True), Ended(task, 1)))


class _Run:
    """The processes of one run on this Dask worker."""

    def __init__(self) -> None:
        self.directory = tempfile.TemporaryDirectory(prefix="pslab-run-")
        self.events: Events = events()
        self.tasks: dict[str, LocalProcess] = {}
        self.asked = monotonic()
        self._over = threading.Event()
        threading.Thread(target=self._end_alone, daemon=True).start()

    def _end_alone(self) -> None:
        while not self._over.wait(1.0):
            if monotonic() > self.asked + ALONE_S:
                self.close()

    def close(self) -> None:
        self._over.set()
        for task in self.tasks.values():
            task.kill()
        self.directory.cleanup()


_runs: dict[str, _Run] = {}


def on_worker_start(run: str, plan: TaskPlan, name: str, source: str, as_tensorflow: bool) -> None:
    """Start a task's process, on a copy of the program."""
    if run not in _runs:
        _runs[run] = _Run()
    here = _runs[run]
    script = Path(here.directory.name) / name
    script.write_text(source)
    here.tasks[plan.name] = LocalProcess(plan, str(script), as_tensorflow, here.events)


def on_worker_events(run: str) -> list[Printed | Ended]:
    """What has happened since the last call.

    Raises:
        UnavailableError: this process knows of no such run: it is another than the one that has started it.
    """
    if run not in _runs:
        raise UnavailableError("the Dask worker was started anew; the processes that it had started have ended")
    here = _runs[run]
    here.asked = monotonic()
    return [here.events.get() for _ in range(here.events.qsize())]


def on_worker_tell(run: str, task: str, what: str) -> None:
    """Call a method of a task's `LocalProcess`."""
    if run in _runs:
        getattr(_runs[run].tasks[task], what)()


def on_worker_forget(run: str) -> None:
    """End what is still there of a run."""
    if run in _runs:
        here = _runs.pop(run)
        here.close()
        with contextlib.suppress(queue.Empty):
            while True:
                here.events.get(timeout=ASK_S)  # who waits for room in it comes to its end
