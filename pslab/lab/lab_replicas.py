"""What a lab is asked about its replicas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pslab.lab.display import kept
from pslab.lab.divergence_tables import divergence_history_table, divergence_table
from pslab.lab.workbench import Workbench
from pslab.train.trajectories import Directions, Landscape
from pslab.train.updates import choice

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from pslab.lab.parameter_view.view import ParameterView
    from pslab.train.merge_gap import MergeGap


class LabReplicas(Workbench):
    """The verbs of a `Lab` that compare its replicas."""

    def divergence(self, *, history: bool = False) -> pandas.DataFrame:
        """How far the replicas are from the parameters on the ps and from each other: a row per pair and parameter, and one for all parameters.

        Columns ``first``, ``second``, ``parameter``, ``distance`` and ``cosine`` are those of `pslab.train.distances.Distance`.

        Args:
            history: what was seen now and then while it trained, with ``time`` in seconds, ``global_step`` and ``mode``, instead of what there is now.

        Raises:
            FailedPreconditionError: nothing was trained, or the training was stopped.
        """
        trainer = self._training()
        return divergence_history_table(trainer.divergence_history(), trainer.strategies) if history else divergence_table(trainer.divergence())

    def plot_divergence(self, path: str | Path | None = None) -> Figure:
        """Draw how far the replicas were apart over time, from the ps, from each other, and by parameter; write it to ``path`` if one is given."""
        from pslab.lab.divergence_figure import divergence_figure

        figure = divergence_figure(self.divergence(history=True))
        if path is not None:
            figure.savefig(Path(path).expanduser())
        return figure

    def merge_gap(self) -> MergeGap:
        """Loss of the average of the replicas, less the mean of their losses, on the test set.

        Raises:
            FailedPreconditionError: nothing was trained, or the training was stopped.
        """
        return self._training().merge_gap(self._test_chunk())

    def landscape(self, looks: int = 40, every: int = 1, directions: Directions | str = Directions.PCA, seed: int = 0) -> Landscape:
        """Follow the replicas and the ps through parameter space, and take the loss in the plane of their paths, on test examples.

        A training that runs goes on meanwhile; one that stands still makes ``looks`` times ``every`` updates, and is paused.

        Args:
            looks: how often to look.
            every: updates between two looks.
            directions: ``"pca"``, the two in which the points differ most; or ``"random"``, which are the same for any training of the model.
            seed: of random directions.

        Raises:
            UsageError: a number is too small, or there are no such directions.
        """
        wanted = choice(Directions, directions, "directions")
        return self._begun().landscape(looks, every, wanted, seed)

    def trajectories(self, path: str | Path | None = None, **how: Any) -> Figure:
        """Draw where the replicas and the ps go, over the loss; write the picture to ``path`` if one is given.

        Args:
            path: a file.
            **how: arguments of `landscape`.
        """
        from pslab.lab.trajectories_figure import trajectories_figure

        landscape = self.landscape(**how)
        return kept(trajectories_figure(landscape, f"Trajectories, {self._strategy}"), path)

    def parameter_view(self, directions: Directions | str = Directions.PCA, seed: int = 0) -> ParameterView:
        """Where the replicas and the ps go, alive, over the loss, for a notebook: drawn where it is the value of a cell. All views of a lab show the same.

        Args:
            directions: ``"pca"``, the two in which the points differ most; or ``"random"``. It can be changed in the view.
            seed: of random directions.

        Raises:
            UsageError: there are no such directions.
        """
        from pslab.lab.parameter_view.view import ParameterStation

        wanted = choice(Directions, directions, "directions")
        with self._lock:
            if self._parameter_station is None:
                self._parameter_station = ParameterStation(self)  # type: ignore[arg-type]
        return self._parameter_station.open(wanted, seed)
