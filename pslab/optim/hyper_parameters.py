"""The hyper-parameters of update rules as tensors, where the variables are."""

from __future__ import annotations

from typing import Any

from pslab.graph.build import convert_to_tensor
from pslab.graph.ops.arrays import cast
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.optim.ops import AnyRule, tensor_fields


class HyperParameters:
    """A rule's hyper-parameters as tensors: one of each per device and dtype, made once.

    Sharing them also keeps the updates of one task next to each other, which makes them one critical section.
    """

    def __init__(self, rule: AnyRule) -> None:
        self._rule = rule
        self._made: dict[tuple[str, str], AnyRule] = {}

    def beside(self, variable: Variable) -> AnyRule:
        """The rule with tensors on the device and of the dtype of ``variable``."""
        key = (variable.device, variable.dtype.name)
        if key not in self._made:
            with variable.graph.colocate_with(variable.op):
                tensors: dict[str, Any] = {f: beside(variable, getattr(self._rule, f), f) for f in tensor_fields(type(self._rule))}
            self._made[key] = self._rule._replace(**tensors)
        return self._made[key]


def beside(variable: Variable, value: Any, name: str) -> Tensor:
    """``value`` as a tensor of the variable's dtype, built under the variable's colocation."""
    if isinstance(value, Tensor | Variable):
        return cast(value, variable.dtype, name)
    return convert_to_tensor(value, variable.dtype, name, like=variable.value())
