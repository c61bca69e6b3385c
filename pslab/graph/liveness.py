"""How long the tensors of a task's program live, and who holds their buffers: what the compiler and the estimate of memory both go by."""

from __future__ import annotations

from collections.abc import Iterable

from pslab.graph.node import Node
from pslab.graph.plan import Partition


def sections(nodes: Iterable[Node]) -> list[tuple[bool, list[Node]]]:
    """Runs of stateful ops, which are critical sections, and runs of others. A constant, or an op that does nothing, parts none."""
    sections: list[tuple[bool, list[Node]]] = []
    for node in nodes:
        silent = node.type in ("Const", "NoOp")
        critical = node.definition.stateful and node.definition.locked
        if sections and (silent or sections[-1][0] == critical):
            sections[-1][1].append(node)
        else:
            sections.append((critical, [node]))
    return sections


def last_uses(partition: Partition) -> dict[str, int]:
    """For each tensor, the position in the program of its last use: one position per received cut, node, sent cut and wait, in order."""
    last: dict[str, int] = {}
    position = 0
    for stage in partition.stages:
        position += len(stage.receives)
        for node in stage.nodes:
            last.update(dict.fromkeys(node.inputs, position))
            position += 1
        for cut in stage.sends:
            last.update(dict.fromkeys(cut.tensors, position))
            position += 1
        for node in stage.waits:
            last.update(dict.fromkeys(node.inputs, position))
            position += 1
    last.update(dict.fromkeys(partition.fetches, position))
    return last


def shared_tensors(partition: Partition) -> set[str]:
    """Tensors whose buffer somebody else may hold: taken by a view or by the task's state, sent, or returned."""
    shared = set(partition.fetches)
    for stage in partition.stages:
        for node in (*stage.nodes, *stage.waits):
            if node.definition.view or node.definition.stateful:
                shared.update(node.inputs)
        for cut in stage.sends:
            shared.update(cut.tensors)
    return shared
