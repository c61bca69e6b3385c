"""Recurrent networks: a cell run over a sequence, unrolled into as many steps of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pslab.errors import ShapeError
from pslab.graph.build import convert_to_tensor
from pslab.graph.dtypes import DType
from pslab.graph.ops.arrays import zeros_like
from pslab.graph.ops.compare import less, where
from pslab.graph.ops.joining import stack, unstack
from pslab.graph.ops.shapes import shape
from pslab.graph.tensor import Tensor
from pslab.layers.cell import RNNCell
from pslab.layers.structures import map_structure
from pslab.layers.variable_scope import VariableScope, variable_scope


def static_rnn(
    cell: RNNCell,
    inputs: Sequence[Any],
    initial_state: Any = None,
    dtype: DType | Any = None,
    sequence_length: Any = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[Tensor], Any]:
    """Run a cell over a list of inputs.

    Args:
        cell: the cell.
        inputs: a tensor ``[batch, n]`` for each step.
        initial_state: of the structure of ``cell.state_size``; zeros by default.
        dtype: of the zeros, where there is no initial state.
        sequence_length: integers, ``[batch]``: from a row's length on its outputs are zeros, and its state stays.
        scope: of the variables; ``rnn`` by default.

    Returns:
        The outputs, one for each step, and the last state.

    Raises:
        ShapeError: there is no input, or neither a state nor a dtype.
    """
    steps = [convert_to_tensor(x) for x in inputs]
    if not steps:
        raise ShapeError("a recurrent network needs at least one input")
    with variable_scope(scope or "rnn") as opened:
        state = _first_state(cell, steps[0], initial_state, dtype)
        lengths = None if sequence_length is None else convert_to_tensor(sequence_length)
        outputs = []
        for time, x in enumerate(steps):
            if time:
                opened.reuse_variables()
            output, new = cell(x, state)
            if lengths is not None:
                goes_on = less(convert_to_tensor(time, lengths.dtype), lengths)
                output = where(goes_on, output, zeros_like(output))
                new = map_structure(lambda after, before, goes_on=goes_on: where(goes_on, after, before), new, state)
            outputs.append(output)
            state = new
        return outputs, state


def dynamic_rnn(
    cell: RNNCell,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: DType | Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[Tensor, Any]:
    """Run a cell over sequences in one tensor. The number of steps must be known when the graph is built: it is unrolled, as by `static_rnn`.

    Args:
        cell: the cell.
        inputs: ``[batch, steps, n]``, or ``[steps, batch, n]`` if ``time_major``.
        sequence_length: as of `static_rnn`.
        initial_state: as of `static_rnn`.
        dtype: as of `static_rnn`.
        parallel_iterations: changes nothing.
        swap_memory: changes nothing.
        time_major: whether the first axis is that of the steps, of inputs and outputs.
        scope: of the variables; ``rnn`` by default.

    Returns:
        The outputs, with the axes of the inputs, and the last state.

    Raises:
        ShapeError: the number of steps is not known, or neither a state nor a dtype is given.
    """
    x = convert_to_tensor(inputs)
    axis = 0 if time_major else 1
    if x.shape.ndims is None or x.shape.ndims < 2 or x.shape.dim(axis) is None:
        raise ShapeError(
            f"dynamic_rnn unrolls its steps, and axis {axis} of {x.name}, of shape {x.shape}, does not tell how many they are",
            "use a fixed number of steps with sequence_length=",
        )
    outputs, state = static_rnn(cell, unstack(x, axis=axis), initial_state, dtype, sequence_length, scope)
    return stack(outputs, axis), state


def _first_state(cell: RNNCell, x: Tensor, initial_state: Any, dtype: DType | Any) -> Any:
    if initial_state is not None:
        return map_structure(convert_to_tensor, initial_state)
    if dtype is None:
        raise ShapeError("a recurrent network needs an initial_state, or a dtype for one of zeros")
    batch = x.shape.dim(0)
    return cell.zero_state(shape(x)[0] if batch is None else batch, dtype)
