"""Summing step records up: the figures that modes of training are compared by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pslab.trace.recorder import Records


@dataclass(frozen=True)
class StepSummary:
    """Figures of some steps. A figure that no step says anything about is NaN.

    Steps that did extra work to be looked at (``observed``) are left out of rates, bytes and waits.

    Attributes:
        steps: steps of all workers.
        seconds: from the beginning of the first step to the end of the last.
        worker_steps_per_s: steps per second of a worker, summed over the workers.
        bytes_pushed_per_step: bytes that a worker sends per step, headers included.
        bytes_pulled_per_step: bytes that a worker receives per step, headers included.
        bytes_fed_per_step: bytes that come as feeds per step.
        staleness_mean: mean staleness.
        staleness_max: greatest staleness.
        wait_share: time spent waiting, as a share of the workers' wall time.
    """

    steps: int
    seconds: float
    worker_steps_per_s: float
    bytes_pushed_per_step: float
    bytes_pulled_per_step: float
    bytes_fed_per_step: float
    staleness_mean: float
    staleness_max: float
    wait_share: float


def summarise(records: Records) -> StepSummary:
    """Sum up records of dtype `pslab.trace.records.step_dtype`."""
    usual = records[~records["observed"]]
    stale = records["staleness"][~np.isnan(records["staleness"])]
    wall = float(usual["wall"].sum())
    return StepSummary(
        steps=len(records),
        seconds=float(records["time"].max() - (records["time"] - records["wall"]).min()) if len(records) else 0.0,
        worker_steps_per_s=_rate(usual),
        bytes_pushed_per_step=_mean(usual["bytes_pushed"]),
        bytes_pulled_per_step=_mean(usual["bytes_pulled"]),
        bytes_fed_per_step=_mean(usual["bytes_fed"]),
        staleness_mean=_mean(stale),
        staleness_max=float(stale.max()) if len(stale) else np.nan,
        wait_share=float(usual["wait"].sum()) / wall if wall else np.nan,
    )


def _rate(records: Records) -> float:
    if not len(records):
        return np.nan
    workers, place = np.unique(records["worker"], return_inverse=True)
    wall = np.bincount(place, records["wall"], len(workers))
    steps = np.bincount(place, minlength=len(workers))
    return float((steps / wall).sum()) if wall.all() else np.nan


def _mean(values: np.ndarray[tuple[int], np.dtype[np.float64 | np.int64]]) -> float:
    return float(values.mean()) if len(values) else np.nan
