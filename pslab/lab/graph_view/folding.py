"""Name scopes that fold: what is seen where some scopes are open and others are drawn as one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pslab.lab.graph_view.parts import Flow, Kind, Part, Parts, Wire

Scope = tuple[str, ...]
"""The names of scopes, one in the other, the outermost first."""
READABLE = 40
"""Nodes that are readable at a glance; replicas count once."""
_STRENGTH = (Flow.MESSAGE, Flow.TENSOR, Flow.STATE, Flow.WAIT)


@dataclass(frozen=True)
class Node:
    """What is drawn as one: a part, or the parts of a task in a scope that is folded.

    Attributes:
        task: the task.
        role: what it is the same as on the other workers: job, or task of a ps, and a name.
        name: the part's, or the scope's.
        scope: the scope it is in.
        parts: what it stands for.
        depth: how far down the first of these is where nothing is folded.
    """

    task: str
    role: tuple[str, str]
    name: str
    scope: Scope
    parts: tuple[Part, ...]
    depth: int

    @property
    def folded(self) -> bool:
        """Whether it is a scope."""
        return len(self.parts) > 1

    @property
    def kind(self) -> Kind:
        """Of a scope, that of all its parts if it is one, else an op's."""
        kinds = {part.kind for part in self.parts}
        return kinds.pop() if len(kinds) == 1 else Kind.OP

    @property
    def key(self) -> str:
        """What identifies it."""
        return f"{self.task} {self.role[1]}"


@dataclass(frozen=True)
class Edge:
    """What goes from one node to another, all wires together.

    Attributes:
        source: number of the node where it comes from.
        target: number of the node where it goes.
        wires: what it stands for.
    """

    source: int
    target: int
    wires: tuple[Wire, ...]

    @cached_property
    def flow(self) -> Flow:
        """The strongest of what flows."""
        flows = {wire.flow for wire in self.wires}
        return next(flow for flow in _STRENGTH if flow in flows)

    @property
    def bytes(self) -> float:
        """Of all its tensors."""
        return sum(wire.bytes for wire in self.wires)


@dataclass(frozen=True)
class Folded:
    """What is seen.

    Attributes:
        nodes: in the order of the plans.
        edges: between nodes, by number; nothing goes from a node to itself.
        open: the scopes that are open and have something in them.
        closed: the scopes that are folded and can be seen.
    """

    nodes: Sequence[Node]
    edges: Sequence[Edge]
    open: frozenset[Scope]
    closed: frozenset[Scope]


class Scopes:
    """The scopes of all parts. A scope of one part per task is none.

    Args:
        parts: the parts.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._depth = _depths(parts)
        sizes = Counter((part.task, scope) for part in parts.parts for scope in _around(part))
        self.all = frozenset(scope for (_, scope), size in sizes.items() if size > 1)

    def fold(self, opened: Collection[Scope]) -> Folded:
        """What is seen where these scopes, and all around them, are open."""
        groups: defaultdict[tuple[str, str, str, Scope], list[Part]] = defaultdict(list)
        for part in self._parts.parts:
            shut = next((scope for scope in _around(part) if scope in self.all and scope not in opened), None)
            groups[(part.task, "part", part.replica, part.scope) if shut is None else (part.task, "scope", "/".join(shut), shut[:-1])].append(part)
        nodes: list[Node] = []
        number: dict[Part, int] = {}
        for (task, what, name, scope), parts in groups.items():
            first = parts[0]
            node = Node(task, _role(first, "part", first.replica), first.replica, first.scope, (first,), self._depth[first])
            if what == "scope" and len(parts) > 1:
                node = Node(task, _role(first, "scope", name), name, scope, tuple(parts), min(self._depth[part] for part in parts))
            nodes.append(node)
            number.update(dict.fromkeys(parts, len(nodes) - 1))
        return Folded(nodes, _edges(self._parts.wires, number), frozenset(self.all & set(opened)), self._seen(nodes))

    def at_a_glance(self, most: int = READABLE) -> frozenset[Scope]:
        """Scopes to open at first: depth by depth, as long as what is seen is readable."""
        opened: frozenset[Scope] = frozenset()
        for depth in range(1, 1 + max(map(len, self.all), default=0)):
            wider = opened | {scope for scope in self.all if len(scope) == depth}
            if len({node.role for node in self.fold(wider).nodes}) > most:
                break
            opened = wider
        return opened

    def _seen(self, nodes: Sequence[Node]) -> frozenset[Scope]:
        return frozenset(tuple(node.name.split("/")) for node in nodes if node.folded)


def _depths(parts: Parts) -> dict[Part, int]:
    """How many wires lead to each part, at the most."""
    after: defaultdict[Part, list[Part]] = defaultdict(list)
    waits = Counter(wire.target for wire in parts.wires)
    for wire in parts.wires:
        after[wire.source].append(wire.target)
    depth = dict.fromkeys(parts.parts, 0)
    ready = [part for part in parts.parts if not waits[part]]
    for part in ready:
        for target in after[part]:
            depth[target] = max(depth[target], depth[part] + 1)
            waits[target] -= 1
            if not waits[target]:
                ready.append(target)
    return depth


def _role(part: Part, what: str, name: str) -> tuple[str, str]:
    """Workers do the same; what a ps hears of one worker is not what it hears of another."""
    worker = part.task.startswith("worker:")
    heard = f" {part.name}" if part.kind in (Kind.SEND, Kind.RECEIVE) and not worker else ""
    return ("worker" if worker else part.task), f"{what} {name}{heard}"


def _around(part: Part) -> list[Scope]:
    """The scopes around a part, from the outermost."""
    return [part.scope[: i + 1] for i in range(len(part.scope))]


def _edges(wires: Sequence[Wire], number: dict[Part, int]) -> list[Edge]:
    between: defaultdict[tuple[int, int], list[Wire]] = defaultdict(list)
    for wire in wires:
        ends = number[wire.source], number[wire.target]
        if ends[0] != ends[1]:
            between[ends].append(wire)
    return [Edge(*ends, _once(found)) for ends, found in between.items()]


def _once(wires: Sequence[Wire]) -> tuple[Wire, ...]:
    """A tensor that several ops in a scope take goes there once."""
    first: dict[object, Wire] = {}
    for wire in wires:
        key = (wire.source, wire.tensors) if wire.flow is Flow.TENSOR else wire
        before = first.get(key)
        first[key] = wire if before is None else replace(before, loops=before.loops | wire.loops)
    return tuple(first.values())
