"""What a lab knows of the order of its updates, and does once more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pslab.cluster import Cluster
from pslab.lab.workbench import Workbench
from pslab.train.apply_log import ApplyLog
from pslab.train.rehearsal import replay

if TYPE_CHECKING:
    from pslab.lab.race.race_view import RaceView


class LabLog(Workbench):
    """The verbs of a `Lab` about the order of its updates."""

    def race(self) -> RaceView:
        """Step through the training message by message, for a notebook: drawn where it is the value of a cell. All views of a lab show the same.

        Who reads which version, whose contribution is how stale when it is applied, what is dropped, and who waits for whom. The first message that is
        let in pauses the training; it goes on from where the race has come to.
        """
        from pslab.lab.race.race_view import RaceStation

        with self._lock:
            if self._race_station is None:
                self._race_station = RaceStation(self)  # type: ignore[arg-type]
        return self._race_station.open()

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
        cluster = Cluster(found.ps, found.workers, processes=False).start()
        try:
            return replay(cluster, found, self._the_dataset(), self._the_model(), until)
        finally:
            cluster.stop()
