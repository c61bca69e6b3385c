"""What is to be run: the points of a grid, each with several seeds."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pslab.data.partitions import DataSource
from pslab.errors import PslabError, UsageError
from pslab.lab.described import Described, Label
from pslab.lab.setup import Setup, check_key, misfit, said
from pslab.lab.until import Until
from pslab.train.model import Features, try_out

Grid = Mapping[str, Iterable[Any]] | Sequence[Mapping[str, Any]]
"""Values by setting, of which every combination is meant; or the points one by one."""
Point = Mapping[str, Described]
RunKey = tuple[Label, ...]
"""Which run: the label of each key's value, then the seed."""


@dataclass(frozen=True)
class Plan:
    """The runs of an experiment, as data.

    Attributes:
        keys: the settings that it is about.
        points: a value for each of them.
        fixed: what is the same in all runs: the other settings, ``"data"`` and ``"until"``.
        seeds: of the order of the data, and of the initial parameters.
    """

    keys: tuple[str, ...]
    points: tuple[Point, ...]
    fixed: Mapping[str, Described]
    seeds: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Plan:
        """What `to_json` gave.

        Raises:
            KeyError, TypeError, ValueError: it is no such thing.
        """
        points = tuple({key: Described(**value) for key, value in point.items()} for point in data["points"])
        fixed = {key: Described(**value) for key, value in data["fixed"].items()}
        read = cls(tuple(data["keys"]), points, fixed, tuple(map(int, data["seeds"])))
        if not points or not all(tuple(point) == read.keys for point in points):
            raise ValueError(f"not every point has a value of {_names(read.keys)}")
        assert read.until
        return read

    @property
    def until(self) -> Until:
        """When a run ends; of experiments with different ends, when the first one's do."""
        return Until(**{**self.points[0], **self.fixed}["until"].detail)

    def runs(self) -> Iterator[tuple[int, int]]:
        """The number of a point and a seed, in the order in which they are run: all points with one seed, then all with the next.

        So there is something of each point early on, and what changes slowly on the machine does not look like a difference between points.
        """
        return ((number, seed) for seed in self.seeds for number in range(len(self.points)))

    def key(self, number: int, seed: int) -> RunKey:
        """Which run that is."""
        return (*(self.points[number][key].label for key in self.keys), seed)

    def check_continues(self, before: Plan) -> None:
        """Whether this goes on with what was begun: with the same points and seeds, or with more of them.

        Raises:
            UsageError: it is another experiment; the message has the first difference.
        """
        advice = "give another path, or the settings that it was begun with"
        if self.keys != before.keys:
            raise UsageError(f"what is there is a sweep over {_names(before.keys)}, this is one over {_names(self.keys)}", advice)
        for name in dict.fromkeys((*before.fixed, *self.fixed)):
            there, here = before.fixed.get(name), self.fixed.get(name)
            if there != here:
                raise UsageError(f"what is there was run with {name}={_difference(there, here)}, this is {name}={_difference(here, there)}", advice)
        for point in before.points:
            if point not in self.points:
                found = said({key: value.label for key, value in point.items()})
                raise UsageError(f"what is there has the point {found}, which this has not", f"{advice}; points can be added")
        for seed in before.seeds:
            if seed not in self.seeds:
                raise UsageError(f"what is there has the seed {seed}, which this has not", f"{advice}; seeds can be added")


def plan(grid: Grid, now: Setup, dataset: DataSource, until: Until | None, seeds: int = 3, seed: int = 0, **ends: Any) -> tuple[Plan, list[Setup]]:
    """What is to be run, all of it checked; and the setup of each point.

    Args:
        grid: the points.
        now: what holds where a point does not say otherwise.
        dataset: what to train on.
        until: when a run ends, or None.
        seeds: runs per point.
        seed: the first seed.
        **ends: ``until`` as keywords.

    Raises:
        UsageError: there is no such setting, a value does not fit, a point comes twice, or there is nothing to run.
    """
    for name, number, least in (("seeds", seeds, 1), ("seed", seed, 0)):
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            raise UsageError(f"{name} must be a whole number from {least} on, found {number!r}")
    until = Until.of(until, ends)
    points = _points(grid, now)
    setups = [now.changed(point) for point in points]
    for point, setup in zip(points, setups, strict=True):
        try:
            until.check(tuple(try_out(setup.check(dataset), Features.of(*dataset.sample)).metrics))
        except (PslabError, TypeError, ValueError) as error:
            raise misfit(point, error) from None
    keys = tuple(points[0])
    described = [{key: Described.of(setup.settings[key]) for key in keys} for setup in setups]
    others = {key: Described.of(value) for key, value in now.settings.items() if key not in keys}
    fixed = {**others, "data": _describe_data(dataset), "until": Described(str(until), asdict(until))}
    _check_once(described)
    return Plan(keys, told_apart(described), fixed, tuple(range(seed, seed + seeds))), setups


def _points(grid: Grid, now: Setup) -> list[dict[str, Any]]:
    if isinstance(grid, Mapping):
        for key, values in grid.items():
            check_key(key)
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise UsageError(f"{key} needs a list of values, found {values!r}", f"{{{key!r}: [{values!r}]}}")
        lists = [values.tolist() if hasattr(values, "tolist") else list(values) for values in grid.values()]  # an array has NumPy's own numbers
        points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*lists)]
    elif isinstance(grid, Sequence) and all(isinstance(point, Mapping) for point in grid):
        keys = list(dict.fromkeys(key for point in grid for key in point))
        for key in keys:
            check_key(key)
        usual = {key: now.settings[key] for key in keys}
        points = [{**usual, **point} for point in grid]
    else:
        raise UsageError(f"a grid is a dict of lists, or a list of dicts; found {grid!r:.80}", "{'commit_every': [1, 2, 4]}")
    if not points or not points[0]:
        raise UsageError("there is nothing to run", "{'commit_every': [1, 2, 4]}")
    return points


def _check_once(points: Sequence[Point]) -> None:
    """Refuse a point that comes twice.

    Raises:
        UsageError: one does.
    """
    for number, point in enumerate(points):
        if point in points[:number]:
            raise UsageError(f"{said({key: value.label for key, value in point.items()})} comes twice", "each point once; seeds= repeats them")


def told_apart(points: Sequence[Point]) -> tuple[Point, ...]:
    """Points with labels that tell them apart: in full, where in short they would not."""
    labels = _labels(points)
    return tuple({key: Described(labels[key][number], value.detail) for key, value in point.items()} for number, point in enumerate(points))


def _labels(points: Sequence[Point]) -> dict[str, list[Label]]:
    """By key, the label of each point's value: numbers where all are, else words."""
    labels: dict[str, list[Label]] = {}
    for key in points[0]:
        values = [point[key] for point in points]
        if not all(isinstance(value.label, int | float) and not isinstance(value.label, bool) for value in values):
            values = [Described(str(value.label), value.detail) for value in values]
        short = {str(value.detail): value.label for value in values}
        clear = len(set(short.values())) == len(short)
        labels[key] = [value.label if clear else str(value.detail) for value in values]
    return labels


def _describe_data(dataset: DataSource) -> Described:
    tested = zlib.crc32(dataset.y_test.tobytes(), zlib.crc32(dataset.x_test.tobytes()))
    return Described(dataset.name, {"name": dataset.name, "examples": dataset.examples, "tested": len(dataset.x_test), "crc32": tested})


def _difference(one: Described | None, other: Described | None) -> Label:
    """A value in so many words as tell it from another."""
    if one is None:
        return "nothing"
    return one.label if other is None or one.label != other.label else str(one.detail)


def _names(keys: Sequence[str]) -> str:
    return ", ".join(keys)
