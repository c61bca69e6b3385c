"""The ops that make an update of what is gathered on a task: one waits until there is enough, the others take it, in one critical section with the update."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pslab.graph.build import apply, apply_op
from pslab.graph.dtypes import as_dtype
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import NOT_YET, register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.sync.ops import accumulator_of, take_from


def round_ready(accumulators: Sequence[str], num_required: int, name: str | None = None) -> Operation:
    """An op that waits until each of these accumulators has ``num_required`` gradients at least."""
    return apply_op("RoundReady", [], name, accumulators=tuple(accumulators), num_required=num_required)


def round_take(accumulator: str, variable: Variable, aggregation: str, name: str | None = None) -> Tensor:
    """The mean, or sum, of all that an accumulator of gradients of ``variable`` has, after `round_ready`; its global step grows by one."""
    attrs = {"dtype": variable.dtype.name, "shape": variable.shape.dims, "aggregation": str(aggregation)}
    return apply("RoundTake", [], name, accumulator=accumulator, **attrs)  # type: ignore[no-any-return]


def _infer_take(op: Operation) -> infer.Inferred:
    return [(as_dtype(op.attrs["dtype"]), TensorShape(op.attrs["shape"]))]


def _ready(state: Any, name: str, xp: Any, *, accumulators: Sequence[str], num_required: int) -> Any:
    return () if all(accumulator_of(state, a).pending() >= num_required for a in accumulators) else NOT_YET


def _take(state: Any, name: str, xp: Any, *, accumulator: str, dtype: str, shape: Any, aggregation: str) -> Any:
    return take_from(accumulator_of(state, accumulator), 1, aggregation)


register("RoundReady", infer=lambda op: [], kernel=_ready, stateful=True, blocking=True)
register("RoundTake", infer=_infer_take, kernel=_take, stateful=True)
