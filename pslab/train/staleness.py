"""How many updates others made since a replica read its parameters, as a tensor of the training graph."""

from __future__ import annotations

from typing import Any

from pslab.graph.build import apply_one
from pslab.graph.dtypes import int64
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import register
from pslab.graph.shape import scalar
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable


def _kernel(state: Any, name: str, xp: Any, read_step: Any, *, variable: str) -> Any:
    return state.variables.read(variable) - read_step


def _infer(op: Operation) -> infer.Inferred:
    return [(int64, scalar())]


register("Staleness", infer=_infer, kernel=_kernel, stateful=True)


def staleness(global_step: Variable, read_step: Tensor, name: str = "staleness") -> Tensor:
    """The global step now, less ``read_step``, at which the parameters were read: an int64 scalar, beside the global step.

    Stateful, so that it is taken in one critical section with the update that follows it.
    """
    with global_step.graph.colocate_with(global_step.op):
        return apply_one("Staleness", [read_step], name, variable=global_step.op.name)
