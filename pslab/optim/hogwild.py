"""Updates and reads without a lock (Niu et al., 2011, "Hogwild!: A Lock-Free Approach to Parallelizing Stochastic Gradient Descent").

An update adds to the variable's array in place, outside the task's monitor, while others read and update it. A read is a copy, which may be torn: of a
moment before an update here, after it there. That is not prevented, but seen, by marks at the beginning and the end of every update.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pslab.errors import InvalidArgumentError
from pslab.graph.build import apply, apply_one
from pslab.graph.dtypes import as_dtype, int64
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape, scalar
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.optim.ops import RULES, AnyRule, infer_update, update_attrs, update_inputs

MARKS = "optim/marks/"
"""Beginning of the resource key of a variable's marks; its name follows."""


@dataclass
class _Marks:
    """How many updates have begun to write to a variable's array, and how many have ended."""

    begun: int = 0
    ended: int = 0


def hogwild_update(rule: AnyRule, variable: Variable, slots: Sequence[Variable], gradient: Tensor, name: str | None = None) -> Tensor:
    """As `pslab.optim.ops.apply_update`, in place and without a lock. Nobody else may have the variable's array. Its output is that array."""
    with variable.graph.colocate_with(variable.op):
        inputs = update_inputs(rule, gradient)
        return apply_one(f"Hogwild{type(rule).__name__}", inputs, name, **update_attrs(rule, variable, slots))


def torn_read(variable: Variable, after: Operation) -> tuple[Tensor, Tensor]:
    """A read without a lock, after another op: a copy of the value, and as an int64 scalar whether an update ran into it, 0 or 1."""
    with variable.graph.colocate_with(variable.op), variable.graph.control_dependencies([after]):
        attrs = {"variable": variable.op.name, "dtype": variable.dtype.name, "shape": variable.shape.dims}
        return apply("TornRead", [], f"{variable.op.name}/read", **attrs)  # type: ignore[no-any-return]


def _marks(state: Any, variable: str) -> _Marks:
    with state.monitor:
        return state.resource(MARKS + variable, _Marks)  # type: ignore[no-any-return]


def _kernel(rule: Callable[..., AnyRule]) -> Callable[..., Any]:
    def add_in_place(
        state: Any, name: str, xp: Any, gradient: Any, *hyper: Any, variable: str, slots: Sequence[str], dtype: str, shape: Any, **static: Any
    ) -> Any:
        variables = state.variables
        live = variables.read(variable)
        if gradient.shape != live.shape:  # a smaller gradient would be broadcast in silence
            raise InvalidArgumentError(f"variable {variable!r} has shape {live.shape}, its gradient {gradient.shape}")
        seen = live.copy()
        parameter, values = rule(*hyper, **static).update(xp, seen, tuple(map(variables.read, slots)), gradient)
        for slot, value in zip(slots, values, strict=True):
            variables.assign(slot, value)
        change = parameter - seen
        marks = _marks(state, variable)
        marks.begun += 1
        xp.add(live, change, out=live)
        marks.ended += 1
        return live

    return add_in_place


def _torn_read(state: Any, name: str, xp: Any, *, variable: str, dtype: str, shape: Any) -> Any:
    marks = _marks(state, variable)
    begun, whole = marks.begun, marks.begun == marks.ended
    value = state.variables.read(variable).copy()
    return value, np.int64(not whole or marks.begun != begun)


def _infer_read(op: Operation) -> infer.Inferred:
    return [(as_dtype(op.attrs["dtype"]), TensorShape(op.attrs["shape"])), (int64, scalar())]


for _rule, _flops in RULES.items():
    register(
        f"Hogwild{_rule.__name__}",
        infer=infer_update,
        kernel=_kernel(_rule),
        flops=infer.per_element(_flops + 2),
        stateful=True,
        locked=False,
    )
register("TornRead", infer=_infer_read, kernel=_torn_read, stateful=True, locked=False)
