"""How many bytes the messages of a plan have."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from pslab.graph.dtypes import as_dtype
from pslab.graph.node import Node
from pslab.graph.plan import Cut, Partition, StepPlan
from pslab.runtime.transport.wire import ALIGN, HEADER

_DESCRIPTION = 12
"""Bytes that describe an array, more or less."""
_TIMES = 64
"""Bytes of the times that come with an answer."""
_STRING = 32
"""Bytes of a string, more or less."""


class Sizes:
    """Bytes of a plan's messages: those that were measured, else by the static shapes of what travels.

    Args:
        plan: the plan.
        batch: the length of an axis that is not known.
        measured: bytes of tensors that were measured, by name.
    """

    def __init__(self, plan: StepPlan, batch: int, measured: Mapping[str, float]) -> None:
        self._measured = measured
        self._batch = batch
        nodes = [n for part in plan.partitions.values() for stage in part.stages for n in (*stage.nodes, *stage.waits)]
        self._known = {node.output(i): self._size(node, i) for node in nodes for i in range(len(node.outputs))}

    def _size(self, node: Node, index: int) -> float:
        dtype, shape = node.outputs[index]
        each = _STRING if dtype == "string" else as_dtype(dtype).size
        return math.prod(self._batch if d is None else d for d in shape or ()) * each

    def tensor(self, name: str) -> float:
        """Bytes of a tensor; 0 where nothing is known of it."""
        return self._measured.get(name, self._known.get(name, 0.0))

    def message(self, tensors: Iterable[str]) -> float:
        """Bytes of a message with these tensors."""
        return HEADER.size + sum(-(-size // ALIGN) * ALIGN + _DESCRIPTION for size in map(self.tensor, tensors))

    def cut(self, cut: Cut) -> float:
        """Bytes of a cut."""
        return self.message(cut.tensors)

    def fed(self, part: Partition) -> float:
        """Bytes of what a part is fed."""
        return self.message(part.feeds) - HEADER.size

    def start(self, part: Partition) -> float:
        """Bytes of the message that starts a part."""
        return HEADER.size + self.fed(part)

    def done(self, part: Partition) -> float:
        """Bytes of a part's answer."""
        return self.message(part.fetches) + _TIMES
