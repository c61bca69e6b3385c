"""Which parameter server a variable goes to, as a choice."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from pslab.graph.operation import Operation
from pslab.train.device_setter import GreedyLoadBalancingStrategy, byte_size_load_fn


class Placement(StrEnum):
    """How variables are spread over the ps tasks."""

    IN_TURN = "in-turn"
    """One after the other, as they are made (TensorFlow's default)."""
    BY_BYTES = "by-bytes"
    """Each to the task that holds the fewest bytes so far."""

    def over(self, tasks: int) -> Callable[[Operation], int] | None:
        """The ``ps_strategy`` of a `replica_device_setter`; None for its default."""
        return GreedyLoadBalancingStrategy(tasks, byte_size_load_fn) if self is Placement.BY_BYTES else None
