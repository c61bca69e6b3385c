"""Who keeps the apply log of a training while its epochs come and go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pslab.train.apply_log import ApplyLog, EpochLog
from pslab.train.homecoming import FIRST_PS
from pslab.train.job import Job
from pslab.train.tasks import Tasks


class LogKeeper:
    """Keeps the ledgers of all ps of each epoch.

    Args:
        cluster: the tasks.
    """

    def __init__(self, cluster: Tasks) -> None:
        self._cluster = cluster
        self._beginning: dict[str, np.ndarray[Any, Any]] | None = None
        self._job: Job | None = None
        self._generators: dict[str, dict[str, np.ndarray[Any, Any]]] = {}
        self._epochs: list[EpochLog] = []

    @property
    def begun(self) -> bool:
        """Whether it is known from where the training began."""
        return self._beginning is not None

    def forget(self) -> None:
        """The tasks are set up anew: what comes does not follow from what was."""
        self._beginning, self._job, self._epochs = None, None, []

    def begin(self, job: Job, state: dict[str, np.ndarray[Any, Any]] | None, generators: Mapping[str, dict[str, np.ndarray[Any, Any]]]) -> None:
        """An epoch begins, with random sequences where these ``generators`` of each task are; in this ``state`` of all variables if it is the first."""
        self._beginning = self._beginning if state is None else state
        self._job = job
        self._generators = {task: states for task, states in generators.items() if states}

    def end(self, step: int, orders: Mapping[str, np.ndarray[Any, Any]], out: Sequence[int]) -> None:
        """An epoch has ended at global step ``step``, with these entries in each task's ledger, and these workers ``out`` of data."""
        job, self._job = self._job, None
        if job is not None:
            self._epochs.append(self._epoch(job, step, [orders[f"ps:{i}"] for i in range(job.ps)], out))

    def log(self, job: Job, out: Sequence[int], fingerprint: Mapping[str, str], outcome: Mapping[str, str]) -> ApplyLog | None:
        """All until now, if updates stand still; None where nothing has begun.

        Args:
            job: what is trained, and how.
            out: workers that are out of data.
            fingerprint: of data and model.
            outcome: of the present parameters.
        """
        if self._beginning is None:
            return None
        now = [] if self._job is None else [self._until_now(self._job, out)]
        return ApplyLog(job.ps, job.workers, job.division, job.reading, fingerprint, self._beginning, [*self._epochs, *now], outcome)

    def _until_now(self, job: Job, out: Sequence[int]) -> EpochLog:
        orders = [self._cluster.call(f"ps:{i}", "ledger", epoch_id=job.epoch_id) for i in range(job.ps)]
        return self._epoch(job, self._cluster.call(FIRST_PS, "progress").global_step, orders, out)

    def _epoch(self, job: Job, step: int, orders: Sequence[np.ndarray[Any, Any]], out: Sequence[int]) -> EpochLog:
        return EpochLog(job.strategy, job.first_step, step, orders, job.places, tuple(out), self._generators)
