"""Where everything is in the picture: a band per task beside each other, time downwards, as data for JSON. Lengths are in pixels."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pslab.lab.graph_view.facts import Fact, facts_of
from pslab.lab.graph_view.folding import Edge, Folded, Node
from pslab.lab.graph_view.layers import Layered, Link, layered
from pslab.lab.graph_view.parts import ANSWER, CHIEFS, FED, Flow, Kind
from pslab.lab.graph_view.rows import Band, band_of, path_of
from pslab.lab.language import tr

HEIGHT, PITCH, CHANNEL = 22.0, 40.0, 12.0
"""Of a node; from one layer to the next; from one message beside another to the next."""
HEAD, MARGIN, BETWEEN = 34.0, 12.0, 12.0
"""Above the first layer; beside the nodes of a band; between two bands."""
LETTER, WIDE, LEAST, LONGEST = 6.1, 11.0, 52.0, 28
"""Width of a letter, more or less; of a Chinese character; of a node at the least; letters that are shown."""
THINNEST, THICKEST = 1.5, 10.0
"""Width of messages with the fewest and with the most bytes."""
_JOBS = {"client": 0, "ps": 1, "worker": 2}


class Label(NamedTuple):
    """What is written on a node: a softer beginning, and the name."""

    scope: str
    name: str


@dataclass(frozen=True)
class Told:
    """What is known of the parts beyond what is drawn.

    Attributes:
        gradients: names of the ops that compute an op's gradient, by its name.
        measured: whether bytes were measured; else they are from static shapes.
    """

    gradients: Mapping[str, Sequence[str]]
    measured: bool


def scene_of(folded: Folded, told: Told) -> dict[str, Any]:
    """The picture of what is seen."""
    found = layered(folded)
    labels = [_label(node) for node in folded.nodes]
    widths = _widths(found, labels, folded.nodes)
    bands = {name: band_of(name, found, widths, _sides(folded, found)) for name in dict.fromkeys(band for band, _ in found.roles)}
    page = _Page(folded, found, bands)
    messages = {end: wire for edge in folded.edges for wire in edge.wires if wire.flow is Flow.MESSAGE for end in (wire.source, wire.target)}
    most = max((wire.bytes for wire in messages.values()), default=1.0)
    return {
        "width": page.width,
        "height": page.height,
        "bands": [{"task": task, "job": task.partition(":")[0], "x": x, "width": page.wide[task]} for task, x in page.left.items()],
        "nodes": [
            _node(node, label, page.place(i), widths[found.role[i]], facts_of(node, told.gradients, messages, told.measured))
            for i, (node, label) in enumerate(zip(folded.nodes, labels, strict=True))
        ],
        "edges": [_edge(folded.edges[i], page.path(folded.edges[i]), most) for i in found.edges],
        "open": ["/".join(scope) for scope in sorted(folded.open)],
        "closed": ["/".join(scope) for scope in sorted(folded.closed)],
        "most": most,
        "measured": told.measured,
        "messages": len(set(map(id, messages.values()))),
        "ops": sum(part.kind in (Kind.OP, Kind.STATE) for node in folded.nodes for part in node.parts),
    }


def _label(node: Node) -> Label:
    part = node.parts[0]
    if part.kind is Kind.SEND:
        return Label(tr("to "), _peer(part.name.partition(" → ")[2]))
    if part.kind is Kind.RECEIVE:
        return Label(tr("from "), _peer(part.name))
    name = node.name.rpartition("/")[2]
    if node.folded:
        return Label("", f"▸ {_shortened(name, LONGEST - 4)} {len(node.parts)}")
    scopes = ("".join(f"{scope}/" for scope in node.scope[i:]) for i in range(len(node.scope)))
    return Label(next((scope for scope in scopes if len(scope) + len(name) <= LONGEST), ""), _shortened(name, LONGEST))


def _peer(ends: str) -> str:
    return ends.split(" ", maxsplit=1)[0]


def _shortened(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most // 2]}…{name[-(most - most // 2 - 1) :]}"


def _widths(found: Layered, labels: Sequence[Label], nodes: Sequence[Node]) -> list[float]:
    widths = [LEAST] * len(found.roles)
    for role, label in zip(found.role, labels, strict=True):
        widths[role] = max(widths[role], _width(label.scope + label.name) + 14)
    return widths


def _width(words: str) -> float:
    return sum(WIDE if unicodedata.east_asian_width(letter) in "FW" else LETTER for letter in words)


def _sides(folded: Folded, found: Layered) -> dict[int, int]:
    """Messages leave and come at the border that is nearer to their other end."""
    place = {task: i for i, task in enumerate(_tasks(folded))}
    sides: dict[int, int] = {}
    for edge in folded.edges:
        source, target = folded.nodes[edge.source], folded.nodes[edge.target]
        if edge.flow is Flow.MESSAGE:
            right = 1 if (source.task.startswith("worker:") and target.task.startswith("worker:")) or place[target.task] > place[source.task] else -1
            sides[found.role[edge.source]], sides[found.role[edge.target]] = right, -right
    return sides


def _tasks(folded: Folded) -> list[str]:
    """From left to right: who drives in-graph steps, then the ps, then the workers."""
    return sorted({node.task for node in folded.nodes}, key=lambda task: (_JOBS.get(task.partition(":")[0], 3), int(task.rpartition(":")[2])))


class _Page:
    """Where bands, nodes and edges are."""

    def __init__(self, folded: Folded, found: Layered, bands: Mapping[str, Band]) -> None:
        self._folded, self._found, self._bands = folded, found, bands
        messages = [edge for edge in folded.edges if edge.flow is Flow.MESSAGE]
        self._channel = self._channels(messages)
        count = max(found.layer, default=-1) + 1
        used: defaultdict[int, int] = defaultdict(int)
        for _, (gap, number) in self._channel.items():
            used[gap] = max(used[gap], number + 1)
        self._top: list[float] = []
        y = HEAD
        for layer in range(count):
            self._top.append(y)
            y += max(PITCH, HEIGHT + 16 + CHANNEL * used[layer]) if layer < count - 1 else HEIGHT
        self.height = y + MARGIN
        self.left: dict[str, float] = {}
        self.wide: dict[str, float] = {}
        x = BETWEEN
        for task in _tasks(folded):
            band = bands[_band(task)]
            self.left[task] = x
            self.wide[task] = max(band.width + 2 * MARGIN, LEAST + 60)
            x += self.wide[task] + BETWEEN
        self.width = x

    def place(self, node: int) -> tuple[float, float]:
        """The middle of a node."""
        role = self._found.role[node]
        task = self._folded.nodes[node].task
        return self._shift(task) + self._bands[_band(task)].centre[role], self._top[self._found.layer[role]] + HEIGHT / 2

    def path(self, edge: Edge) -> list[tuple[float, float]]:
        """The points that an edge goes through: of a message corners, of others what it is bent by."""
        (x0, y0), (x1, y1) = self.place(edge.source), self.place(edge.target)
        down = y1 > y0
        begin, end = (x0, y0 + HEIGHT / 2), (x1, y1 - HEIGHT / 2)
        if edge.flow is Flow.MESSAGE:
            return [begin, *self._corners(edge, begin[0], end), end]
        if not down:
            return [begin, (x0, begin[1] + 10), (x1, end[1] - 10), end]
        link = Link(self._found.role[edge.source], self._found.role[edge.target])
        task = self._folded.nodes[edge.source].task
        centre, shift = self._bands[_band(task)].centre, self._shift(task)
        passed: list[tuple[float, float]] = []
        for spot in path_of(link, self._found)[1:-1]:
            assert isinstance(spot, tuple)
            x, top = shift + centre[spot], self._top[spot[1]]
            if passed and abs(passed[-1][0] - x) < 0.5:  # straight on
                passed[-1] = passed[-1][0], top + HEIGHT
            else:
                passed += [(x, top), (x, top + HEIGHT)]
        return [begin, *passed, end]

    def _shift(self, task: str) -> float:
        """The left side of what is in a task's band."""
        return self.left[task] + (self.wide[task] - self._bands[_band(task)].width) / 2

    def _corners(self, edge: Edge, x0: float, end: tuple[float, float]) -> list[tuple[float, float]]:
        gap, number = self._channel[edge.source, edge.target]
        y = self._top[gap] + HEIGHT + 8 + CHANNEL * number
        if not self._is_far(edge):
            return [(x0, y), (end[0], y)]
        gutter = self.left[self._folded.nodes[edge.target].task] - BETWEEN / 2
        above = end[1] - 6
        return [(x0, y), (gutter, y), (gutter, above), (end[0], above)]

    def _is_far(self, edge: Edge) -> bool:
        layer, role = self._found.layer, self._found.role
        return layer[role[edge.target]] != layer[role[edge.source]] + 1

    def _channels(self, messages: Sequence[Edge]) -> dict[tuple[int, int], tuple[int, int]]:
        """For each message, below which layer it goes across, and as which of those: each as high as it can be without meeting another."""
        tasks = {task: i for i, task in enumerate(_tasks(self._folded))}
        taken: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        channel: dict[tuple[int, int], tuple[int, int]] = {}
        right = {id(e): max(0, tasks[self._folded.nodes[e.target].task] - tasks[self._folded.nodes[e.source].task]) for e in messages}
        for edge in sorted(messages, key=lambda edge: -right[id(edge)]):  # to the right, the furthest goes above: so they do not cross
            gap = self._found.layer[self._found.role[edge.source]]
            ends = sorted((tasks[self._folded.nodes[edge.source].task], tasks[self._folded.nodes[edge.target].task]))
            number = 0
            while any(first <= ends[1] and ends[0] <= last for first, last in taken[gap, number]):
                number += 1
            taken[gap, number].append((ends[0], ends[1]))
            channel[edge.source, edge.target] = gap, number
        return channel


def _band(task: str) -> str:
    return "worker" if task.startswith("worker:") else task


def _node(node: Node, label: Label, place: tuple[float, float], width: float, facts: Sequence[Fact]) -> dict[str, Any]:
    return {
        "key": node.key,
        "title": _title(node),
        "scope": "/".join(node.scope),
        "soft": label.scope,
        "label": label.name,
        "kind": str(node.kind),
        "folds": node.name if node.folded else None,
        "task": node.task,
        "returned": any(part.returned for part in node.parts),
        "x": place[0],
        "y": place[1],
        "w": width,
        "facts": facts,
    }


def _title(node: Node) -> str:
    if node.kind not in (Kind.SEND, Kind.RECEIVE):
        return "/".join((*node.scope, node.name.rpartition("/")[2]))
    source, arrow, destination, which = node.parts[0].name.split(" ", maxsplit=3)
    ends, of_chief, which = f"{source} {arrow} {destination}", which.startswith(CHIEFS), which.removeprefix(CHIEFS)
    said = {FED: tr("fed"), ANSWER: tr("answer")}.get(which, which)
    return tr("{} the chief's {}", ends, said) if of_chief else f"{ends} {said}"


def _edge(edge: Edge, path: Sequence[tuple[float, float]], most: float) -> dict[str, Any]:
    message = edge.flow is Flow.MESSAGE
    return {
        "source": edge.source,
        "target": edge.target,
        "flow": str(edge.flow),
        "bytes": edge.bytes,
        "width": THINNEST + (THICKEST - THINNEST) * edge.bytes / most if message else 1.0,
        "loops": sorted(frozenset().union(*(wire.loops for wire in edge.wires))),
        "path": [round(value, 1) for point in path for value in point],
    }
