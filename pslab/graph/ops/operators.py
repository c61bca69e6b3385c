"""Python's operators on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pslab.graph.ops import compare, math, slicing
from pslab.graph.ops.matmul import matmul
from pslab.graph.tensor import Tensor

_BINARY: dict[str, Callable[[Any, Any], Tensor]] = {
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
_COMPARISONS: dict[str, Callable[[Any, Any], Tensor]] = {
    "lt": compare.less,
    "le": compare.less_equal,
    "gt": compare.greater,
    "ge": compare.greater_equal,
}
_UNARY: dict[str, Callable[[Any], Tensor]] = {"neg": math.negative, "abs": math.abs, "invert": compare.logical_not}


def _forward(function: Callable[[Any, Any], Tensor]) -> Callable[[Tensor, Any], Tensor]:
    return lambda self, other: function(self, other)


def _reflected(function: Callable[[Any, Any], Tensor]) -> Callable[[Tensor, Any], Tensor]:
    return lambda self, other: function(other, self)


def _alone(function: Callable[[Any], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda self: function(self)


for _name, _function in {**_BINARY, **_COMPARISONS}.items():
    setattr(Tensor, f"__{_name}__", _forward(_function))
for _name, _function in _BINARY.items():
    setattr(Tensor, f"__r{_name}__", _reflected(_function))
for _name, _single in _UNARY.items():
    setattr(Tensor, f"__{_name}__", _alone(_single))
setattr(Tensor, "__getitem__", _forward(slicing.getitem))  # noqa: B010
