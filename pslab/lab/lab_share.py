"""A lab's set-up, given to others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

from pslab.data.datasets import load
from pslab.errors import PslabError, UsageError
from pslab.lab.setup import Setup
from pslab.lab.share import Origin, Share, read_share
from pslab.lab.workbench import Workbench


class LabShare(Workbench):
    """The verbs of a `Lab` that take it from one notebook to another."""

    def share(self) -> str:
        """The whole set-up as one line of text, such as ``pslab(workers=3, update=SSP(staleness=2))``; what is not in it is as by default.

        It has the cluster's size, the data, the model, the mode, the seeds, the links and the stragglers: who takes it begins with the same parameters
        and sees the same examples. How far a training has gone is not in it; checkpoints are for that.

        Raises:
            UsageError: data or a model of one's own are in use, which a line of text cannot tell.
        """
        with self._lock:
            if self._origin is None:
                raise UsageError("the data are arrays of this notebook, which a line of text cannot tell", "files, by their URLs; or the digits")
            division, cluster = self._division, self.cluster
            setup = Setup(
                self._strategy,
                self._recipe,
                division.batch_size,
                self._reading,
                cluster.ps or 1,
                cluster.workers or 2,
                division.shares,
                division.passes,
            )
            return str(Share(setup, self._origin, division.seed, self._recipe.seed, cluster.network, tuple(cluster.delays.items())))

    def take_share(self, text: str) -> None:
        """Set everything up as a line of text says, and start or scale the cluster. A training that was under way is given up.

        Args:
            text: what `share` has told.

        Raises:
            UsageError: it cannot be meant, or does not fit; all is as it was.
            OpError: such a cluster cannot be had; what is trained is as it was, but a training was given up.
        """
        shared = read_share(text)
        setup, origin = shared.setup, shared.origin
        dataset = load(origin.data if isinstance(origin.data, str) else list(origin.data), label=origin.label, classes=origin.classes)
        recipe = replace(setup.recipe, seed=shared.seed)
        model = replace(setup, recipe=recipe).check(dataset)
        with self._lock:
            if not self.cluster.running:
                self.cluster.start(setup.ps, setup.workers)
            self._leave()
            before, self._division = self._division, setup.division(shared.data_seed)
            try:
                self.cluster.scale(setup.ps, setup.workers)
            except PslabError:
                self._division = before
                raise
            self._dataset, self._origin, self._reading = dataset, origin, setup.reading
            self._model, self._recipe, self._strategy = model, recipe, setup.strategy
            self.cluster.be_like(shared.network, dict(shared.slow))

    @classmethod
    def from_share(cls, text: str) -> Self:
        """A lab that is set up as a line of text says, with its cluster started; see `take_share`."""
        lab = cls()
        lab.take_share(text)
        return lab


def origin_of(source: Any, label: Any, classes: int | None) -> Origin | None:
    """Where data come from, if words can tell; None of arrays and the like."""
    if isinstance(source, str):
        return Origin(source, label, classes)
    if isinstance(source, Sequence) and source and all(isinstance(part, str) for part in source):
        return Origin(tuple(source), label, classes)
    return None
