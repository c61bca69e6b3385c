"""The lab: what a notebook holds. Each verb of ``%pslab`` is a method here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from pslab.data.datasets import load
from pslab.data.division import Division
from pslab.data.partitions import DataSource
from pslab.errors import UsageError
from pslab.lab.lab_costs import LabCosts
from pslab.lab.lab_log import LabLog
from pslab.lab.lab_replicas import LabReplicas
from pslab.lab.lab_share import LabShare, origin_of
from pslab.lab.looking import Looking
from pslab.lab.memory import check_training
from pslab.lab.plan import Grid, plan
from pslab.lab.recipe import Recipe
from pslab.lab.setup import Setup
from pslab.lab.status import LabStatus
from pslab.lab.until import Until
from pslab.train.model import Build, Model
from pslab.train.placement import Placement
from pslab.train.race import Message
from pslab.train.reading import Reading, check_passes
from pslab.train.stepping import Passages
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import choice

if TYPE_CHECKING:
    from pslab.lab.graph_view.view import GraphView
    from pslab.lab.panel.panel import Panel
    from pslab.lab.sweep import Sweep


class Lab(Looking, LabCosts, LabLog, LabReplicas, LabShare):
    """A cluster, a data set, a model and a mode: everything that is trained and looked at.

    What is not said is chosen: the digits, an MLP, between-graph async. Anything may be said again at any time; what does not fit is refused, and
    everything stays as it was.

    Attributes:
        cluster: the cluster, to be started, scaled, hurt and stopped.
    """

    def on(self, where: str, source: str, *, anew: bool = False) -> None:
        """Run Python on tasks of the cluster, each in its own process, and print what it prints there.

        It finds ``tf``, ``cluster`` (a `ClusterSpec`), ``server``, ``job_name`` and ``task_index``, and what earlier ones have left.

        Args:
            where: ``"worker"`` for each of them (between-graph: each builds the same graph), one such as ``"worker:1"``, or ``"client"`` (in-graph).
            source: the Python.
            anew: forget the names and the graph of earlier ones there.

        Raises:
            FailedPreconditionError: there is no cluster, or a task is still at work on another.
            NotFoundError: there is no such task.
            AbortedError: it has failed somewhere; the traceback was printed.
        """
        from pslab.lab.programs import notebook_output
        from pslab.run.on_tasks import run_cell

        cluster = self.cluster.require()
        run_cell(cluster, where, source, anew, notebook_output(cluster.tasks))

    # What to train

    def data(
        self,
        source: Any = "digits",
        targets: Any = None,
        *,
        label: Any = None,
        classes: int | None = None,
        batch_size: int | Sequence[int] = 64,
        shares: Sequence[float] | None = None,
        passes: int | None = None,
        seed: int = 0,
        reading: Reading | str = Reading.FEEDING,
    ) -> DataSource:
        """Choose the data. A training that was begun on other data is given up.

        Args:
            source: ``"digits"``; arrays ``(x, y)`` with one example per row; or data in parts, of which each worker loads its own: Dask arrays or
                tables, or URLs of files (``"s3://bucket/*.parquet"``).
            targets: ``y``, where ``source`` is ``x`` alone.
            label: of tables and files, the column of the targets.
            classes: of data in parts, how many classes there are; as many as the first part has if None.
            batch_size: examples per step of a worker: one number for all, or one per worker (``[64, 32]``).
            shares: which part of the training examples each worker has as its own (``[0.7, 0.3]``); without, all are dealt the examples of one stream.
            passes: how often a worker goes through what it gets, before it is out of data and leaves; None is for ever.
            seed: seed of the order of the examples.
            reading: how examples come to the workers: ``"feeding"`` (from who drives the step), ``"files"`` (ops read a file of each worker's) or
                ``"preloaded"`` (they lie in variables on each worker, and a step is told which rows to take).

        Raises:
            UsageError: it is no data, it cannot be divided so, or there is no such way of reading.
        """
        if reading not in list(Reading):
            raise UsageError(f"there is no reading {reading!r}", f"one of: {', '.join(Reading)}")
        way = Reading(reading)
        dataset = load(source, targets, label=label, classes=classes)
        division = Division(batch_size, shares, passes, seed)
        division.check(self.cluster.workers or division.numbers, dataset.examples)
        check_passes(way, division)
        with self._lock:
            if self._model is not None:
                self._recipe.model(dataset)
            self._leave()
            self._dataset, self._division, self._reading = dataset, division, way
            self._origin = origin_of(source, label, classes)
            self._model = None
        return dataset

    def model(
        self,
        source: str | Build = "mlp",
        *,
        hidden: Sequence[int] = (128,),
        stages: int = 1,
        partitions: int = 1,
        placement: Placement | str = Placement.IN_TURN,
        optimizer: str | Callable[[], Any] = "sgd",
        learning_rate: float = 0.1,
        seed: int = 0,
    ) -> Model:
        """Choose the model. It is tried out at once; a training of another model is given up.

        Args:
            source: ``"mlp"``, ``"logistic"``, or a function ``(x, y) -> (loss, {"accuracy": tensor, …})``.
            hidden: widths of the MLP's hidden layers.
            stages: over how many workers a pipeline spreads the MLP's layers.
            partitions: how many variables the weights of each of its layers are, so that several ps can share them.
            placement: how variables are spread over the ps: ``"in-turn"``, or ``"by-bytes"``, each to the one with the fewest.
            optimizer: ``"sgd"``, ``"momentum"``, ``"adagrad"``, ``"rmsprop"``, ``"adam"``, or a function that makes an optimizer.
            learning_rate: for an optimizer given by name.
            seed: seed of the initial parameters.

        Raises:
            UsageError: the model cannot be built or trained on the data; the one before stays.
        """
        recipe = Recipe(source, tuple(hidden), stages, partitions, choice(Placement, placement, "placement"), optimizer, learning_rate, seed)
        with self._lock:
            model = recipe.model(self._the_dataset())
            self._leave()
            self._recipe, self._model = recipe, model
        return model

    def mode(self, strategy: Strategy | None = None, **fields: Any) -> Strategy:
        """Choose how the replicas work together; also while they train, from the next step on. What is not given stays.

        Args:
            strategy: all of it; or
            fields: those of `Strategy` to be changed: ``replication``, ``update``, ``commit_every``, ``commit``, ``compression``. An update rule that
                can be had in one replication only brings that along.

        Raises:
            UsageError: there is no such mode, or it does not fit the cluster; the one before stays.
        """
        with self._lock:
            wanted = (strategy or self._strategy).changed(**fields)
            if self.cluster.running:
                wanted.check(self.cluster.workers)
            if self._trainer is not None:
                self._trainer.set_strategy(wanted)
            self._strategy = wanted
        return wanted

    def adjust(self, *, learning_rate: float | None = None, batch_size: int | Sequence[int] | None = None) -> None:
        """Change these numbers, also while it trains, from the next step on. Parameters, optimizer slots and the global step stay.

        Raises:
            UsageError: a number does not fit, or the optimizer was made by a function, which alone knows its rate; all stays as it was.
            ResourceExhaustedError: such a batch would not fit into memory; the message has the largest that would.
        """
        with self._lock:
            recipe, model, division = self._recipe, self._model, self._division
            if learning_rate is not None:
                model = self._the_model().with_rate(learning_rate)
                recipe = replace(recipe, learning_rate=learning_rate)
            if batch_size is not None:
                division = replace(division, batch_size=batch_size)
                division.check(self.cluster.workers or division.numbers, self._the_dataset().examples)
                if self.cluster.running:
                    check_training(self.memory(batch_size))
            if self._trainer is not None:
                self._trainer.adjust(learning_rate, batch_size)
            self._recipe, self._model, self._division = recipe, model, division

    @property
    def strategy(self) -> Strategy:
        """The mode in force."""
        return self._strategy

    @property
    def learning_rate(self) -> float | None:
        """The learning rate in force; None where the optimizer was made by a function, which alone knows it."""
        return None if callable(self._recipe.optimizer) else self._recipe.learning_rate

    @property
    def batch_size(self) -> int | Sequence[int]:
        """Examples per step of a worker: one number for all, or one per worker."""
        return self._division.batch_size

    @property
    def trainer(self) -> Trainer | None:
        """What trains, or trained last; None before the first training, and where other data or another model were chosen since."""
        return self._trainer

    # Training

    def train(self, steps: int = 500, *, wait: bool = False) -> LabStatus:
        """Make ``steps`` more updates of the model, in the background; with ``wait``, come back when they are made.

        With ``lab.data(passes=…)`` it may end before: the state is ``"out of data"`` then.

        Raises:
            ResourceExhaustedError: a batch would not fit into memory; the message has the largest that would.
            FailedPreconditionError: there are no data for another update.
        """
        with self._lock:
            self._check_memory().train(steps)
        return self.wait() if wait else self.status()

    def pause(self) -> LabStatus:
        """Let no further update begin."""
        self._training().pause()
        return self.status()

    def resume(self) -> LabStatus:
        """Go on after a pause, or after a failure."""
        self._training().resume()
        return self.status()

    @overload
    def step(self, n: int = 1) -> LabStatus: ...

    @overload
    def step(self, *, messages: int, worker: int | None = None, ps: int | None = None) -> Passages: ...

    def step(self, n: int = 1, *, messages: int | None = None, worker: int | None = None, ps: int | None = None) -> LabStatus | Passages:
        """Make exactly ``n`` updates, and be paused; or let ``messages`` in at the ps, one after the other.

        Args:
            n: how many updates.
            messages: how many messages, in place of updates. Of each is told who had read which version, and how stale its contribution was.
            worker: whose messages; of whoever comes first if None.
            ps: at which ps; at whichever if None.

        Raises:
            UsageError: there is no such worker or ps, or the mode has no messages that could wait.
            FailedPreconditionError: the worker waits for others.
        """
        trainer = self._check_memory()
        if messages is None:
            trainer.step(n)
            return self.status()
        if messages < 1:
            raise UsageError(f"messages must be at least 1, found {messages}")
        return Passages(trainer.advance(worker, ps) for _ in range(messages))

    def messages(self) -> tuple[Message, ...]:
        """What waits at the gates of the ps, where the training goes on message by message."""
        return self._begun().messages()

    def stop(self) -> LabStatus:
        """End the training; the parameters stay."""
        self._training().stop()
        return self.status()

    def reset(self) -> LabStatus:
        """Back to the initial parameters and global step 0, with no records."""
        self._begun().reset()
        return self.status()

    def wait(self, step: int | None = None, timeout: float | None = None) -> LabStatus:
        """Wait until global step ``step``, or until the training is no longer running. An interrupt ends the waiting, not the training."""
        self._training().wait(step, timeout)
        return self.status()

    async def until(self, step: int | None = None, timeout: float | None = None) -> LabStatus:
        """Like `wait`, but lets the notebook's widgets answer meanwhile: ``await lab.until(step=200)``."""
        await asyncio.to_thread(self._training().wait, step, timeout)
        return self.status()

    def sweep(self, over: Grid, until: Until | None = None, *, path: str | Path | None = None, resume: Sweep | None = None, **how: Any) -> Sweep:
        """Train from the beginning at every point of a grid, with several seeds: ``lab.sweep({"commit_every": [1, 2, 4]}, accuracy=0.95)``.

        All is checked before anything runs. A run that fails is recorded, and the next begins. An interrupt gives up the run in flight, and what was made
        is returned. The lab's own training is set aside meanwhile (`Trainer.lent`); it, the mode and the size of the cluster are as before in the end.

        Args:
            over: values by setting (`pslab.lab.setup.KEYS`), of which every combination is run; or the points one by one, as a list of dicts.
            until: when a run ends; or as keywords, those of `Until`.
            path: a directory, written after each run. What it has already of this sweep is not run again; points and seeds may be added.
            resume: a sweep to go on with, likewise.
            **how: ``seeds``, runs per point (3), and the first ``seed`` (0), both of the data's order and the initial parameters; or ends.

        Raises:
            UsageError: something does not fit, or what is to be gone on with has other settings; the message says which.
            OpError: there is no cluster, the lab's own training cannot be set aside, or the results cannot be written.
        """
        from pslab.lab.sweep_run import Bench, run_sweep

        with self._lock:
            cluster, dataset = self.cluster.require(), self._the_dataset()
            division = self._division
            data = (division.batch_size, self._reading, cluster.ps, cluster.workers, division.shares, division.passes)
            now = Setup(self._strategy, self._recipe, *data)
            planned, setups = plan(over, now, dataset, until, **how)
            return run_sweep(planned, Bench(self.cluster, dataset, setups, self._trainer), path, resume)

    def panel(self, *, hide: Sequence[str] = (), lock: Sequence[str] = ()) -> Panel:
        """Controls and live plots, for a notebook: shown where it is the value of a cell. All panels of a lab show the same.

        Args:
            hide: names of controls and buttons that are not shown, such as ``"commit"``.
            lock: names of those that are shown, but cannot be used.

        Raises:
            UsageError: there is no such control.
        """
        from pslab.lab.panel.panel import Station

        with self._lock:
            if self._station is None:
                self._station = Station(self)
        return self._station.open(hide, lock)

    def graph_view(self) -> GraphView:
        """The graph of the present mode, alive, for a notebook: shown where it is the value of a cell. It follows changes of mode while it trains."""
        from pslab.lab.graph_view.view import GraphStation

        with self._lock:
            if self._graph_station is None:
                self._graph_station = GraphStation(self, self._job_or_sketch)
        return self._graph_station.open()

    # Keeping

    def save(self, prefix: str | Path) -> str:
        """Write parameters, slots and the global step to a checkpoint; returns its path."""
        return self._begun().save(str(prefix))

    def restore(self, prefix: str | Path) -> LabStatus:
        """Go back to a checkpoint, at a boundary between steps if the training runs."""
        self._begun().restore(str(prefix))
        return self.status()

    # Parts

    def _check_memory(self) -> Trainer:
        """The trainer, if its batches fit into memory."""
        trainer = self._begun()
        check_training(self.memory())
        return trainer
