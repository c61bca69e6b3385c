"""Where the ops of a plan go in a picture: a band per task, a row per step of the longest path, neighbours near each other (after Sugiyama et al., 1981)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pslab.graph.plan import Partition, StepPlan

WIDEST = 2
"""Boxes side by side in a band; a fuller row goes on in another line."""
_SWEEPS = 4


@dataclass(frozen=True, slots=True)
class Box:
    """An op or a fed tensor in the picture.

    Attributes:
        name: the op's full name, or that of the op whose tensor is fed.
        task: the task that runs it.
        type: the op's registered type; None where the value is fed.
        fetched: whether a value of it is returned.
    """

    name: str
    task: str
    type: str | None
    fetched: bool

    @property
    def key(self) -> tuple[str, str]:
        """What identifies it: a tensor may be fed to several tasks."""
        return self.task, self.name


@dataclass(frozen=True, slots=True)
class Edge:
    """A dependency between two boxes.

    Attributes:
        source: the box that comes first.
        destination: the box that needs it.
        control: whether it only waits, and takes no tensor.
    """

    source: Box
    destination: Box
    control: bool

    @property
    def cut(self) -> bool:
        """Whether it leaves its task."""
        return self.source.task != self.destination.task


@dataclass(frozen=True, slots=True)
class Layout:
    """A laid out plan.

    Attributes:
        bands: the tasks from left to right, each with its lines of boxes from the top; a line holds at most `WIDEST` boxes, and may be empty.
        edges: the dependencies, without waits that follow from others.
    """

    bands: Mapping[str, Sequence[Sequence[Box]]]
    edges: Sequence[Edge]

    @property
    def boxes(self) -> list[Box]:
        """All boxes."""
        return [box for lines in self.bands.values() for line in lines for box in line]


def column(line: Sequence[Box], box: Box) -> float:
    """Where a box stands in its line, in boxes from the band's middle."""
    return line.index(box) - (len(line) - 1) / 2


def lay_out(plan: StepPlan) -> Layout:
    """Lay the ops of a plan out. Tasks that run nothing have no band."""
    boxes = [box for part in plan.partitions.values() for box in _boxes(part)]
    edges = _edges(plan, boxes)
    rows = _rows(boxes, edges)
    edges = _without_implied(edges, rows)
    cells: dict[str, list[list[Box]]] = {task: [[] for _ in range(max(rows.values()) + 1)] for task in _bands({box.task for box in boxes})}
    for box in boxes:
        cells[box.task][rows[box]].append(box)
    _order(cells, edges)
    return Layout(_break(cells), edges)


def _boxes(part: Partition) -> list[Box]:
    nodes = [n for stage in part.stages for n in (*stage.nodes, *stage.waits)]
    fetched = {_op(name) for name in part.fetches}
    fed = [Box(name, part.task, None, False) for name in dict.fromkeys(_op(f) for f in part.feeds)]
    return [*fed, *(Box(n.name, part.task, n.type, n.name in fetched) for n in nodes)]


def _edges(plan: StepPlan, boxes: Sequence[Box]) -> list[Edge]:
    ops = {box.name: box for box in boxes if box.type is not None}
    fed = {box.key: box for box in boxes if box.type is None}
    edges: dict[tuple[Box, Box], Edge] = {}
    for part in plan.partitions.values():
        for node in (n for stage in part.stages for n in (*stage.nodes, *stage.waits)):
            here = ops[node.name]
            for name, control in [*((_op(t), False) for t in node.inputs), *((c, True) for c in node.controls)]:
                source = fed.get((part.task, name)) or ops.get(name)
                if source is not None:
                    edges.setdefault((source, here), Edge(source, here, control))
    return list(edges.values())


def _op(tensor: str) -> str:
    return tensor.rpartition(":")[0]


def _rows(boxes: Sequence[Box], edges: Sequence[Edge]) -> dict[Box, int]:
    """The longest path to each box; what has no input of its own and is needed in its own task only goes right above where it is needed."""
    before, after = defaultdict(list), defaultdict(list)
    for edge in edges:
        before[edge.destination].append(edge)
        after[edge.source].append(edge)
    rows: dict[Box, int] = {}
    waiting = {box: len(before[box]) for box in boxes}
    ready = [box for box in boxes if not waiting[box]]
    for box in ready:  # grows while it is gone through
        rows[box] = max((rows[e.source] + 1 for e in before[box]), default=0)
        for edge in after[box]:
            waiting[edge.destination] -= 1
            if not waiting[edge.destination]:
                ready.append(edge.destination)
    for box in boxes:
        if after[box] and not before[box] and not any(e.cut for e in after[box]):
            rows[box] = min(rows[e.destination] for e in after[box]) - 1
    return rows


def _without_implied(edges: Sequence[Edge], rows: Mapping[Box, int]) -> list[Edge]:
    """Leave out each control edge whose end is reached from its beginning by another way."""
    before: dict[Box, set[Box]] = defaultdict(set)
    earlier: dict[Box, set[Box]] = defaultdict(set)
    for edge in sorted(edges, key=lambda e: rows[e.destination]):
        before[edge.destination].add(edge.source)
        earlier[edge.destination] |= {edge.source} | earlier[edge.source]
    return [e for e in edges if not (e.control and any(e.source in earlier[b] for b in before[e.destination]))]


def _bands(tasks: Iterable[str]) -> list[str]:
    """Tasks from left to right: parameter servers outside, so that messages cross few bands."""
    servers = sorted((t for t in tasks if t.startswith("ps:")), key=_index)
    others = sorted((t for t in tasks if not t.startswith("ps:")), key=lambda t: (t.partition(":")[0], _index(t)))
    half = (len(servers) + 1) // 2
    return [*servers[:half], *others, *servers[half:]]


def _index(task: str) -> int:
    return int(task.rpartition(":")[2])


def _order(cells: Mapping[str, list[list[Box]]], edges: Sequence[Edge]) -> None:
    """Sort each row by the mean place of its boxes' neighbours, downwards by those above and upwards by those below, in turn."""
    above, below = defaultdict(list), defaultdict(list)
    for edge in edges:
        above[edge.destination].append(edge.source)
        below[edge.source].append(edge.destination)
    bands = list(cells)
    place = {box: _place(bands.index(task), i, len(row)) for task, rows in cells.items() for row in rows for i, box in enumerate(row)}
    count = len(next(iter(cells.values()), ()))
    for sweep in range(_SWEEPS):
        neighbours = below if sweep % 2 else above
        for number in range(count)[:: -1 if sweep % 2 else 1]:
            for task, rows in cells.items():
                row = rows[number]
                row.sort(key=lambda box: _mean([place[n] for n in neighbours[box]], place[box]))
                place.update((box, _place(bands.index(task), i, len(row))) for i, box in enumerate(row))


def _place(band: int, number: int, count: int) -> float:
    return band + (number + 1) / (count + 1)


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _break(cells: Mapping[str, list[list[Box]]]) -> dict[str, list[list[Box]]]:
    """Break rows into lines of at most `WIDEST` boxes, the same number of lines in each band."""
    heights = [max(-(-len(row) // WIDEST) for row in rows) for rows in zip(*cells.values(), strict=True)]
    return {
        task: [row[i * WIDEST : (i + 1) * WIDEST] for row, height in zip(rows, heights, strict=True) for i in range(height)]
        for task, rows in cells.items()
    }
