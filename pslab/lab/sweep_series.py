"""How a figure lays an experiment out: what goes along the axis, and what each series is called and looks like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pslab.lab.described import Label
from pslab.lab.palette import DASHES, MARKERS, SERIES

if TYPE_CHECKING:
    import pandas

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
        x: the key along the axis: the one with the most numbers; None where there are only words.
        values: the values of that key.
        series: a series for each combination of the other keys; where there are only words, for each point.
    """

    x: str | None
    values: tuple[float, ...]
    series: tuple[Series, ...]


def layout_of(sweep: Sweep) -> Layout:
    """How to lay an experiment out."""
    points = sweep.plan.points
    values = {key: list(dict.fromkeys(point[key].label for point in points)) for key in sweep.plan.keys}
    varied = [key for key, found in values.items() if len(found) > 1] or list(sweep.plan.keys[:1])
    numeric = [key for key in varied if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values[key]) and len(values[key]) > 1]
    x = max(numeric, key=lambda key: len(values[key]), default=None)
    others = [key for key in varied if key != x]
    groups = dict.fromkeys(tuple((key, point[key].label) for key in others) for point in points)
    series = tuple(Series(", ".join(spoken(key, label) for key, label in group), group, number) for number, group in enumerate(groups))
    return Layout(x, () if x is None else tuple(sorted(map(float, values[x]))), series)


def spoken(key: str, label: Label) -> str:
    """A setting's value for people: words stand for themselves, numbers are told with the setting's name."""
    alone = isinstance(label, str) and label not in ("none", "True", "False") and not label[:1].isdigit()
    return str(label) if alone else f"{key.replace('_', ' ')} {label}"
