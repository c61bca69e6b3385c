"""What goes beside what: the order in each layer of a band, with few crossings, and places that keep edges straight.

Orders are found by barycentres (Sugiyama et al., 1981), places as near as can be to the mean of the neighbours', without overlap: an isotonic regression.
"""

from __future__ import annotations

import itertools
from bisect import bisect, insort
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pslab.lab.graph_view.layers import Layered, Link

GAP, BEND_GAP = 14.0, 9.0
"""Pixels between two nodes, and beside an edge that passes."""
_SWEEPS, _FEWER, _MANY = 8, 2, 5000
"""Sweeps through all layers; where there are many spots, fewer."""
Bend = tuple[int, int]
"""Where all that comes from a role passes a layer: the role, the layer."""
Spot = int | Bend
"""A role, by number, or a bend."""


@dataclass(frozen=True)
class Band:
    """The rows of a band.

    Attributes:
        centre: the middle of each spot, in pixels from the left.
        width: of the band.
    """

    centre: Mapping[Spot, float]
    width: float


def band_of(name: str, found: Layered, widths: Sequence[float], sides: Mapping[int, int]) -> Band:
    """Place the roles of a band.

    Args:
        name: the band, as roles have it.
        found: all roles and their layers.
        widths: for each role, its width in pixels.
        sides: -1 for a role that goes to the left border, 1 for one that goes to the right.
    """
    rows, links = _rows(name, found)
    above: defaultdict[Spot, list[Spot]] = defaultdict(list)
    below: defaultdict[Spot, list[Spot]] = defaultdict(list)
    for source, target in links:
        above[target].append(source)
        below[source].append(target)
    rows = _ordered(rows, above, below, sides)
    wide = {spot: widths[spot] if isinstance(spot, int) else 0.0 for row in rows for spot in row}
    centre = _placed(rows, above, below, wide)
    left = min((x - wide[spot] / 2 for spot, x in centre.items()), default=0.0)
    right = max((x + wide[spot] / 2 for spot, x in centre.items()), default=0.0)
    return Band({spot: x - left for spot, x in centre.items()}, right - left)


def _rows(name: str, found: Layered) -> tuple[list[list[Spot]], list[tuple[Spot, Spot]]]:
    """The spots of each layer, in the order of the plans, and the links between neighbouring layers."""
    rows: list[list[Spot]] = [[] for _ in range(max(found.layer, default=-1) + 1)]
    mine = [i for i, (band, _) in enumerate(found.roles) if band == name]
    for i in mine:
        rows[found.layer[i]].append(i)
    links: dict[tuple[Spot, Spot], None] = {}
    bends: set[Bend] = set()
    for link in inner_links(name, found):
        path = path_of(link, found)
        for bend in path[1:-1]:
            assert isinstance(bend, tuple)
            if bend not in bends:
                rows[bend[1]].append(bend)
                bends.add(bend)
        links.update(dict.fromkeys(itertools.pairwise(path)))
    return rows, list(links)


def inner_links(name: str, found: Layered) -> list[Link]:
    """The links within a band."""
    return [link for link in found.links if found.roles[link.source][0] == name == found.roles[link.target][0]]


def path_of(link: Link, found: Layered) -> list[Spot]:
    """The spots that a link passes, its ends among them."""
    source, target = link
    return [source, *((source, layer) for layer in range(found.layer[source] + 1, found.layer[target])), target]


def _ordered(
    rows: list[list[Spot]], above: Mapping[Spot, list[Spot]], below: Mapping[Spot, list[Spot]], sides: Mapping[int, int]
) -> list[list[Spot]]:
    """The rows in the order with the fewest crossings that some sweeps down and up come to."""
    place: dict[Spot, float] = {}
    for row in rows:
        row.sort(key=lambda spot: sides.get(spot, 0) if isinstance(spot, int) else 0)
        place.update((spot, i - (len(row) - 1) / 2) for i, spot in enumerate(row))
    best, fewest = [list(row) for row in rows], _crossings(rows, below, place)
    for sweep in range(_sweeps(rows)):
        near, order = (below, rows[::-1]) if sweep % 2 else (above, rows)
        for row in order:
            wish = {spot: _mean([place[n] for n in near.get(spot, ())], place[spot]) for spot in row}
            row.sort(key=lambda spot, wish=wish: (sides.get(spot, 0) if isinstance(spot, int) else 0, wish[spot]))  # type: ignore[misc]
            place.update((spot, i - (len(row) - 1) / 2) for i, spot in enumerate(row))
        crossings = _crossings(rows, below, place)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _sweeps(rows: Sequence[Sequence[Spot]]) -> int:
    return _SWEEPS if sum(map(len, rows)) < _MANY else _FEWER


def _crossings(rows: Sequence[Sequence[Spot]], below: Mapping[Spot, list[Spot]], place: Mapping[Spot, float]) -> int:
    """How many links between neighbouring layers cross."""
    crossings = 0
    for row in rows:
        seen: list[float] = []
        for spot in row:
            ends = sorted(place[n] for n in below.get(spot, ()))
            crossings += sum(len(seen) - bisect(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return crossings


def _placed(
    rows: Sequence[Sequence[Spot]], above: Mapping[Spot, list[Spot]], below: Mapping[Spot, list[Spot]], wide: Mapping[Spot, float]
) -> dict[Spot, float]:
    centre: dict[Spot, float] = {}
    for row in rows:
        x = 0.0
        for i, spot in enumerate(row):
            x += _apart(row[i - 1], spot, wide) if i else 0.0
            centre[spot] = x
        middle = x / 2
        centre.update((spot, centre[spot] - middle) for spot in row)
    for sweep in range(_sweeps(rows) + 1):
        near, order = (below, rows[::-1]) if sweep % 2 else (above, rows)
        middle = _mean(list(centre.values()), 0.0)
        for row in order:
            wish = [_mean([centre[n] for n in near.get(spot, ())], centre[spot] if spot in above or spot in below else middle) for spot in row]
            weight = [(1.0 if isinstance(spot, int) else 4.0) if near.get(spot) else 0.1 for spot in row]
            apart = [_apart(one, other, wide) for one, other in itertools.pairwise(row)]
            centre.update(zip(row, separated(wish, weight, apart), strict=True))
    return centre


def _apart(one: Spot, other: Spot, wide: Mapping[Spot, float]) -> float:
    gap = GAP if isinstance(one, int) and isinstance(other, int) else BEND_GAP
    return (wide[one] + wide[other]) / 2 + gap


def separated(wishes: Sequence[float], weights: Sequence[float], apart: Sequence[float]) -> list[float]:
    """Places in order, at least so far apart, with the least weighted sum of squared distances from the wishes (pool adjacent violators).

    Args:
        wishes: where each would be.
        weights: how much that counts.
        apart: how far each must be from the next.
    """
    offset = [0.0]
    for distance in apart:
        offset.append(offset[-1] + distance)
    pools: list[tuple[float, float, int]] = []  # mean of wish - offset, weight, how many
    for i, (wish, weight) in enumerate(zip(wishes, weights, strict=True)):
        mean, heavy, many = wish - offset[i], weight, 1
        while pools and pools[-1][0] > mean:
            other, its, count = pools.pop()
            mean, heavy, many = (mean * heavy + other * its) / (heavy + its), heavy + its, many + count
        pools.append((mean, heavy, many))
    means = [mean for mean, _, many in pools for _ in range(many)]
    return [mean + offset[i] for i, mean in enumerate(means)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
