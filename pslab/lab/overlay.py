"""Several experiments as one."""

from __future__ import annotations

from collections.abc import Sequence

from pslab.errors import UsageError
from pslab.lab.described import Described
from pslab.lab.measure import Measured
from pslab.lab.plan import Plan, Point, told_apart
from pslab.lab.sweep import Run, Sweep

NAME = "sweep"
"""The key that tells apart experiments with the same settings."""
_NOTHING = Described.of(None)


def overlay(sweeps: Sequence[Sweep]) -> Sweep:
    """Several experiments as one, to be put into one table and drawn on one figure.

    What differs between them becomes a key: settings that one is about and another has fixed, and settings that each has fixed otherwise. Where
    they have runs of the same settings and seed, the key ``"sweep"`` tells them apart: the last part of its path, or its number.

    Raises:
        UsageError: there is none.
    """
    if not sweeps:
        raise UsageError("there is nothing to overlay", "overlay([one, other])")
    plans = [sweep.plan for sweep in sweeps]
    swept = dict.fromkeys(key for plan in plans for key in plan.keys)
    fixed = dict.fromkeys(key for plan in plans for key in plan.fixed)
    differing = [key for key in fixed if key not in swept and any(plan.fixed.get(key) != plans[0].fixed.get(key) for plan in plans)]
    keys = (*swept, *differing)
    owns = [[_extended(point, plan, keys) for point in plan.points] for plan in plans]
    made = [(*own[number].items(), seed) for sweep, own in zip(sweeps, owns, strict=True) for number, seed in sweep.made]
    if len({repr(run) for run in made}) < len(made):
        keys = (*keys, NAME)
        owns = [[{**point, NAME: Described(name, name)} for point in own] for own, name in zip(owns, _names(sweeps), strict=True)]
    points: list[Point] = []
    runs: dict[Run, Measured] = {}
    for sweep, own in zip(sweeps, owns, strict=True):
        points += [point for point in own if point not in points]
        runs |= {(points.index(own[number]), seed): sweep.measured(number, seed) for number, seed in sweep.made}
    common = {key: value for key, value in plans[0].fixed.items() if key not in keys}
    seeds = sorted({seed for plan in plans for seed in plan.seeds})
    return Sweep(Plan(keys, told_apart(points), common, tuple(seeds)), runs)


def _extended(point: Point, plan: Plan, keys: Sequence[str]) -> dict[str, Described]:
    return {key: point.get(key, plan.fixed.get(key, _NOTHING)) for key in keys}


def _names(sweeps: Sequence[Sweep]) -> list[str]:
    names = [str(number) if sweep.path is None else sweep.path.name for number, sweep in enumerate(sweeps, 1)]
    return [f"{name} ({number})" if names.count(name) > 1 else name for number, name in enumerate(names, 1)]
