"""Looking: the verbs of a lab that change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pslab.lab.display import kept
from pslab.lab.memory import MOST, MemoryEstimate, Room, chunk_that_fits, estimate
from pslab.lab.status import LabStatus
from pslab.lab.tables import metrics_table
from pslab.lab.workbench import Workbench
from pslab.train.model_session import CHUNK
from pslab.train.plans import mode_plan, placement_of, prediction_step
from pslab.train.trainer_status import TrainerStatus

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from pslab.graph.plan import StepPlan
    from pslab.trace.recorder import Records

RECENT = 100
"""Steps that a status is a mean over."""


class Looking(Workbench):
    """How a training fares, what its model answers, what its steps are made of."""

    def status(self) -> LabStatus:
        """How the training fares."""
        dataset = self._dataset.name if self._dataset is not None else "digits"
        trainer = self._trainer
        if trainer is None:
            idle = TrainerStatus("idle", "", self._strategy, 0, 0, (), 0)
            return LabStatus.of(idle, None, (), self.cluster.workers, dataset, self._recipe.name, self.cluster.delays, self._division)
        now = trainer.status()
        recent = metrics_table(trainer.records()[-RECENT:], trainer.strategies)
        names, delays = trainer.metric_names, self.cluster.delays
        return LabStatus.of(now, recent, names, self.cluster.workers, dataset, self._recipe.name, delays, self._division)

    def metrics(self) -> pandas.DataFrame:
        """One row per worker step: when, who, in which mode, loss, metrics, staleness, divergence, seconds and bytes."""
        trainer = self._trainer
        return metrics_table(trainer.records(), trainer.strategies) if trainer is not None else metrics_table(None, [])

    def records(self) -> Records:
        """The raw step records, by time: a structured array (`pslab.trace.records.step_dtype`)."""
        return self._training().records()

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw loss, divergence, bytes per step and time per step; write the picture to ``path`` if one is given."""
        from pslab.lab.figures import training_figure

        return kept(training_figure(self.metrics()), path)

    def timeline(self, path: str | Path | None = None) -> Figure:
        """Trace one step, and draw what each task did meanwhile. A training that stands still makes some updates for that."""
        from pslab.lab.timeline_figure import timeline_figure

        return kept(timeline_figure(self._begun().timeline(), self._strategy), path)

    def evaluate(self) -> dict[str, float]:
        """Loss and metrics on the test set, with the parameters as they are now; as many examples at a time as fit into memory.

        Raises:
            ResourceExhaustedError: not even one fits beside the test set.
        """
        return self._begun().evaluate(self._test_chunk())

    def predict(self, x: Any = None, *, n: int = 10) -> dict[str, np.ndarray[Any, Any]]:
        """The model's outputs for examples: ``x``, or the first ``n`` of the test set, whose targets come along as ``"target"``."""
        trainer, dataset = self._begun(), self._the_dataset()
        examples = dataset.x_test[:n] if x is None else np.asarray(x)
        chunk = chunk_that_fits(prediction_step(trainer.job()), self._held(examples.nbytes), CHUNK, self.cluster.room, "predicting")
        outputs = trainer.predict(examples, chunk)
        return outputs if x is not None else {**outputs, "target": dataset.y_test[:n]}

    def memory(self, batch: int | Sequence[int] | None = None) -> MemoryEstimate:
        """What a step of the present mode will take on each task, with batches of this size (of the chosen one by default); print it.

        Raises:
            UsageError: ``batch`` is less than 1.
        """
        room = self.cluster.room if self.cluster.running else Room(None, None)
        job = self._job_or_sketch().fed
        examples = self._the_dataset().examples
        most = MOST if examples is None else examples // job.workers
        return estimate(job, self._division.batch_size if batch is None else batch, self._held(), most, room)

    def graph(self) -> StepPlan:
        """The plan of a step of the present mode: which task runs which ops, and what travels between them."""
        return mode_plan(self._job_or_sketch())

    def placement(self) -> str:
        """The device of each op of the present mode, as TensorFlow's ``log_device_placement`` prints it."""
        return placement_of(self.graph())
