"""Ticks: the clock of a pipeline, as ops.

A tick blocks nobody. But an edge out of a blocking op counts as a stage of the plan (`pslab.graph.partition`), and what leaves a task for another from one
stage travels as one message. So an op after k ticks in a chain is k stages later, and its results travel by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pslab.graph.defaults import get_default_graph
from pslab.graph.operation import Operation
from pslab.graph.registry import register


def _tick(state: Any, name: str, xp: Any) -> None:
    return None


register("Tick", infer=lambda op: [], kernel=_tick, stateful=True, blocking=True)


def ticks(count: int, after: Sequence[Operation] = ()) -> list[Operation]:
    """A chain of ticks on the device in force, each a stage later than the one before it.

    Args:
        count: how many.
        after: ops that the first one waits for.
    """
    graph, chain = get_default_graph(), list[Operation]()
    for number in range(count):
        with graph.control_dependencies([chain[-1]] if chain else after):
            chain.append(graph.create_op("Tick", (), {}, f"tick_{number + 1}"))
    return chain
