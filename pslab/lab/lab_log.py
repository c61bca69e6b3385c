"""What a lab knows of the order of its updates, and does once more."""

from __future__ import annotations

from typing import Any

import numpy as np

from pslab.cluster import Cluster
from pslab.lab.workbench import Workbench
from pslab.train.apply_log import ApplyLog
from pslab.train.rehearsal import replay


class LabLog(Workbench):
    """The verbs of a `Lab` about its apply log."""

    def log(self) -> ApplyLog:
        """From where the training began, and in which order what the workers brought was applied since; `ApplyLog.save` keeps it in a file.

        Raises:
            FailedPreconditionError: nothing was trained.
        """
        return self._training().log()

    def replay(self, log: ApplyLog | None = None, until: int | None = None) -> dict[str, np.ndarray[Any, Any]]:
        """The parameters at the end of a log, or at global step ``until``, bit for bit, by training once more on tasks of its own.

        The lab's training goes on meanwhile. The lab's data and model are taken; on a machine with another processor or BLAS, bits may differ.

        Args:
            log: what to replay; the present training's by default.
            until: a global step of the log. Of several ps, each is then shown after as many updates of its own.

        Raises:
            UnimplementedError: the log has a mode, or the model an op, that leaves to chance what no log has.
            UsageError: there is no such step, or the log is of another model.
        """
        found = self.log() if log is None else log
        model = self._model or self._recipe.model(self._the_dataset())
        cluster = Cluster(found.ps, found.workers, processes=False).start()
        try:
            return replay(cluster, found, self._the_dataset(), model, until)
        finally:
            cluster.stop()
