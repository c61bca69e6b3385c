"""The trainer: steers a training from outside, while its loops run in the tasks of a cluster."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from pslab.data.division import Division
from pslab.data.partitions import DataSource
from pslab.errors import FailedPreconditionError, OutOfRangeError, PslabError, UnavailableError, UsageError
from pslab.trace.recorder import Records
from pslab.train.apply_log import ApplyLog
from pslab.train.camera import Timeline
from pslab.train.crew import PATIENCE_S, Crew
from pslab.train.delays import Delay
from pslab.train.fingerprint import digests, fingerprint
from pslab.train.history import News, Place
from pslab.train.job import Job
from pslab.train.landscape import LandscapeLooks
from pslab.train.loop import OUT_OF_DATA
from pslab.train.model import Model
from pslab.train.reading import Reading
from pslab.train.replica_view import ReplicaView
from pslab.train.strategy import Strategy
from pslab.train.tasks import Tasks
from pslab.train.traffic import Traffic
from pslab.train.trainer_status import TrainerStatus
from pslab.train.watch import MORE_DATA

TRACED_STEPS = 3
"""Updates for which steps are traced: the first may have begun before, and the others' last may not be over."""


class Trainer(LandscapeLooks):
    """Trains a model on the tasks of a cluster.

    All its methods may be called at any time and from any thread; what needs a quiet moment waits for the steps in flight. A change of mode never
    restarts anything: parameters, optimizer slots, the global step and the place in the data stay.

    Args:
        cluster: where to train.
        dataset: what to train on.
        model: what to train.
        strategy: the mode to begin with.
        batch_size: examples per step of a worker: one number for all, or one per worker.
        data_seed: seed of the order of the examples.
        reading: how examples come in.
        shares: which part of the examples each worker has as its own; None deals out one stream.
        passes: how often a worker goes through what it gets; None is for ever.

    Raises:
        UsageError: the model cannot be built or trained, or a number does not fit.
    """

    def __init__(
        self,
        cluster: Tasks,
        dataset: DataSource,
        model: Model,
        strategy: Strategy | None = None,
        batch_size: int | Sequence[int] = 64,
        data_seed: int = 0,
        reading: Reading = Reading.FEEDING,
        *,
        shares: Sequence[float] | None = None,
        passes: int | None = None,
    ) -> None:
        crew = Crew(cluster, dataset, model, Division(batch_size, shares, passes, data_seed), reading)
        super().__init__(crew, strategy if strategy is not None else Strategy())
        crew.check(self._strategy, cluster.workers)
        self._dataset = dataset
        self._view = ReplicaView(self._crew, dataset)
        self._crew.begin_anew()
        self._crew.set_up()
        self._crew.ask("initialise")
        self._watcher = threading.Thread(target=self._watch, name="pslab trainer", daemon=True)
        self._watcher.start()

    # Steering

    def train(self, steps: int) -> None:
        """Make ``steps`` more updates, in the background.

        Raises:
            UsageError: ``steps`` is less than 1.
            FailedPreconditionError: there are no data for another update.
        """
        if steps < 1:
            raise UsageError(f"steps must be at least 1, found {steps}")
        with self._lock:
            self._check_data()
            progress = self._crew.look()
            begun = progress.granted if self._crew.active else progress.global_step
            self._target = (self._target if self._state == "running" else begun) + steps
            self._go()

    def pause(self) -> None:
        """Let no further update begin, and wait for those in flight. The loops stay as they are, and wait."""
        with self._lock:
            if self._state == "running":
                self._crew.pause()
                self._settle()
                self._loops = self._crew.loops()
                self._set_state("paused")
                self._publish()

    def resume(self) -> None:
        """Go on after `pause`, or after a failure.

        Raises:
            FailedPreconditionError: there is nothing to go on with, or there are no data.
        """
        with self._lock:
            if self._state == "running":
                return
            if self._state not in ("paused", "failed"):
                self._check_data()
                raise FailedPreconditionError(f"the training is {self._state}, not paused", "train(steps=…) starts one")
            self._check_data()
            self._go()

    def step(self, n: int = 1, timeout: float = 60.0) -> None:
        """Make exactly ``n`` updates, and be paused.

        Raises:
            DeadlineExceededError: they were not made in ``timeout`` seconds.
            FailedPreconditionError: there are no data for another update.
            OutOfRangeError: the data came to their end before all were made.
            UsageError: ``n`` is less than 1.
        """
        if n < 1:
            raise UsageError(f"n must be at least 1, found {n}")
        with self._lock:
            self.pause()
            self._check_data()
            self._crew.begin(self._strategy)
            wanted = self._crew.look().granted + n
            self._target = max(self._target, wanted)
            self._crew.limit(wanted)
            self._set_state("paused")
        self._until(lambda: self._crew.progress.global_step >= wanted or self._state == OUT_OF_DATA, timeout, f"{n} updates")
        if self._crew.progress.global_step < wanted:
            raise OutOfRangeError(f"{n - wanted + self._crew.progress.global_step} of {n} updates could be made: {self._message}", MORE_DATA)
        self._until(lambda: self._crew.made(wanted), timeout, "the last update on every ps")

    def stop(self) -> None:
        """End the loops. The parameters stay; `train` begins again."""
        with self._lock:
            self._crew.end()
            self._target = self._crew.look().global_step
            self._set_state("idle")

    def set_strategy(self, strategy: Strategy) -> None:
        """Change the mode, at the next boundary between steps. Gradients in flight are dropped, and counted.

        Raises:
            UsageError: the mode cannot run on this cluster; everything goes on as it was.
            GraphError: nor can its graph be built or placed; the mode before begins again.
        """
        self._crew.check(strategy, self._crew.workers)
        with self._lock:
            if strategy == self._strategy:
                return
            before, self._strategy = self._strategy, strategy
            if self._crew.active:
                try:
                    self._begin_again()
                except PslabError:
                    self._strategy = before
                    self._begin_again()
                    raise

    def adjust(self, learning_rate: float | None = None, batch_size: int | Sequence[int] | None = None) -> None:
        """Change these numbers, at the next boundary between steps. Parameters, optimizer slots, the global step and the records stay.

        Raises:
            UsageError: the optimizer was made by a function, which alone knows its rate; or a number does not fit. Everything goes on as it was.
        """
        model, division = self._crew.model, self._crew.division
        if learning_rate is not None and learning_rate != model.learning_rate:
            model = model.with_rate(learning_rate)
        if batch_size is not None:
            division = replace(division, batch_size=batch_size)
            division.check(self._crew.workers, self._dataset.examples)
        with self._lock:
            if (model, division) == (self._crew.model, self._crew.division):
                return
            self._crew.places.divide(division)
            active = self._crew.active
            self._crew.end()
            self._crew.adjust(model, division)
            if active:
                self._begin_again()

    def slow(self, worker: int, delay: Delay | None) -> None:
        """Let a worker take so much longer in each step, at once; None lets it be as fast as it can be."""
        with self._lock:
            self._crew.sleepers.slow(worker, delay)

    def wait(self, step: int | None = None, timeout: float | None = None) -> TrainerStatus:
        """Wait until global step ``step``, or until the training is no longer running.

        Raises:
            DeadlineExceededError: it did not come to that in ``timeout`` seconds.
        """
        self._until(lambda: self._state != "running" or (step is not None and self._crew.progress.global_step >= step), timeout, "the training")
        return self.status()

    # Looking

    def status(self) -> TrainerStatus:
        """How it fares now."""
        with self._lock, suppress(UnavailableError, FailedPreconditionError):  # of a task that was lost, the last that was seen
            self._loops = self._crew.inspect()
        return self.seen()

    def seen(self) -> TrainerStatus:
        """How it fared when it was looked at last: every tenth of a second while it runs. Asks nobody, and waits for nobody."""
        loops = tuple(loop for statuses in self._loops.values() for loop in statuses) if self._crew.active else ()
        step, places = self._crew.progress.global_step, self._crew.places.now()
        return TrainerStatus(self._state, self._message, self._strategy, step, self._target, loops, self._crew.dropped, places)

    def records(self) -> Records:
        """All step records until now, by time; the field ``strategy`` is an index into `strategies`."""
        with self._lock:
            return self._crew.records()

    def news(self, place: Place | None = None) -> News:
        """The step records that were seen since ``place``, in the order they came. Like `seen`, it asks nobody."""
        return self._crew.news(place)

    def traffic(self) -> Traffic:
        """What went between the tasks since the present mode began."""
        with self._lock:
            return self._crew.traffic()

    def timeline(self, timeout: float = 60.0) -> Timeline:
        """Trace one step of the present mode: what every task did meanwhile, op by op. A training that stands still makes some updates for that.

        Raises:
            DeadlineExceededError: no step was made in ``timeout`` seconds.
        """
        with self._lock:
            self._crew.film()
        try:
            if self._state != "running":
                self.step(TRACED_STEPS * self._crew.workers, timeout)
            else:
                self._until(lambda: self._crew.filmed(self._strategy) >= TRACED_STEPS or self._state != "running", timeout, "a traced step")
        finally:
            shots = self._crew.cut()
        return Timeline.of(shots[self._crew.expected(self._strategy)[0]], [shot for some in shots.values() for shot in some])

    # Keeping

    def log(self) -> ApplyLog:
        """The apply log until now, at a quiet moment: what `pslab.train.rehearsal.replay` takes.

        Raises:
            FailedPreconditionError: nothing was trained since the tasks were set up.
        """
        prints = fingerprint(self._dataset, self.job().model)  # takes a moment, in which it may train
        with self._lock, self._quiet():
            if self._crew.active:  # a pause may have come before the last update was made on every ps
                self._until(self._crew.settled, PATIENCE_S, "the updates in flight")
            self._publish()
            found = self._crew.keeper.log(self.job(), self._crew.places.out(), prints, digests(self._crew.ask("parameters")))
        if found is None:
            raise FailedPreconditionError("there is no log yet: nothing was trained since the tasks were set up", "train(steps=…) begins one")
        return found

    def save(self, prefix: str) -> str:
        """Write the model, its slots and the global step to a checkpoint on the chief's machine, at a boundary between steps; returns its path."""
        with self._lock, self._quiet():
            self._publish()
            return self._crew.ask("save", prefix=str(Path(prefix).expanduser().resolve()))  # type: ignore[no-any-return]

    def restore(self, prefix: str) -> None:
        """Go back to a checkpoint, at a boundary between steps. A training that runs goes on from there, with as many updates to make as it had.

        Data that end are not had again: who is out of data is so after it, too.

        Raises:
            OpError: the checkpoint is not there, broken, or of another model; everything is as it was.
        """
        with self._lock:
            active, left = self._crew.active, self._target - self._crew.progress.global_step
            self._crew.end()
            try:
                self._crew.wait_for_all()
                self._crew.set_up()
                self._crew.ask("restore", prefix=str(Path(prefix).expanduser().resolve()))
                self._target = self._crew.look().global_step + max(left, 0)
                if self._state == "failed":
                    self._set_state("paused")
            finally:
                if active:
                    self._begin_again()

    def reset(self) -> None:
        """Begin anew: initial parameters, global step 0, no records."""
        with self._lock:
            self._crew.end()
            self._crew.begin_anew()
            self._view.forget()
            self._crew.set_up()
            self._crew.ask("initialise")
            self._target = 0
            self._crew.look()
            self._set_state("idle")

    def resize(self, scale: Callable[[], None], workers: int) -> None:
        """Let ``scale`` change the cluster's tasks while nothing runs; the variables are spread over the new ps tasks.

        Args:
            scale: makes the change.
            workers: how many workers there will be.

        Raises:
            UsageError: the mode, or how the data are divided, does not fit so many workers; nothing was changed.
            PslabError: what ``scale`` raises; the training goes on as it was.
        """
        self._crew.check(self._strategy, workers)
        with self.lent():
            scale()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """The tasks are lent to something else within the block; who asks for something from another thread waits until then.

        Parameters, slots, the global step and the records are kept; a training that ran goes on. Random sequences begin anew.

        Raises:
            OpError: a ps was lost, so there are no parameters to keep.
        """
        with self._lock, tempfile.TemporaryDirectory(prefix="pslab-") as directory:
            state = self._state
            self._crew.end()
            kept = self._crew.ask("save", prefix=f"{directory}/kept")
            try:
                yield
            finally:
                self._crew.take_back()
                self._crew.ask("restore", prefix=kept)
                if state == "running":
                    self._go()

    def close(self) -> None:
        """End the loops, and let go of the cluster."""
        self._closed.set()
        self._watcher.join(5.0)
        with self._lock:
            self._crew.abandon()

    @property
    def strategies(self) -> list[Strategy]:
        """The strategy of each epoch, by its number in the records."""
        return self._crew.strategies

    @property
    def metric_names(self) -> tuple[str, ...]:
        """Names of the model's metrics."""
        return self._crew.metric_names

    def job(self) -> Job:
        """What the tasks are told in the present mode."""
        return self._crew.job(self._strategy)
