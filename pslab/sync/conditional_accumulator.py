"""Accumulators of gradients (TensorFlow 1's ``tf.ConditionalAccumulator``)."""

from __future__ import annotations

from typing import Any

from pslab.errors import ShapeError
from pslab.graph.build import apply_op, convert_to_tensor
from pslab.graph.defaults import get_default_graph
from pslab.graph.dtypes import as_dtype, int32, int64
from pslab.graph.operation import Operation
from pslab.graph.ops.arrays import cast
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor
from pslab.sync.ops import (
    accumulator_apply_gradient,
    accumulator_set_global_step,
    accumulator_stats,
    accumulator_take_gradient,
)


class ConditionalAccumulator:
    """Gathers gradients on the task that was the current device when it was made, and gives their mean; stale ones are dropped.

    A gradient is stale if its local step is less than the accumulator's, which grows by one each time the mean is taken.

    Args:
        dtype: of the gradients.
        shape: of the gradients.
        shared_name: what it is known by on its task; by default the name of its op.
        name: of the op.
    """

    def __init__(self, dtype: Any, shape: Any = None, shared_name: str | None = None, name: str = "conditional_accumulator") -> None:
        self.dtype = as_dtype(dtype)
        self.shape = TensorShape(shape)
        self._op = apply_op("NoOp", [], name)
        self.name = self._op.name
        self._key = shared_name or self.name

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Operation:
        """An op that hands ``grad`` in, computed at ``local_step``.

        Raises:
            GraphError: it is of another dtype.
            ShapeError: it is of another shape.
        """
        gradient = convert_to_tensor(grad, self.dtype)
        if not self.shape.is_compatible_with(gradient.shape):
            raise ShapeError(f"{gradient.name} has shape {gradient.shape}, but accumulator {self.name!r} gathers gradients of shape {self.shape}")
        with get_default_graph().colocate_with(self._op):
            return accumulator_apply_gradient(self._key, gradient, _step(local_step), 0, name)

    def take_grad(self, num_required: Any, name: str | None = None) -> Tensor:
        """The mean of the gradients that came, once there are ``num_required`` at least."""
        with get_default_graph().colocate_with(self._op):
            return accumulator_take_gradient(self._key, int(num_required), self.dtype, self.shape.dims, name)

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Operation:
        """An op that sets the step below which gradients are stale."""
        with get_default_graph().colocate_with(self._op):
            return accumulator_set_global_step(self._key, _step(new_global_step), name)

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """How many gradients came since the mean was taken last, an int32 scalar."""
        with get_default_graph().colocate_with(self._op):
            return cast(accumulator_stats(self._key, name)[2], int32)


def _step(value: Any) -> Tensor:
    tensor = convert_to_tensor(value)
    return tensor if tensor.dtype is int64 else cast(tensor, int64)
