"""Cells made of others: stacked, or with dropout around."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pslab.errors import UsageError
from pslab.graph.dtypes import DType
from pslab.graph.ops.joining import concat, split
from pslab.graph.ops.nn import dropout
from pslab.graph.ops.static import is_symbolic
from pslab.layers.cell import RNNCell
from pslab.layers.structures import map_structure
from pslab.layers.variable_scope import VariableScope, variable_scope


class MultiRNNCell(RNNCell):
    """Cells on top of each other: the output of each is the input of the next. Their scopes are ``cell_0``, ``cell_1``, ….

    Args:
        cells: from the lowest to the highest; each an object of its own.
        state_is_tuple: whether the state is a tuple of the cells' states; else they lie next to each other in one tensor.

    Raises:
        UsageError: there is no cell.
    """

    def __init__(self, cells: Sequence[RNNCell], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise UsageError("MultiRNNCell needs at least one cell")
        self._cells = list(cells)
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        """The cells' state sizes, or their sum if the state is one tensor."""
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        """That of the highest cell."""
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: DType | Any) -> Any:
        """The cells' zero states."""
        if not self._state_is_tuple:
            return super().zero_state(batch_size, dtype)
        return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """One step of each cell."""
        states = state if self._state_is_tuple else split(state, [cell.state_size for cell in self._cells], 1)
        new = []
        for i, (cell, own) in enumerate(zip(self._cells, states, strict=True)):
            with variable_scope(f"cell_{i}"):
                inputs, after = cell(inputs, own)
            new.append(after)
        return inputs, tuple(new) if self._state_is_tuple else concat(new, 1)


class DropoutWrapper(RNNCell):
    """A cell with dropout of its input, its output and its state. A probability of 1 is none; each may be a tensor.

    Args:
        cell: the cell.
        input_keep_prob: probability that an element of the input is kept.
        output_keep_prob: the same of the output.
        state_keep_prob: the same of the new state; c of an LSTM is left as it is.
        variational_recurrent: must be False.
        input_size: changes nothing.
        dtype: changes nothing.
        seed: see `pslab.set_random_seed`.
    """

    def __init__(
        self,
        cell: RNNCell,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: DType | Any = None,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        if variational_recurrent:
            raise UsageError("DropoutWrapper draws anew in every step; leave out variational_recurrent=")
        self._cell = cell
        self._keep_input, self._keep_output, self._keep_state = input_keep_prob, output_keep_prob, state_keep_prob
        self._seed = seed

    @property
    def state_size(self) -> Any:
        """The cell's."""
        return self._cell.state_size

    @property
    def output_size(self) -> int:
        """The cell's."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: DType | Any) -> Any:
        """The cell's."""
        return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: str | VariableScope | None = None) -> tuple[Any, Any]:
        """One step of the cell."""
        output, new = self._cell(self._dropped(inputs, self._keep_input), state, scope)
        return self._dropped(output, self._keep_output), self._dropped_state(new)

    def _dropped(self, x: Any, keep: Any) -> Any:
        return x if not is_symbolic(keep) and keep >= 1 else dropout(x, keep, seed=self._seed)

    def _dropped_state(self, state: Any) -> Any:
        if hasattr(state, "_fields") and hasattr(state, "c"):
            return state._replace(h=self._dropped(state.h, self._keep_state))
        if isinstance(state, tuple):
            return tuple(map(self._dropped_state, state))
        return map_structure(lambda x: self._dropped(x, self._keep_state), state)
