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
    plans, names = [sweep.plan for sweep in sweeps], _names(sweeps)
    swept = dict.fromkeys(key for plan in plans for key in plan.keys)
    fixed = dict.fromkeys(key for plan in plans for key in plan.fixed)
    differing = [key for key in fixed if key not in swept and any(plan.fixed.get(key) != plans[0].fixed.get(key) for plan in plans)]
    keys = (*swept, *differing)
    owns = [[_extended(point, plan, keys, name) for point in plan.points] for plan, name in zip(plans, names, strict=True)]
    made = [(*own[number].items(), seed) for sweep, own in zip(sweeps, owns, strict=True) for number, seed in sweep.made]
    if len({repr(run) for run in made}) < len(made):
        keys = tuple(dict.fromkeys((*keys, NAME)))
        owns = [[_named(point, name) for point in own] for own, name in zip(owns, names, strict=True)]
    points: list[Point] = []
    runs: dict[Run, Measured] = {}
    for sweep, own in zip(sweeps, owns, strict=True):
        points += [point for point in own if point not in points]
        runs |= {(points.index(own[number]), seed): sweep.measured(number, seed) for number, seed in sweep.made}
    common = {key: value for key, value in plans[0].fixed.items() if key not in keys}
    seeds = sorted({seed for plan in plans for seed in plan.seeds})
    return Sweep(Plan(keys, told_apart(points), common, tuple(seeds)), runs)


def _extended(point: Point, plan: Plan, keys: Sequence[str], name: str) -> dict[str, Described]:
    usual = {NAME: Described(name, name), **plan.fixed, **point}
    return {key: usual.get(key, _NOTHING) for key in keys}


def _named(point: Point, name: str) -> dict[str, Described]:
    """A point with the name of its experiment, before the name that it has from an earlier overlay."""
    whole = f"{name}, {point[NAME].label}" if NAME in point else name
    return {**point, NAME: Described(whole, whole)}


def _names(sweeps: Sequence[Sweep]) -> list[str]:
    names = [str(number) if sweep.path is None else sweep.path.name for number, sweep in enumerate(sweeps, 1)]
    return [f"{name} ({number})" if names.count(name) > 1 else name for number, name in enumerate(names, 1)]
