"""Lanes at the sides of a band: where an edge runs that would else run behind boxes, as in a drawing of a circuit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from pslab.lab.graph_layout import Box, Edge, Layout, column


def lanes(layout: Layout) -> dict[Edge, int]:
    """The lane of each edge that needs one: -1, -2, … leftwards from the boxes of its band, 1, 2, … rightwards.

    Edges from one box share a lane; edges from several do where they do not meet.
    """
    lines = {box: number for rows in layout.bands.values() for number, line in enumerate(rows) for box in line}
    wires: dict[tuple[Box, bool], list[Edge]] = defaultdict(list)
    for edge in layout.edges:
        if not edge.cut and _blocked(layout.bands[edge.source.task], lines, edge):
            wires[edge.source, edge.control].append(edge)
    taken: dict[tuple[str, int], int] = {}
    found: dict[Edge, int] = {}
    for (source, _), edges in sorted(wires.items(), key=lambda item: lines[item[0][0]]):
        begin, end = lines[source], max(lines[edge.destination] for edge in edges)
        lane = next(number for number in _outwards() if taken.get((source.task, number), -1) <= begin)
        taken[source.task, lane] = end
        found.update((edge, lane) for edge in edges)
    return found


def lane_counts(found: Mapping[Edge, int], task: str) -> tuple[int, int]:
    """How many lanes a task's band has to the left and to the right."""
    mine = [lane for edge, lane in found.items() if edge.source.task == task]
    return -min((0, *mine)), max((0, *mine))


def _blocked(lines: Sequence[Sequence[Box]], numbers: Mapping[Box, int], edge: Edge) -> bool:
    """Whether the direct way may run behind a box: unless none is between, or it runs straight down past all of them."""
    above, below = numbers[edge.source], numbers[edge.destination]
    x = column(lines[above], edge.source)
    between = [column(line, box) for line in lines[above + 1 : below] for box in line]
    return bool(between) and (x != column(lines[below], edge.destination) or x in between)


def _outwards() -> Iterator[int]:
    return (sign * number for number in count(1) for sign in (-1, 1))
