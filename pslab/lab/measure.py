"""One run of an experiment: a training from its initial parameters to its end, and what was measured of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

import numpy as np

from pslab.errors import DeadlineExceededError
from pslab.lab.until import Until
from pslab.trace.recorder import Records
from pslab.trace.summary import summarise
from pslab.train.loop import OUT_OF_DATA
from pslab.train.trainer import Trainer
from pslab.train.trainer_status import TrainerStatus

LOOK_S = 0.1
"""Seconds between two looks at a training."""
BYTES = ("bytes_pushed", "bytes_pulled", "bytes_fed")
"""What adds up to the bytes on the wire."""
COSTS = ("seconds", "steps", "examples", "bytes")
"""What it takes to reach a target."""


@dataclass(frozen=True)
class Measured:
    """What was measured of a run.

    Attributes:
        figures: a row of the table, without the settings and the seed.
        curve: rows of the learning curve.
    """

    figures: Mapping[str, Any]
    curve: list[dict[str, float]]


def training_seconds(records: Records) -> float:
    """How long a training took, in seconds: the longest that any worker was at its steps, waits for others included and pauses left out."""
    return float(np.bincount(records["worker"], records["wall"]).max()) if len(records) else 0.0


def measure(
    trainer: Trainer,
    until: Until,
    sizes: Sequence[int],
    evaluate: Callable[[], Mapping[str, float]],
    look: Callable[[Mapping[str, float], int], None],
) -> Measured:
    """Train from the initial parameters until the end, or until there are no data. Of a training that fails, there is what was measured before.

    Args:
        trainer: a fresh one.
        until: the end.
        sizes: examples per step of each worker.
        evaluate: gives loss and metrics on the test set.
        look: told the last measurement and the number of updates, ten times a second. What it raises ends the run.
    """
    every = max(1, until.every // trainer.job().strategy.commit_every)
    curve: list[dict[str, float]] = []
    status, message, ended = trainer.status(), "", ""
    while not message:
        tested = evaluate()
        curve.append(_point(trainer.records(), status, sizes, tested))
        seconds = curve[-1]["seconds"]
        ended = trainer.without_data()
        if ended or until.reached(tested) or until.over(status.global_step, seconds):
            break
        trainer.train(min(every, until.limit - status.global_step))
        status = _wait(trainer, math.inf if until.seconds is None else until.seconds - seconds, partial(look, tested))
        message = "" if status.state == OUT_OF_DATA else status.message
    outcome = "failed" if message else "reached" if until.reached(tested) else "not reached" if until.target else "done"
    return Measured(_figures(outcome, message or ended, curve[-1], trainer.records()), curve)


def failed(message: str) -> Measured:
    """What there is of a run that could not even begin."""
    return Measured({"outcome": "failed", "message": message}, [])


def _wait(trainer: Trainer, seconds: float, look: Callable[[int], None]) -> TrainerStatus:
    """Wait until the training stands still, for which it has so many seconds."""
    began = monotonic()
    while (status := trainer.status()).state == "running":
        if monotonic() - began >= seconds:
            trainer.pause()
            continue
        look(status.global_step)
        with suppress(DeadlineExceededError):
            trainer.wait(timeout=min(LOOK_S, seconds))
    return status


def _point(records: Records, status: TrainerStatus, sizes: Sequence[int], tested: Mapping[str, float]) -> dict[str, float]:
    """A row of the learning curve: what was spent, and what it has brought."""
    examples = np.bincount(records["worker"], minlength=len(sizes)) * sizes
    for place in status.places:  # a last batch may be smaller
        examples[place.worker] = min(examples[place.worker], place.examples)
    return {
        "seconds": training_seconds(records),
        "steps": status.global_step,
        "worker_steps": len(records),
        "examples": int(examples.sum()),
        "bytes": int(sum(records[name].sum() for name in BYTES)),
        **{f"test_{name}": value for name, value in tested.items()},
    }


def _figures(outcome: str, message: str, end: Mapping[str, float], records: Records) -> dict[str, Any]:
    summary = summarise(records)
    divergences = records["divergence"][~np.isnan(records["divergence"])]
    return {
        "outcome": outcome,
        "message": message,
        **end,
        **{f"{cost}_to_target": end[cost] if outcome == "reached" else math.nan for cost in COSTS},
        "worker_steps_per_s": summary.worker_steps_per_s,
        "bytes_pushed_per_step": summary.bytes_pushed_per_step,
        "bytes_pulled_per_step": summary.bytes_pulled_per_step,
        "bytes_fed_per_step": summary.bytes_fed_per_step,
        "staleness_mean": summary.staleness_mean,
        "staleness_max": summary.staleness_max,
        "divergence_mean": float(divergences.mean()) if len(divergences) else math.nan,
        "wait_share": summary.wait_share,
    }
