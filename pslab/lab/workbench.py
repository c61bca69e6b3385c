"""The workbench: what a lab holds, and what its verbs have in common."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from pslab.data.datasets import load
from pslab.data.division import Division
from pslab.data.partitions import DataSource
from pslab.errors import FailedPreconditionError
from pslab.lab.lab_cluster import LabCluster
from pslab.lab.memory import chunk_that_fits, held
from pslab.lab.recipe import Recipe
from pslab.lab.share import Origin
from pslab.train.job import Job
from pslab.train.model import Model
from pslab.train.model_session import CHUNK
from pslab.train.plans import evaluation_step, sketch
from pslab.train.reading import Reading
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer

if TYPE_CHECKING:
    from pslab.lab.graph_view.view import GraphStation
    from pslab.lab.panel.panel import Station
    from pslab.lab.parameter_view.view import ParameterStation
    from pslab.lab.race.race_view import RaceStation


class Workbench:
    """A cluster, a data set, a model, a mode, and a training, if there is one.

    Attributes:
        cluster: the cluster, to be started, scaled, hurt and stopped.
    """

    def __init__(self) -> None:
        self.cluster = LabCluster(self._leave, self._resized, lambda: self._trainer)
        self._dataset: DataSource | None = None
        self._origin: Origin | None = Origin()
        self._division = Division()
        self._reading = Reading.FEEDING
        self._recipe = Recipe()
        self._model: Model | None = None
        self._strategy = Strategy()
        self._trainer: Trainer | None = None
        self._station: Station | None = None
        self._race_station: RaceStation | None = None
        self._graph_station: GraphStation | None = None
        self._parameter_station: ParameterStation | None = None
        self._lock = threading.RLock()

    def _the_dataset(self) -> DataSource:
        if self._dataset is None:
            self._dataset = load("digits")
        return self._dataset

    def _the_model(self) -> Model:
        """The model; made once where none was chosen, for who looks again is to see the same."""
        with self._lock:
            if self._model is None:
                self._model = self._recipe.model(self._the_dataset())
            return self._model

    def _begun(self) -> Trainer:
        """The trainer, made if there is none yet.

        Raises:
            FailedPreconditionError: there is no cluster.
        """
        with self._lock:
            cluster = self.cluster.require()
            if self._trainer is None:
                division = self._division
                self._trainer = Trainer(
                    cluster,
                    self._the_dataset(),
                    self._the_model(),
                    self._strategy,
                    division.batch_size,
                    division.seed,
                    self._reading,
                    shares=division.shares,
                    passes=division.passes,
                )
                self.cluster.slow_down(self._trainer)
            return self._trainer

    def _test_chunk(self) -> int:
        """How many examples are tested at a time: as many as fit."""
        trainer, dataset = self._begun(), self._the_dataset()
        data = self._held(dataset.x_test.nbytes + dataset.y_test.nbytes)
        return chunk_that_fits(evaluation_step(trainer.job()), data, CHUNK, self.cluster.room, "testing")

    def _held(self, tested: int = 0) -> dict[str, int]:
        return held(self._the_dataset(), self.cluster.workers or 2, tested)

    def _training(self) -> Trainer:
        self.cluster.require()
        if self._trainer is None:
            raise FailedPreconditionError("nothing was trained yet", "lab.train(steps=500), or %pslab train --steps 500")
        return self._trainer

    def _leave(self) -> None:
        """Give up the present training."""
        if self._trainer is not None:
            self._trainer.close()
            self._trainer = None

    def _resized(self, scale: Callable[[], None], workers: int) -> None:
        """Let ``scale`` change the cluster to so many workers; a training moves along."""
        if self._trainer is None:
            self._division.check_workers(workers)
            scale()
        else:
            self._trainer.resize(scale, workers)

    def _job_or_sketch(self) -> Job:
        if self._trainer is not None:
            return self._trainer.job()
        ps, workers = (self.cluster.ps, self.cluster.workers) if self.cluster.running else (1, 2)
        return sketch(self._the_model(), self._the_dataset(), self._strategy, ps, workers)
