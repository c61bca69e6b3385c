"""The crew: the tasks of one training, told what to do. It knows how; the trainer knows when."""

from __future__ import annotations

import secrets
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pslab.data.division import Division
from pslab.data.partitions import DataSource
from pslab.errors import FailedPreconditionError, PslabError, UnavailableError
from pslab.trace.recorder import Records
from pslab.train.camera import Shot, full_shots
from pslab.train.distances import ReplicaParameters
from pslab.train.history import History, News, Place
from pslab.train.homecoming import FIRST_PS, Homecoming
from pslab.train.job import CHIEF, CLIENT, Gates, Job
from pslab.train.log_keeping import LogKeeper
from pslab.train.loop import LoopStatus
from pslab.train.model import Features, Model, try_out
from pslab.train.places import Places
from pslab.train.plans import mode_plan
from pslab.train.reading import Reading, check_passes
from pslab.train.service import Progress, Report
from pslab.train.sleepers import Sleepers
from pslab.train.stepping import Stepper
from pslab.train.strategy import Replication, Strategy
from pslab.train.tasks import Tasks
from pslab.train.traffic import Traffic

PATIENCE_S = 60.0
"""Seconds that a change waits for the step in flight."""
LOST_PATIENCE_S = 0.5
"""Seconds that it waits where a loop has failed, for which others may wait in vain."""
RETURN_S = 10.0
"""Seconds in which a task that was lost comes back."""


class Crew:
    """Gives the tasks their data and their part of each epoch, and takes their records.

    Args:
        cluster: the tasks.
        dataset: what to train on.
        model: what to train; it is tried out at once.
        division: how the data are divided among the workers.
        reading: how examples come in.

    Attributes:
        features: what a batch looks like.
        division: how the data are divided among the workers.
        metric_names: names of the model's metrics.
        strategies: the strategy of each epoch.
        active: whether an epoch is on.
        progress: how far the training was when it was looked at last.
        sleepers: which workers are slow.
        keeper: who keeps the apply log.
        places: how far the workers are in data that end.

    Raises:
        UsageError: the model cannot be built or trained.
    """

    def __init__(self, cluster: Tasks, dataset: DataSource, model: Model, division: Division, reading: Reading) -> None:
        self._cluster = cluster
        self._id = secrets.token_hex(4)
        self._dataset = dataset
        self._model = model
        self.division = division
        self._reading = reading
        self.features = Features.of(*dataset.sample)
        self.metric_names = tuple(try_out(model, self.features).metrics)
        self.strategies: list[Strategy] = []
        self.active = False
        self._dropped = 0
        self.progress = Progress(0, 0)
        self._history = History(self.metric_names)
        self._homecoming: Homecoming | None = None
        self._gates = Gates.NONE
        self._first_step = 0
        self._stepper: Stepper | None = None
        self.sleepers = Sleepers(cluster)
        self.keeper = LogKeeper(cluster)
        self.places = Places(division)

    @property
    def dropped(self) -> int:
        """Contributions that were in no update: they came too late, or were in flight at the end of an epoch."""
        return self._dropped + self.progress.late

    @property
    def workers(self) -> int:
        """Number of workers."""
        return self._cluster.workers

    def job(self, strategy: Strategy) -> Job:
        """What the tasks are told."""
        return Job(
            self._model,
            self.features,
            self._cluster.ps,
            self._cluster.workers,
            strategy,
            self._id,
            len(self.strategies) - 1,
            self.division,
            self.progress.global_step,
            self._reading,
            self._gates,
            self.places.next(self._cluster.workers),
        )

    def check(self, strategy: Strategy, workers: int) -> None:
        """Whether the model can be trained in a mode with so many workers.

        Raises:
            UsageError: it cannot.
            GraphError: its graph cannot be built or placed.
        """
        strategy.check(workers)
        self.division.check(workers, self._dataset.examples)
        self.places.check(workers)
        check_passes(self._reading, self.division)
        if strategy.resident:  # depends on the model, too
            mode_plan(replace(self.job(strategy), workers=workers))

    # What the tasks have

    def begin_anew(self) -> None:
        """Forget all records, what was dropped, and how far the workers are in their data; let random sequences begin anew."""
        self._history = History(self.metric_names)
        self.places = Places(self.division)
        self._dropped = 0
        self._cluster.call_all("begin_anew")

    def take_back(self) -> None:
        """Have the tasks again, whatever they did for others meanwhile, and set them up."""
        self.wait_for_all()
        self._history.begin_cursors_anew()
        self._cluster.call_all("begin_anew")
        self.set_up()

    def set_up(self) -> None:
        """Give the tasks their data, and the chief its model."""
        self.keeper.forget()
        self._cluster.call_all("load", tasks=self._drivers(), data=self._dataset.for_tasks(), metrics=self.metric_names)
        self._cluster.call(CHIEF, "model", job=self.job(Strategy()))

    def adjust(self, model: Model, division: Division) -> None:
        """Take on the same model with other numbers, and other batches, for the epochs to come. A new log begins with them."""
        self._model, self.division = model, division
        self.keeper.forget()
        self._cluster.call(CHIEF, "model", job=self.job(Strategy()))

    @property
    def model(self) -> Model:
        """What is trained."""
        return self._model

    def wait_for_all(self) -> None:
        """Wait until every task answers.

        Raises:
            DeadlineExceededError: one does not come back.
        """
        for task in (*self._servers(), *self._drivers()):
            self._cluster.wait_for(task, RETURN_S)

    def ask(self, method: str, **arguments: Any) -> Any:
        """Ask the chief's `ModelSession`."""
        return self._cluster.call(CHIEF, "ask", method=method, **arguments)

    # Epochs

    def begin(self, strategy: Strategy, gates: Gates = Gates.NONE) -> None:
        """Begin an epoch: all loops are built, and wait for their first claim, and at ``gates``. Nothing happens if such a one is on; another one ends.

        Raises:
            PslabError: it cannot be built, or a task was lost; no epoch is on then, unless the one before could not be ended.
        """
        if self.active and (strategy, gates) == (self.strategies[-1], self._gates):
            return
        drivers = self.expected(strategy)
        try:
            with ThreadPoolExecutor(1) as meanwhile:
                job = replace(self.job(strategy), epoch=len(self.strategies), gates=gates)
                built = meanwhile.submit(self._cluster.call_all, "build", tasks=drivers, job=job)
                self.end()
            built.result()
        except PslabError:
            with suppress(UnavailableError):
                self._cluster.call_all("discard")
            raise
        self._gates = gates
        self.strategies.append(strategy)
        step = self._first_step = self.look().global_step
        job = self.job(strategy)
        self.places.begin(job.places, step)
        state = None if self.keeper.begun else self.ask("state")
        self.keeper.begin(job, state, self._cluster.call_all("begin", epoch_id=job.epoch_id, granted=step))
        try:
            if self._reading is Reading.FILES:
                self._cluster.call_all("prepare", tasks=self._drivers()[:-1], job=job)
            self.sleepers.doze()
            self._cluster.call_all("start", tasks=drivers, job=job)
            self._cluster.call_all("go")
        except PslabError:
            self._stop_and_drop()
            raise
        self._homecoming = Homecoming(self._cluster, strategy, step)
        self._stepper = Stepper(self._cluster, job) if gates is Gates.MESSAGES else None
        self.active = True

    def end(self, patience: float = PATIENCE_S) -> str:
        """End the epoch: the steps in flight are done (in ``patience`` seconds), what waited is given up.

        Returns:
            What parameters were lost that lived on workers; empty where none were.
        """
        if not self.active:
            return ""
        self.pause()
        self.sleepers.wake()
        self._cluster.call_all("stop_updates", epoch_id=self._epoch_id, patience=patience)
        told = "" if self._homecoming is None else self._homecoming.end()
        self.active, self._homecoming = False, None
        self._stop_and_drop()
        return told

    def publish(self) -> None:
        """Let the ps have the parameters as they are now, where those live on the workers. Call it while no update is under way."""
        if self._homecoming is not None:
            self._homecoming.publish(self.look().global_step)

    def whole(self) -> bool:
        """Whether no parameters that live on workers are lost."""
        return self._homecoming is None or self._homecoming.whole()

    def rescue(self) -> str:
        """Let the ps have what is left of the parameters that live on workers, if it can be; what was lost."""
        told = ""
        if self._homecoming is not None:
            with suppress(PslabError):
                self.pause()
                told = self._homecoming.end()
        self._homecoming = None
        return told

    def abandon(self) -> None:
        """End the epoch without a word to tasks that may be gone."""
        if self.active:
            self.active, self._homecoming = False, None
            with suppress(PslabError):
                self._stop_and_drop()

    def limit(self, updates: int) -> None:
        """Let updates be made up to this global step."""
        self._cluster.call(FIRST_PS, "limit", updates=updates)

    def pause(self) -> None:
        """Let no further update begin."""
        self._cluster.call(FIRST_PS, "pause")

    @property
    def stepper(self) -> Stepper | None:
        """What lets messages in, while an epoch with gates is on."""
        return self._stepper if self.active else None

    # Looking

    def look(self) -> Progress:
        """How far the training is."""
        self.progress = self._cluster.call(FIRST_PS, "progress")
        return self.progress

    def settled(self) -> bool:
        """Whether no update is under way: each that was claimed is made, on every ps. What waits at a gate is not under way."""
        progress = self.look()
        return self._gates is not Gates.NONE or (progress.global_step == progress.granted and self.made(progress.global_step))

    def made(self, step: int) -> bool:
        """Whether every ps has made the updates up to global step ``step``: the first counts them, and others may be behind."""
        if not (self.active and self.strategies[-1].races):
            return True  # who makes an update counts it when all ps have made it
        epoch_id = self._epoch_id
        return all(self._cluster.call(ps, "updates", epoch_id=epoch_id) >= step - self._first_step for ps in self._servers()[1:])

    def has_parameters(self) -> bool:
        """Whether the chief can be asked, and all variables have a value."""
        try:
            return bool(self.ask("initialised"))
        except UnavailableError:
            return False

    def records(self) -> Records:
        """All step records until now."""
        self._fetch()
        return self._history.records()

    def news(self, place: Place | None) -> News:
        """The step records that were fetched since ``place``; asks no task."""
        return self._history.since(place)

    def inspect(self) -> dict[str, list[LoopStatus]]:
        """Look at everything; returns the loops of each task.

        Raises:
            UnavailableError: a task was lost.
        """
        self.look()
        return self._take(self._cluster.call_all("report", tasks=self._drivers(), cursors=self._history.cursors))

    def loops(self) -> dict[str, list[LoopStatus]]:
        """The loops of each task."""
        return self._note(self._cluster.call_all("loops", tasks=self._drivers()))

    def film(self) -> None:
        """Trace the steps that begin from now on."""
        self._cluster.call_all("film", tasks=self._drivers())

    def filmed(self, strategy: Strategy) -> int:
        """How many steps of the first task that has a loop were traced until now."""
        return len(full_shots(self._cluster.call(self.expected(strategy)[0], "shots")))

    def cut(self) -> dict[str, list[Shot]]:
        """Trace no further steps; those that were, by the task that drove them."""
        return self._cluster.call_all("cut", tasks=self._drivers())

    def replicas(self) -> list[ReplicaParameters]:
        """The replicas as they came to their last commits, in the order of their workers; none where no epoch is on."""
        if not self.active:
            return []
        found = self._cluster.call_all("replicas", tasks=self.expected(self.strategies[-1]))
        replicas = sorted((replica for replicas in found.values() for replica in replicas), key=lambda r: r.index)
        return self._as_read(replicas) if self.strategies[-1].replication is Replication.IN_GRAPH else replicas

    def _as_read(self, towers: list[ReplicaParameters]) -> list[ReplicaParameters]:
        """Towers with their parameters, which are on the ps: as each has read them last."""
        reads: defaultdict[int, dict[str, Any]] = defaultdict(dict)
        for found in self._cluster.call_all("last_reads", tasks=self._servers(), epoch_id=self._epoch_id).values():
            for worker, values in found.items():
                reads[worker] |= values
        return [replace(tower, began=reads[tower.index], arrived=reads[tower.index]) for tower in towers]

    def expected(self, strategy: Strategy) -> list[str]:
        """Tasks that have loops while an epoch is on."""
        return [CLIENT] if strategy.replication is Replication.IN_GRAPH else self._drivers()[:-1]

    def traffic(self) -> Traffic:
        """What went between the tasks in this epoch, or the one that was last."""
        self._fetch()
        made = self._history.steps(len(self.strategies) - 1)
        steps = {f"worker:{i}": made.get(i, 0) for i in range(self.workers)}
        return Traffic(self._cluster.call_all("traffic"), steps)

    @property
    def _epoch_id(self) -> str:
        return self.job(self.strategies[-1]).epoch_id

    def _stop_and_drop(self) -> None:
        """What is forgotten before all loops have ended would be made anew by those that still run."""
        try:
            self._take(self._cluster.call_all("stop", cursors=self._history.cursors))
        finally:
            left = self._cluster.call_all("drop", epoch_id=self._epoch_id)
        self._dropped += max(task.dropped for task in left.values())
        self.progress = self.progress._replace(late=0)
        try:
            step = self.look().global_step
        except (UnavailableError, FailedPreconditionError):  # a ps that was lost has no global step, nor is it known in which order it applied
            self.keeper.forget()
        else:
            self.keeper.end(step, {task: its.order for task, its in left.items()}, self.places.out())
            self.places.end(self.strategies[-1], step)

    def _take(self, reports: dict[str, Report]) -> dict[str, list[LoopStatus]]:
        for task, report in reports.items():
            self._history.add(task, report.records)
        return self._note({task: report.loops for task, report in reports.items()})

    def _note(self, found: dict[str, list[LoopStatus]]) -> dict[str, list[LoopStatus]]:
        self.places.note(place for loops in found.values() for loop in loops for place in loop.places)
        return found

    def _fetch(self) -> None:
        for task in self._drivers():
            with suppress(UnavailableError):  # a task that was lost has no records
                self._take({task: self._cluster.call(task, "report", cursors=self._history.cursors)})

    def _servers(self) -> list[str]:
        return [f"ps:{i}" for i in range(self._cluster.ps)]

    def _drivers(self) -> list[str]:
        return [*(f"worker:{i}" for i in range(self._cluster.workers)), CLIENT]
