"""What layers share: the scope each one makes its variables in, its biases and its activation."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from pslab.errors import ShapeError
from pslab.graph.ops.nn import bias_add
from pslab.graph.tensor import Tensor
from pslab.layers.getting import get_variable
from pslab.layers.regularizers import Regularizer
from pslab.layers.variable_scope import VariableScope, variable_scope
from pslab.layers.variable_store import Reuse

Activation = Callable[[Tensor], Tensor]


def layer_scope(name: str | VariableScope | None, default_name: str, reuse: Reuse, x: Tensor) -> AbstractContextManager[VariableScope]:
    """The scope of a layer: of its name; else of the type's, which is made unique unless the layer shares its variables."""
    if name is None and reuse:
        name = default_name
    return variable_scope(name, default_name, [x], reuse=reuse)


def units_in(x: Tensor) -> int:
    """The length of the last axis, which the weights' shape depends on.

    Raises:
        ShapeError: it is not known.
    """
    length = x.shape.dim(-1) if x.shape.ndims else None
    if length is None:
        raise ShapeError(f"a layer needs to know the last dimension of its input, but {x.name} has shape {x.shape}", "use set_shape or reshape")
    return int(length)


def with_biases(
    x: Tensor, name: str, initializer: Any, regularizer: Regularizer | None, trainable: bool, collections: list[str] | None = None
) -> Tensor:
    """``x`` plus a vector of biases, a variable, along its last axis."""
    return bias_add(x, get_variable(name, [units_in(x)], x.dtype, initializer, regularizer, trainable, collections))


def activated(x: Tensor, activation: Activation | None) -> Tensor:
    """``x`` after its activation, if there is one."""
    return x if activation is None else activation(x)
