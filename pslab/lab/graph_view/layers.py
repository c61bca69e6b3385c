"""What goes below what: a layer for each node, so that all but what goes back goes downwards (after Sugiyama et al., 1981).

Nodes that are the same on each worker are one here, so that replicas lie beside each other, op for op.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pslab.lab.graph_view.folding import Edge, Folded
from pslab.lab.graph_view.parts import Flow, Kind

Role = tuple[str, str]
WIDEST = 5
"""Nodes beside each other in a band; what is more goes below."""


class Link(NamedTuple):
    """An edge between roles, by number."""

    source: int
    target: int


@dataclass(frozen=True)
class Layered:
    """The roles of all nodes, and their layers.

    Attributes:
        roles: what there is, each once.
        role: for each node, the number of its role.
        layer: for each role, its layer, from 0.
        links: downward edges between roles.
        edges: numbers of the edges that are drawn: without waits that follow from others.
    """

    roles: Sequence[Role]
    role: Sequence[int]
    layer: Sequence[int]
    links: Sequence[Link]
    edges: Sequence[int]


def layered(folded: Folded) -> Layered:
    """Find the layers."""
    numbers: dict[Role, int] = {}
    role = [numbers.setdefault(node.role, len(numbers)) for node in folded.nodes]
    count = len(numbers)
    depth = [min(depths) for depths in _by_role(count, role, [node.depth for node in folded.nodes])]
    drawn = _without_implied(folded, role, depth)
    edges = [folded.edges[i] for i in drawn]
    order = _order(depth, {Link(role[e.source], role[e.target]) for e in edges})
    down = sorted({link for link in (Link(role[e.source], role[e.target]) for e in edges) if order[link.source] < order[link.target]})
    sends = {role[i] for i, node in enumerate(folded.nodes) if node.kind is Kind.SEND}
    return Layered(list(numbers), role, _layers(list(numbers), down, sends, order), down, drawn)


def _by_role(count: int, role: Sequence[int], values: Sequence[int]) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(count)]
    for number, value in zip(role, values, strict=True):
        found[number].append(value)
    return found


def _order(depth: Sequence[int], links: set[Link]) -> list[int]:
    """A place for each role so that few links go back: topological, and where there is a cycle it is cut above the role whose parts begin first."""
    after: dict[int, list[int]] = defaultdict(list)
    waits = [0] * len(depth)
    for link in sorted(links):
        if link.source != link.target:
            after[link.source].append(link.target)
            waits[link.target] += 1
    first = sorted(range(len(depth)), key=lambda i: (depth[i], i))
    rank = {i: k for k, i in enumerate(first)}
    ready = [rank[i] for i in first if not waits[i]]
    left = dict.fromkeys(first)
    place = [0] * len(depth)
    while left:
        here = first[heapq.heappop(ready)] if ready else next(iter(left))
        if here not in left:
            continue
        place[here] = len(depth) - len(left)
        del left[here]
        for target in after[here]:
            waits[target] -= 1
            if not waits[target]:
                heapq.heappush(ready, rank[target])
    return place


def _layers(roles: Sequence[Role], down: Sequence[Link], sends: set[int], order: Sequence[int]) -> list[int]:
    """The longest path to each, where there is room; then what can go further down without making edges longer does, sends to right above who receives."""
    before, after = _neighbours(down)
    upwards = sorted(range(len(roles)), key=order.__getitem__, reverse=True)
    layer = [0] * len(roles)
    taken: Counter[tuple[str, int]] = Counter()
    for i in reversed(upwards):
        layer[i] = max((layer[j] + 1 for j in before[i]), default=0)
        while taken[roles[i][0], layer[i]] >= WIDEST:
            layer[i] += 1
        taken[roles[i][0], layer[i]] += 1
    for i in upwards:
        if after[i] and (i in sends or len(after[i]) > len(before[i]) or not before[i]):
            band = roles[i][0]
            lowest = min(layer[j] for j in after[i]) - 1
            free = (to for to in range(lowest, layer[i], -1) if i in sends or taken[band, to] < WIDEST)
            taken[band, layer[i]] -= 1
            layer[i] = next(free, layer[i])
            taken[band, layer[i]] += 1
    return layer


def _neighbours(links: Sequence[Link]) -> tuple[Mapping[int, list[int]], Mapping[int, list[int]]]:
    before: defaultdict[int, list[int]] = defaultdict(list)
    after: defaultdict[int, list[int]] = defaultdict(list)
    for source, target in links:
        before[target].append(source)
        after[source].append(target)
    return before, after


def _without_implied(folded: Folded, role: Sequence[int], depth: Sequence[int]) -> list[int]:
    """The edges without those waits whose end is reached in another way."""
    links = {Link(role[e.source], role[e.target]) for e in folded.edges}
    count, order = len(depth), _order(depth, links)
    before, _ = _neighbours([link for link in links if order[link.source] < order[link.target]])
    above = [0] * count  # a bit for each role above
    for i in sorted(range(count), key=order.__getitem__):
        for j in before[i]:
            above[i] |= above[j] | 1 << j
    return [i for i, edge in enumerate(folded.edges) if not _implied(edge, role, before, above)]


def _implied(edge: Edge, role: Sequence[int], before: Mapping[int, list[int]], above: Sequence[int]) -> bool:
    source, target = role[edge.source], role[edge.target]
    return edge.flow is Flow.WAIT and any(above[j] >> source & 1 for j in before[target] if j != source)
