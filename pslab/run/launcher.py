"""Starts a program's tasks, watches them, and sees to their end."""

from __future__ import annotations

import itertools
import queue
import secrets
import signal
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from pslab.cluster.memory import available
from pslab.errors import ResourceExhaustedError, UsageError
from pslab.run.output import Output
from pslab.run.plan import plan_tasks
from pslab.run.processes import Events, LocalProcess, Printed, Running, events, free_addresses
from pslab.run.source import check_source

GRACE_S = 5.0
"""Seconds that a task has to end when it is asked to."""
PS_GRACE_S = 15.0
"""Seconds that a ps has to end by itself once the workers are done."""
PROCESS = 30 << 20
"""Bytes that a program's process takes at the least, beside what it shares."""


def run_program(
    script: Path,
    arguments: Sequence[str],
    ps: int,
    workers: int,
    as_tensorflow: bool,
    output: Output | None = None,
    directories: Sequence[Path] = (),
) -> int:
    """Run a program, a process per task, on this machine.

    Args:
        script: the program.
        arguments: its own arguments.
        ps: number of ps tasks.
        workers: number of worker tasks.
        as_tensorflow: whether ``import tensorflow`` in it means pslab.
        output: where its lines go; this process's own output if None.
        directories: further ones that it imports modules from.

    Returns:
        0 if all went well, 130 after Ctrl-C, else the exit status of the task that failed first (128 + N if signal N ended it).

    Raises:
        NotFoundError: there is no such program.
        UsageError: it is no Python 3, or there are no workers.
        ResourceExhaustedError: this machine cannot have so many processes.
    """
    _check(script, ps, workers)
    if (ps + workers) * PROCESS > available():
        raise ResourceExhaustedError(
            f"{ps + workers} processes need {(ps + workers) * PROCESS >> 20} MB at the least, but there are {available() >> 20} MB", "fewer tasks"
        )
    addresses = free_addresses(ps + workers)
    plans = plan_tasks({"ps": addresses[:ps], "worker": addresses[ps:]}, arguments, directories)
    watch = Watch(output or Output([plan.name for plan in plans]))
    try:
        for plan in plans:
            watch.add(LocalProcess(plan, str(script), as_tensorflow, watch.events))
        return watch.until_the_end()
    finally:
        watch.kill()


def run_on_dask(
    address: str, script: Path, arguments: Sequence[str], ps: int, workers: int, as_tensorflow: bool, output: Output | None = None
) -> int:
    """Run a program, a process per task, started by the workers of a Dask cluster, in turn. Each has a copy of the program, and nothing else of here.

    Args and returns: as `run_program`, and the scheduler's address.

    Raises:
        UnavailableError: nobody answers there, or there are no Dask workers.
    """
    from pslab.cluster.dask_workers import DaskWorkers
    from pslab.run.elsewhere import Elsewhere

    _check(script, ps, workers)
    with DaskWorkers(address) as dask:
        where = list(itertools.islice(itertools.cycle(dask.workers), ps + workers))
        free = {w: iter(dask.call(w, free_addresses, where.count(w), dask.host(w))) for w in set(where)}
        addresses = [next(free[w]) for w in where]
        plans = plan_tasks({"ps": addresses[:ps], "worker": addresses[ps:]}, arguments)
        watch = Watch(output or Output([plan.name for plan in plans]))
        elsewhere = Elsewhere(dask, secrets.token_hex(8), watch.events)
        try:
            for plan, worker in zip(plans, where, strict=True):
                watch.add(elsewhere.start(plan, worker, script, as_tensorflow))
            return watch.until_the_end()
        finally:
            elsewhere.close()


def _check(script: Path, ps: int, workers: int) -> None:
    if ps < 0 or workers < 1:
        raise UsageError(f"a program needs 1 worker or more, and 0 ps or more; found {workers} and {ps}")
    check_source(script)


class Watch:
    """Follows the tasks of one program to their end.

    Args:
        output: where their lines go.

    Attributes:
        events: where what they do is told.
    """

    def __init__(self, output: Output) -> None:
        self.events: Events = events()
        self._output = output
        self._tasks: dict[str, Running] = {}
        self._status: dict[str, int] = {}
        self._failed: str | None = None
        self._states: dict[str, str] = {}  # of the others, when one failed
        self._interrupted = False
        self._deadline: float | None = None

    def add(self, task: Running) -> None:
        """A task was started."""
        self._tasks[task.plan.name] = task

    def until_the_end(self) -> int:
        """Print what the tasks print until all have ended; returns the exit status of the whole."""
        while self._running():
            try:
                self._next()
            except KeyboardInterrupt:
                if self._interrupted:
                    self.kill()
                else:
                    self._interrupted = True
                    self._output.say("interrupted; ending all tasks (Ctrl-C again ends them at once)")
                    self._ask_to_end()
        if self._failed is not None:
            return self._tell_of_failure(self._failed)
        return 128 + signal.SIGINT if self._interrupted else 0

    def kill(self) -> None:
        """End what still runs."""
        for name in self._running():
            self._tasks[name].kill()

    def _running(self) -> list[str]:
        return [name for name in self._tasks if name not in self._status]

    def _next(self) -> None:
        left = None if self._deadline is None else self._deadline - monotonic()
        if left is not None and left <= 0:  # looked at first: with one who prints all the time there is always an event
            self._deadline = None
            self._output.say(f"{', '.join(self._running())}: still there, and killed")
            self.kill()
            return
        try:
            event = self.events.get(timeout=left)
        except queue.Empty:
            return
        if isinstance(event, Printed):
            self._output.line(event.task, event.text, event.error)
            return
        self._status[event.task] = event.status
        if event.status and self._failed is None and not self._interrupted:
            self._failed = event.task
            self._states = {name: self._state(name) for name in self._tasks if name != event.task}
            self._ask_to_end()
        elif self._deadline is None and all(name in self._status for name, task in self._tasks.items() if task.plan.job == "worker"):
            self._deadline = monotonic() + PS_GRACE_S
            for name in self._running():
                self._tasks[name].workers_are_done()

    def _ask_to_end(self) -> None:
        self._deadline = monotonic() + GRACE_S
        for name in self._running():
            self._tasks[name].interrupt()

    def _state(self, name: str) -> str:
        return f"had ended with status {self._status[name]}" if name in self._status else "was running, and was ended"

    def _tell_of_failure(self, name: str) -> int:
        status = self._status[name]
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"failed with exit status {status}"
        others = "".join(f"\n  {other} {state}" for other, state in self._states.items())
        trace = self._output.traceback(name)
        self._output.say(f"{name} {how}{others}" + (f"\n{trace}" if trace else ""))
        return 128 - status if status < 0 else status
