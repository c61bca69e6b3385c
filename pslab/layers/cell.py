"""What all cells of recurrent networks are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pslab.errors import UnimplementedError
from pslab.graph.build import convert_to_tensor
from pslab.graph.defaults import get_default_graph
from pslab.graph.dtypes import DType
from pslab.graph.ops.arrays import zeros
from pslab.graph.tensor import Tensor
from pslab.layers.getting import get_variable
from pslab.layers.structures import map_structure
from pslab.layers.variable_scope import VariableScope, variable_scope
from pslab.layers.variable_store import Reuse


class RNNCell:
    """A cell: ``output, new_state = cell(input, state)``. A subclass defines `state_size`, `output_size` and `call`, and may define `build`.

    Its variables are made at the first call, in a scope of its name within the variable scope that is open then; later calls share them.

    Args:
        trainable: whether optimizers train its variables by default.
        name: of the scope; the class's by default, as ``basic_lstm_cell``, made unique.
        dtype: of the variables; the input's by default.
        reuse: whether the first call is to share variables that are there.
    """

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: DType | Any = None, reuse: Reuse = None) -> None:
        self._trainable = trainable
        self._name = name
        self._dtype = dtype
        self._reuse = reuse
        self._scope: VariableScope | None = None

    @property
    def state_size(self) -> Any:
        """The length of the state, or a nested tuple of lengths."""
        raise NotImplementedError("a cell defines state_size")

    @property
    def output_size(self) -> int:
        """The length of the output."""
        raise NotImplementedError("a cell defines output_size")

    def build(self, inputs: Tensor) -> None:
        """Make the variables, by `weights`; called before the first `call`, in the cell's scope."""

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """One step: the output and the new state, from ``[batch, n]`` and the state."""
        raise UnimplementedError(f"{type(self).__name__} defines no call")

    def __call__(self, inputs: Any, state: Any, scope: str | VariableScope | None = None) -> tuple[Any, Any]:
        """One step in time.

        Args:
            inputs: ``[batch, n]``.
            state: of the structure of `state_size`, each ``[batch, size]``.
            scope: in place of the cell's own.

        Returns:
            The output, ``[batch, output_size]``, and the new state.
        """
        first = self._scope is None
        with self._entered(scope):
            if first:
                self.build(convert_to_tensor(inputs))
            return self.call(inputs, state)

    @contextmanager
    def _entered(self, scope: str | VariableScope | None) -> Iterator[None]:
        if self._scope is not None:
            with variable_scope(self._scope, reuse=True):
                yield
            return
        name = scope or self._name or (_snake_case(type(self).__name__) if self._reuse else None)
        with variable_scope(name, _snake_case(type(self).__name__), reuse=self._reuse) as self._scope:
            yield

    def weights(self, name: str, shape: list[int], inputs: Tensor, initializer: Any = None) -> Any:
        """A variable of the cell."""
        return get_variable(name, shape, self._dtype or inputs.dtype, initializer, trainable=self._trainable)

    def zero_state(self, batch_size: Any, dtype: DType | Any) -> Any:
        """Zeros of the structure of `state_size`, each ``[batch_size, size]``; ``batch_size`` may be a tensor."""
        with get_default_graph().name_scope(f"{type(self).__name__}ZeroState"):
            return map_structure(lambda size: zeros([batch_size, size], dtype), self.state_size)


def _snake_case(name: str) -> str:
    return re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)).lower()
