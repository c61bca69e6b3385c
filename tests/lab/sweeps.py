"""Experiments without a cluster: known figures for every run of a grid."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any

from pslab.data.datasets import load
from pslab.lab.measure import COSTS, Measured
from pslab.lab.plan import Grid, plan
from pslab.lab.recipe import Recipe
from pslab.lab.setup import Setup
from pslab.lab.sweep import Sweep
from pslab.lab.until import Until
from pslab.train.reading import Reading
from pslab.train.strategy import Strategy

DIGITS = load("digits")
NOW = Setup(Strategy(), Recipe(), 64, Reading.FEEDING, 1, 2)
TARGET = Until(accuracy=0.95, steps=300)
ALL_FAILED = range(10**6)


def one(until: Until, cost: float, seed: int = 0) -> Measured:
    """A run whose accuracy rises to 0.98, the slower the greater ``cost``; a step takes 1 ms, 64 examples and 100 bytes."""
    curve: list[dict[str, float]] = []
    for step in range(0, until.limit + 1, until.every):
        rest = math.exp(-step / (20 * cost * (1 + seed / 10)))
        spent = {"seconds": step / 1000, "steps": step, "worker_steps": step, "examples": 64 * step, "bytes": 100 * step}
        curve.append({**spent, "test_loss": 0.1 + 2 * rest, "test_accuracy": 0.98 - 0.9 * rest})
        if until.reached({"loss": curve[-1]["test_loss"], "accuracy": curve[-1]["test_accuracy"]}):
            break
    end, reached = curve[-1], until.reached({"loss": curve[-1]["test_loss"], "accuracy": curve[-1]["test_accuracy"]})
    outcome = "reached" if reached else "not reached" if until.target else "done"
    targets = {f"{cost}_to_target": end[cost] if reached else math.nan for cost in COSTS}
    return Measured({"outcome": outcome, "message": "", **end, **targets, "staleness_mean": 1.0}, curve)


def filled(
    grid: Grid,
    until: Until = TARGET,
    seeds: int = 3,
    cost: Callable[[Setup], float] = lambda setup: 64 / setup.batch_size,
    failing: Collection[int] = (),
    now: Setup = NOW,
    path: Any = None,
) -> Sweep:
    """An experiment all of whose runs were made; those with the numbers ``failing`` have failed."""
    planned, setups = plan(grid, now, DIGITS, until, seeds, 0)
    sweep = Sweep(planned, path=path)
    for count, (number, seed) in enumerate(planned.runs()):
        failed = Measured({"outcome": "failed", "message": "the loss is NaN"}, [])
        sweep.add(number, seed, failed if count in failing else one(until, cost(setups[number]), seed))
    return sweep
