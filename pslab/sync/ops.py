"""The stateful ops of gathering gradients: accumulators, as resources of the task that an op is placed on.

All ops of one accumulator must be on one task: build them under ``graph.colocate_with(variable.op)``. A resource is made by the first op
that touches it. `Task.drop_resources` with `ACCUMULATORS`, and the beginning of a name if wanted, forgets them and returns them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pslab.errors import ShapeError
from pslab.graph.build import apply_one, apply_op, convert_to_tensor
from pslab.graph.dtypes import DType, as_dtype, int64
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor
from pslab.sync.accumulator import Accumulator

ACCUMULATORS = "sync/accumulator/"
"""Beginning of the resource key of every accumulator; its name follows."""

NEVER_STALE = 2**62
"""The step to hand a gradient in with that is to be accepted, however old it is."""


def accumulator_apply_gradient(
    accumulator: str, gradient: Any, local_step: Any, worker: int, name: str | None = None, *, weight: Any = 1
) -> Operation:
    """An op that hands a gradient in; a stale one is dropped and counted (TensorFlow's ``apply_grad``).

    Args:
        accumulator: name of the accumulator.
        gradient: a floating tensor.
        local_step: int64 scalar, the global step of the parameters that the gradient was computed at.
        worker: index of the worker, which sets the gradient's place in the sum.
        name: name of the op.
        weight: int64 scalar, how much it counts in a weighted mean.

    Raises:
        ShapeError: ``local_step`` or ``weight`` is no int64 scalar, or the gradient is not floating.
    """
    inputs = [convert_to_tensor(gradient), _scalar(local_step), _scalar(weight)]
    return apply_op("AccumulatorApplyGradient", inputs, name, accumulator=accumulator, worker=worker)


def accumulator_take_gradient(
    accumulator: str, num_required: int, dtype: DType | Any, shape: Any, name: str | None = None, *, aggregation: str = "mean"
) -> Tensor:
    """An op that waits for gradients and gives their mean, or sum; the accumulator's global step grows by one (TensorFlow's ``take_grad``).

    Args:
        accumulator: name of the accumulator.
        num_required: how many gradients to wait for, at least 1. If more are there, all are taken.
        dtype: element type of the gradients.
        shape: static shape of the gradients.
        name: name of the op.
        aggregation: ``"mean"``, ``"sum"``, or ``"weighted"``: a mean in which each counts as much as it weighs.

    Raises:
        ShapeError: ``num_required`` is less than 1.
    """
    attrs = {"accumulator": accumulator, "num_required": num_required, "dtype": as_dtype(dtype).name, "shape": TensorShape(shape).dims}
    return apply_one("AccumulatorTakeGradient", [], name, **attrs, aggregation=str(aggregation))


def accumulator_set_global_step(accumulator: str, global_step: Any, name: str | None = None) -> Operation:
    """An op that sets the step below which gradients are stale (TensorFlow's ``set_global_step``); ``global_step`` is an int64 scalar."""
    return apply_op("AccumulatorSetGlobalStep", [_scalar(global_step)], name, accumulator=accumulator)


def accumulator_stats(accumulator: str, name: str | None = None) -> Tensor:
    """An int64 vector of the fields of `pslab.sync.accumulator.AccumulatorStats`: applied, dropped, pending."""
    return apply_one("AccumulatorStats", [], name, accumulator=accumulator)


def _scalar(value: Any) -> Tensor:
    """``value`` as a tensor; a Python number as int64."""
    return convert_to_tensor(value, int64 if isinstance(value, int) else None)


# Shape rules


def _infer_apply(op: Operation) -> infer.Inferred:
    gradient, local_step, weight = op.inputs
    if not gradient.dtype.is_floating:
        raise ShapeError(f"a gradient must be floating, not {gradient.dtype.name}")
    _require_scalar(local_step, "step")
    _require_scalar(weight, "weight")
    return []


def _infer_take(op: Operation) -> infer.Inferred:
    if op.attrs["num_required"] < 1:
        raise ShapeError(f"expected to wait for at least 1 gradient, not {op.attrs['num_required']}")
    return [(as_dtype(op.attrs["dtype"]), TensorShape(op.attrs["shape"]))]


def _infer_step(op: Operation) -> infer.Inferred:
    _require_scalar(op.inputs[0], "step")
    return []


def _require_scalar(tensor: Tensor, what: str) -> None:
    if tensor.dtype is not int64 or not tensor.shape.is_compatible_with(()):
        raise ShapeError(f"a {what} must be an int64 scalar, but {tensor.name} is {tensor.dtype.name} of shape {tensor.shape}")


# Kernels


def accumulator_of(state: Any, name: str) -> Accumulator:
    """An accumulator of a task. Call it under the task's monitor."""
    return state.resource(ACCUMULATORS + name, Accumulator)  # type: ignore[no-any-return]


def _apply_gradient(state: Any, name: str, xp: Any, gradient: Any, local_step: Any, weight: Any, *, accumulator: str, worker: int) -> None:
    accumulator_of(state, accumulator).apply_grad(worker, int(local_step), gradient, int(weight))


def _take_gradient(state: Any, name: str, xp: Any, *, accumulator: str, num_required: int, dtype: str, shape: Any, aggregation: str) -> Any:
    return accumulator_of(state, accumulator).take(num_required, aggregation)


def _set_global_step(state: Any, name: str, xp: Any, step: Any, *, accumulator: str) -> None:
    accumulator_of(state, accumulator).set_global_step(int(step))


def _stats(state: Any, name: str, xp: Any, *, accumulator: str) -> Any:
    return xp.asarray(accumulator_of(state, accumulator).stats(), dtype="int64")


def _register(type: str, shape_rule: Callable[[Operation], infer.Inferred], kernel: Callable[..., Any], **fields: Any) -> None:
    register(type, infer=shape_rule, kernel=kernel, stateful=True, **fields)


_register("AccumulatorApplyGradient", _infer_apply, _apply_gradient, signals=True)
_register("AccumulatorTakeGradient", _infer_take, _take_gradient, blocking=True)
_register("AccumulatorSetGlobalStep", _infer_step, _set_global_step, signals=True, host_only=True)
_register("AccumulatorStats", lambda op: [(int64, TensorShape([3]))], _stats, host_only=True)
