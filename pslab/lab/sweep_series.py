"""How a figure lays an experiment out: what goes along the axis, and what each series is called and looks like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pslab.lab.described import Label
from pslab.lab.palette import DASHES, MARKERS, SERIES

if TYPE_CHECKING:
    import pandas

    from pslab.lab.plan import Point
    from pslab.lab.sweep import Sweep

Dash = Literal["-", "--", "-.", ":"]


@dataclass(frozen=True)
class Series:
    """Points that belong together.

    Attributes:
        name: for people.
        labels: what they have in common: a label by key.
        number: which series it is.
    """

    name: str
    labels: tuple[tuple[str, Label], ...]
    number: int

    @property
    def colour(self) -> str:
        """Its colour."""
        return SERIES[self.number % len(SERIES)]

    @property
    def dash(self) -> Dash:
        """Its line style."""
        return DASHES[(self.number + self.number // len(SERIES)) % len(DASHES)]

    @property
    def marker(self) -> str:
        """Its marker."""
        return MARKERS[self.number % len(MARKERS)]

    def of(self, table: pandas.DataFrame) -> pandas.DataFrame:
        """The rows of a table that belong to it."""
        for key, label in self.labels:
            table = table[table[key] == label]
        return table


@dataclass(frozen=True)
class Layout:
    """How an experiment is laid out.

    Attributes:
        x: the key along the axis: of those with numbers, that with the longest series; None where there are only words, or single points.
        values: the values of that key.
        series: a series for each combination of the other keys; where there is no ``x``, for each point.
    """

    x: str | None
    values: tuple[float, ...]
    series: tuple[Series, ...]


def layout_of(sweep: Sweep) -> Layout:
    """How to lay an experiment out."""
    points = sweep.plan.points
    values = {key: list(dict.fromkeys(point[key].label for point in points)) for key in sweep.plan.keys}
    varied = [key for key, found in values.items() if len(found) > 1] or list(sweep.plan.keys[:1])
    numeric = [key for key in varied if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values[key])]
    x = max((key for key in numeric if _longest(points, varied, key) > 1), key=lambda key: _longest(points, varied, key), default=None)
    others = [key for key in varied if key != x]
    groups = dict.fromkeys(tuple((key, point[key].label) for key in others) for point in points)
    series = tuple(Series(name, group, number) for number, (name, group) in enumerate(zip(_names(list(groups)), groups, strict=True)))
    return Layout(x, () if x is None else tuple(sorted(map(float, values[x]))), series)


def _names(groups: Sequence[tuple[tuple[str, Label], ...]]) -> list[str]:
    """A name for each group of labels. What most of them have in common goes without saying, where their names still tell them apart."""
    common = {part for part, times in Counter(part for group in groups for part in group).items() if 2 * times > len(groups)}
    short, full = ([", ".join(spoken(*part) for part in group if part not in left_out) for group in groups] for left_out in (common, set()))
    return short if len({name for name in short if name}) == len(groups) else full


def _longest(points: Sequence[Point], keys: Sequence[str], x: str) -> int:
    """How many values of ``x`` the longest series has, of points that differ in nothing else."""
    return max(Counter(tuple(point[key].label for key in keys if key != x) for point in points).values())


def spoken(key: str, label: Label) -> str:
    """A setting's value for people: words stand for themselves, numbers are told with the setting's name."""
    alone = isinstance(label, str) and label not in ("none", "True", "False") and any(map(str.isalpha, label))
    return str(label) if alone else f"{key.replace('_', ' ')} {label}"
