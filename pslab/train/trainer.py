"""The trainer: steers a training from outside, while its loops run in the tasks of a cluster."""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

import numpy as np

from pslab.data.datasets import Dataset
from pslab.errors import DeadlineExceededError, FailedPreconditionError, OpError, PslabError, UnavailableError, UsageError
from pslab.trace.recorder import Records
from pslab.train.history import History
from pslab.train.job import CHIEF, CLIENT, Job
from pslab.train.loop import LoopStatus
from pslab.train.model import Features, Model, try_out
from pslab.train.service import Progress
from pslab.train.strategy import Replication, Strategy

LOOK_S = 0.1
"""Seconds between two looks at the tasks."""
PATIENCE_S = 60.0
"""Seconds that a change waits for the step in flight."""
LOST_PATIENCE_S = 0.5
"""Seconds that it waits where a loop has failed, for which others may wait in vain."""


class Tasks(Protocol):
    """What a trainer needs of a cluster."""

    ps: int
    workers: int

    def call(self, task: str, method: str, /, **arguments: Any) -> Any:
        """Call a method of a task's `TaskService`."""

    def call_all(self, method: str, /, tasks: Sequence[str] | None = None, **arguments: Any) -> dict[str, Any]:
        """Call a method of several tasks at once; of all of them by default."""

    def wait_for(self, task: str, timeout: float) -> None:
        """Wait until a task answers."""


@dataclass(frozen=True)
class TrainerStatus:
    """How a training fares.

    Attributes:
        state: ``"idle"``, ``"running"``, ``"paused"``, ``"done"`` or ``"failed"``.
        message: why it is paused or failed, or an empty string.
        strategy: the mode in force.
        global_step: updates that were made.
        target_step: updates that are to be made.
        loops: the loops of the tasks.
        dropped: gradients in flight that changes of mode dropped.
    """

    state: str
    message: str
    strategy: Strategy
    global_step: int
    target_step: int
    loops: tuple[LoopStatus, ...]
    dropped: int


class Trainer:
    """Trains a model on the tasks of a cluster.

    All its methods may be called at any time and from any thread; what needs a quiet moment waits for the steps in flight. A change of mode never
    restarts anything: parameters, optimizer slots, the global step and the place in the data stay.

    Args:
        cluster: where to train.
        dataset: what to train on.
        model: what to train.
        strategy: the mode to begin with.
        batch_size: examples per worker and step.
        data_seed: seed of the order of the examples.

    Raises:
        UsageError: the model cannot be built or trained, or a number does not fit.
    """

    def __init__(
        self, cluster: Tasks, dataset: Dataset, model: Model, strategy: Strategy | None = None, batch_size: int = 64, data_seed: int = 0
    ) -> None:
        self._cluster = cluster
        self._id = secrets.token_hex(4)
        self._dataset = dataset
        self._model = model
        self._strategy = strategy if strategy is not None else Strategy()
        self._strategy.check(cluster.workers)
        self._batch_size = _batch_size(batch_size, cluster.workers, dataset)
        self._data_seed = data_seed
        self._features = Features.of(dataset.x_train, dataset.y_train)
        self.metric_names = tuple(try_out(model, self._features).metrics)
        self.strategies: list[Strategy] = []
        self._history = History(self.metric_names)
        self._lock = threading.RLock()
        self._changed = threading.Condition()
        self._state, self._message = "idle", ""
        self._target = 0
        self._active = False
        self._dropped = 0
        self._progress = Progress(0, 0)
        self._loops: dict[str, list[LoopStatus]] = {}
        self._watching = threading.Event()
        self._closed = threading.Event()
        self._set_up()
        self._ask("initialise")
        self._watcher = threading.Thread(target=self._watch, name="pslab trainer", daemon=True)
        self._watcher.start()

    # Steering

    def train(self, steps: int) -> None:
        """Make ``steps`` more updates, in the background.

        Raises:
            UsageError: ``steps`` is less than 1.
        """
        if steps < 1:
            raise UsageError(f"steps must be at least 1, found {steps}")
        with self._lock:
            progress = self._look()
            begun = progress.granted if self._active else progress.global_step
            self._target = (self._target if self._state == "running" else begun) + steps
            self._go()

    def pause(self) -> None:
        """Let no further update begin, and wait for those in flight. The loops stay as they are, and wait."""
        with self._lock:
            if self._state == "running":
                self._cluster.call("ps:0", "pause")
                self._settle()
                self._loops = self._cluster.call_all("loops", tasks=self._drivers())
                self._set_state("paused")

    def resume(self) -> None:
        """Go on after `pause`, or after a failure.

        Raises:
            FailedPreconditionError: there is nothing to go on with.
        """
        with self._lock:
            if self._state == "running":
                return
            if self._state not in ("paused", "failed"):
                raise FailedPreconditionError(f"the training is {self._state}, not paused", "train(steps=…) starts one")
            self._go()

    def step(self, n: int = 1, timeout: float = 60.0) -> None:
        """Make exactly ``n`` updates, and be paused.

        Raises:
            DeadlineExceededError: they were not made in ``timeout`` seconds.
            UsageError: ``n`` is less than 1.
        """
        if n < 1:
            raise UsageError(f"n must be at least 1, found {n}")
        with self._lock:
            self.pause()
            self._activate()
            wanted = self._cluster.call("ps:0", "progress").granted + n
            self._target = max(self._target, wanted)
            self._cluster.call("ps:0", "limit", updates=wanted)
            self._set_state("paused")
        self._until(lambda: self._progress.global_step >= wanted, timeout, f"{n} updates")

    def stop(self) -> None:
        """End the loops. The parameters stay; `train` begins again."""
        with self._lock:
            self._deactivate()
            self._target = self._look().global_step
            self._set_state("idle")

    def set_strategy(self, strategy: Strategy) -> None:
        """Change the mode, at the next boundary between steps. Gradients in flight are dropped, and counted.

        Raises:
            UsageError: the mode cannot run on this cluster; everything goes on as it was.
        """
        strategy.check(self._cluster.workers)
        with self._lock:
            if strategy == self._strategy:
                return
            active = self._active
            self._deactivate()
            self._strategy = strategy
            if active:
                self._activate()
                if self._state == "running":
                    self._cluster.call("ps:0", "limit", updates=self._target)

    def wait(self, step: int | None = None, timeout: float | None = None) -> TrainerStatus:
        """Wait until global step ``step``, or until the training is no longer running.

        Raises:
            DeadlineExceededError: it did not come to that in ``timeout`` seconds.
        """
        self._until(lambda: self._state != "running" or (step is not None and self._progress.global_step >= step), timeout, "the training")
        return self.status()

    # Looking

    def status(self) -> TrainerStatus:
        """How it fares now."""
        loops = tuple(loop for statuses in self._loops.values() for loop in statuses) if self._active else ()
        return TrainerStatus(self._state, self._message, self._strategy, self._progress.global_step, self._target, loops, self._dropped)

    def records(self) -> Records:
        """All step records until now, by time; the field ``strategy`` is an index into `strategies`."""
        with self._lock:
            self._fetch()
            return self._history.records()

    def evaluate(self) -> dict[str, float]:
        """Loss and metrics on the test set, with the present parameters."""
        return self._ask("evaluate", x=self._dataset.x_test, y=self._dataset.y_test)  # type: ignore[no-any-return]

    def predict(self, x: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
        """The model's outputs for examples, by name.

        Raises:
            UsageError: the model has none, or ``x`` has another shape than the examples.
        """
        x = np.asarray(x, self._features.x_dtype)
        if x.shape[1:] != self._features.x_shape:
            raise UsageError(f"an example has shape {self._features.x_shape}, found {x.shape[1:]}")
        return self._ask("predict", x=x)  # type: ignore[no-any-return]

    def parameters(self) -> dict[str, np.ndarray[Any, Any]]:
        """The present values of the trained variables, by name."""
        return self._ask("parameters")  # type: ignore[no-any-return]

    # Keeping

    def save(self, prefix: str) -> str:
        """Write the model, its slots and the global step to a checkpoint on the chief's machine, at a boundary between steps; returns its path."""
        with self._lock, self._quiet():
            return self._ask("save", prefix=str(Path(prefix).expanduser().resolve()))  # type: ignore[no-any-return]

    def restore(self, prefix: str) -> None:
        """Go back to a checkpoint, at a boundary between steps. A training that runs goes on from there, with as many updates to make as it had.

        Raises:
            OpError: the checkpoint is not there, broken, or of another model; everything is as it was.
        """
        with self._lock:
            active, left = self._active, self._target - self._progress.global_step
            self._deactivate()
            try:
                self._set_up_lost()
                self._ask("restore", prefix=str(Path(prefix).expanduser().resolve()))
                self._target = self._look().global_step + max(left, 0)
                if self._state == "failed":
                    self._set_state("paused")
            finally:
                if active:
                    self._activate()
                    if self._state == "running":
                        self._cluster.call("ps:0", "limit", updates=self._target)

    def reset(self) -> None:
        """Begin anew: initial parameters, global step 0, no records."""
        with self._lock:
            self._deactivate()
            self._set_up()
            self._ask("initialise")
            self._target = 0
            self._look()
            self._set_state("idle")

    def resize(self, scale: Callable[[], None]) -> None:
        """Let ``scale`` change the cluster's tasks while nothing runs; the variables are spread over the new ps tasks.

        Raises:
            PslabError: what ``scale`` raises; the training goes on as it was.
        """
        with self._lock, tempfile.TemporaryDirectory(prefix="pslab-") as directory:
            state = self._state
            self._deactivate()
            kept = self._ask("save", prefix=f"{directory}/kept")
            try:
                scale()
            finally:
                self._set_up(keep_records=True)
                self._ask("restore", prefix=kept)
                if state == "running":
                    self._go()

    def close(self) -> None:
        """End the loops, and let go of the cluster."""
        self._closed.set()
        self._watcher.join(5.0)
        with self._lock:
            if self._active:
                self._active = False
                try:
                    self._cluster.call_all("stop")
                except PslabError:
                    return  # the tasks that are gone need no stopping

    # Parts: jobs and epochs

    def job(self) -> Job:
        """What the tasks are told."""
        return Job(
            self._model,
            self._features,
            self._cluster.ps,
            self._cluster.workers,
            self._strategy,
            self._id,
            len(self.strategies) - 1,
            self._batch_size,
            self._data_seed,
            self._progress.global_step,
        )

    def _set_up(self, keep_records: bool = False) -> None:
        """Give the tasks their data, and the chief its model."""
        if not keep_records:
            self._history = History(self.metric_names)
            self._cluster.call_all("begin_anew")
        self._load(self._drivers())
        self._cluster.call(CHIEF, "model", job=self.job())

    def _set_up_lost(self) -> None:
        """Like `_set_up`, for the tasks that were lost and came back."""
        for task in (*(f"ps:{i}" for i in range(self._cluster.ps)), *self._drivers()):
            self._cluster.wait_for(task, 10.0)
        self._load(self._drivers())
        self._cluster.call(CHIEF, "model", job=self.job())

    def _drivers(self) -> list[str]:
        return [*(f"worker:{i}" for i in range(self._cluster.workers)), CLIENT]

    def _load(self, tasks: Sequence[str]) -> None:
        self._cluster.call_all("load", tasks=tasks, x=self._dataset.x_train, y=self._dataset.y_train, metrics=self.metric_names)

    def _ask(self, method: str, **arguments: Any) -> Any:
        return self._cluster.call(CHIEF, "ask", method=method, **arguments)

    def _activate(self) -> None:
        """Begin an epoch: all loops are built, and wait for their first claim."""
        if self._active:
            return
        self.strategies.append(self._strategy)
        step = self._look().global_step
        job = self.job()
        self._cluster.call("ps:0", "pause")
        self._cluster.call("ps:0", "begin", epoch_id=job.epoch_id, granted=step)
        try:
            if job.strategy.replication is Replication.IN_GRAPH:
                self._cluster.call(CLIENT, "start", job=job)
            else:
                self._cluster.call(CHIEF, "start", job=job)
                self._cluster.call_all("start", tasks=[f"worker:{i}" for i in range(1, job.workers)], job=job)
        except PslabError:
            self._cluster.call_all("stop")
            raise
        self._active = True
        self._watching.set()

    def _deactivate(self, patience: float = PATIENCE_S) -> None:
        """End the epoch: the steps in flight are done (in ``patience`` seconds), what waited is given up."""
        if not self._active:
            return
        self._active = False
        self._cluster.call("ps:0", "pause")
        self._cluster.call_all("stop_updates", patience=patience)
        self._cluster.call_all("stop")
        self._fetch()
        held = self._cluster.call_all("drop", tasks=[f"ps:{i}" for i in range(self._cluster.ps)], epoch_id=self.job().epoch_id)
        self._dropped += max(held.values(), default=0)

    def _go(self) -> None:
        self._activate()
        self._cluster.call("ps:0", "limit", updates=self._target)
        self._set_state("running")

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """No update is under way within the block."""
        if not (self._active and self._state == "running"):
            yield
            return
        self._cluster.call("ps:0", "pause")
        try:
            self._settle()
            yield
        finally:
            self._cluster.call("ps:0", "limit", updates=self._target)

    def _settle(self) -> None:
        """Wait until the updates that were claimed are made."""
        self._until(lambda: self._look().global_step == self._progress.granted, PATIENCE_S, "the updates in flight")

    # Parts: watching

    def _set_state(self, state: str, message: str = "") -> None:
        with self._changed:
            self._state, self._message = state, message
            self._changed.notify_all()

    def _until(self, true: Callable[[], bool], timeout: float | None, what: str) -> None:
        deadline = None if timeout is None else monotonic() + timeout
        with self._changed:
            while not true():
                if deadline is not None and monotonic() > deadline:
                    raise DeadlineExceededError(f"{what} did not come in {timeout:g} s; global step {self._progress.global_step} of {self._target}")
                self._changed.wait(LOOK_S)

    def _look(self) -> Progress:
        self._progress = self._cluster.call("ps:0", "progress")
        return self._progress

    def _fetch(self) -> None:
        for task in self._drivers():
            with suppress(UnavailableError):  # a task that was lost has no records; the watcher sees to it
                self._history.fetch(task, lambda cursor, task=task: self._cluster.call(task, "records", cursor=cursor))  # type: ignore[misc]

    def _watch(self) -> None:
        """Look at the tasks every tenth of a second, as long as loops run."""
        while not self._closed.is_set():
            self._watching.wait(LOOK_S)
            if not self._active:
                self._watching.clear()
                continue
            if self._lock.acquire(timeout=LOOK_S):
                try:
                    if self._active:
                        self._inspect()
                except Exception as error:  # the training goes on; who looks is told that nobody watches it
                    self._set_state("failed", f"the trainer failed: {type(error).__name__}: {error}")
                finally:
                    self._lock.release()
            with self._changed:
                self._changed.notify_all()
            self._closed.wait(LOOK_S)

    def _inspect(self) -> None:
        try:
            self._look()
            self._fetch()
            self._loops = self._cluster.call_all("loops", tasks=self._drivers())
        except (UnavailableError, FailedPreconditionError) as error:
            self._recover(error)
            return
        failures = [loop for loops in self._loops.values() for loop in loops if loop.error is not None]
        if failures:
            self._fail(failures[0])
        elif any(not self._loops[task] for task in self._expected()):
            self._recover(UnavailableError("a task was started anew"))
        elif self._state == "running" and self._progress.global_step >= self._target:
            self._set_state("done")

    def _expected(self) -> list[str]:
        """Tasks that must have loops."""
        return [CLIENT] if self._strategy.replication is Replication.IN_GRAPH else self._drivers()[:-1]

    def _fail(self, loop: LoopStatus) -> None:
        assert loop.error is not None
        if isinstance(loop.error, UnavailableError):
            self._recover(loop.error)
            return
        self._deactivate(LOST_PATIENCE_S)
        self._set_state("paused", f"{loop.name}: {loop.error.message}")

    def _recover(self, error: PslabError) -> None:
        """A task was lost. Workers come back and go on; a ps takes its parameters with it."""
        state = self._state
        try:
            for task in (*(f"ps:{i}" for i in range(self._cluster.ps)), *self._drivers()):
                self._cluster.wait_for(task, 10.0)
            self._deactivate(LOST_PATIENCE_S)
            self._set_up_lost()
            if not self._ask("initialised"):
                self._set_state("failed", "a ps was lost, and its parameters with it; restore a checkpoint, or reset")
                return
            if state == "running":
                self._go()
        except OpError as lost:
            self._active = False
            self._set_state("failed", f"{error.message}; {lost.message}")


def _batch_size(batch_size: int, workers: int, dataset: Dataset) -> int:
    if batch_size < 1:
        raise UsageError(f"batch_size must be at least 1, found {batch_size}")
    most = len(dataset.x_train) // workers
    if batch_size > most:
        raise UsageError(f"{workers} workers with batches of {batch_size} need more than the {len(dataset.x_train)} examples", f"at most {most}")
    return batch_size
