"""Python's operators on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pslab.graph.ops import compare, math, slicing
from pslab.graph.ops.matmul import matmul
from pslab.graph.tensor import Tensor

_BINARY: dict[str, Callable[..., Tensor]] = {
    "add": math.add,
    "sub": math.subtract,
    "mul": math.multiply,
    "truediv": math.truediv,
    "floordiv": math.floordiv,
    "mod": math.mod,
    "pow": math.pow,
    "matmul": matmul,
    "and": compare.logical_and,
    "or": compare.logical_or,
    "xor": compare.logical_xor,
}
_COMPARISONS: dict[str, Callable[..., Tensor]] = {
    "lt": compare.less,
    "le": compare.less_equal,
    "gt": compare.greater,
    "ge": compare.greater_equal,
}
_UNARY: dict[str, Callable[..., Tensor]] = {"neg": math.negative, "abs": math.abs, "invert": compare.logical_not}


def _named(name: str, function: Callable[..., Tensor]) -> tuple[Callable[[Any, Any], Tensor], Callable[[Any, Any], Tensor]]:
    """An operator and its reflection. TensorFlow names such an op in lower case, after the operator: ``x + y`` is ``"add"``, ``add(x, y)`` is ``"Add"``."""
    return lambda self, other: function(self, other, name=name), lambda self, other: function(other, self, name=name)


for _name, _function in {**_COMPARISONS, **_UNARY, "getitem": slicing.getitem}.items():
    setattr(Tensor, f"__{_name}__", _function)
for _name, _function in _BINARY.items():
    _straight, _reflected = _named(_name, _function)
    setattr(Tensor, f"__{_name}__", _straight)
    setattr(Tensor, f"__r{_name}__", _reflected)
