"""Learning rates that change with the global step (TensorFlow 1's ``tf.train.exponential_decay`` and its kin).

Each is one op, computed in float64 beside the global step, so that only the rate itself travels to variables elsewhere.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from typing import Any

from pslab.errors import GraphError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.dtypes import as_dtype
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import register
from pslab.graph.shape import scalar
from pslab.graph.tensor import Tensor


def exponential_decay(
    learning_rate: float, global_step: Any, decay_steps: float, decay_rate: float, staircase: bool = False, name: str | None = None
) -> Tensor:
    """``learning_rate · decay_rate ^ (global_step / decay_steps)``; float32 scalar.

    Args:
        learning_rate: the rate at step 0.
        global_step: an integer scalar, tensor or variable.
        decay_steps: steps after which the rate is multiplied by ``decay_rate``.
        decay_rate: the factor.
        staircase: round the exponent down, so that the rate changes every ``decay_steps`` only.
        name: name of the op.

    Raises:
        GraphError: no global step, or ``decay_steps`` is not positive.
    """
    _require_positive(decay_steps)
    fields = {"learning_rate": learning_rate, "decay_steps": decay_steps, "decay_rate": decay_rate, "staircase": staircase}
    return _scheduled("ExponentialDecay", global_step, name, **fields)


def natural_exp_decay(
    learning_rate: float, global_step: Any, decay_steps: float, decay_rate: float, staircase: bool = False, name: str | None = None
) -> Tensor:
    """``learning_rate · exp(−decay_rate · global_step / decay_steps)``; float32 scalar. The arguments are those of `exponential_decay`."""
    return exponential_decay(learning_rate, global_step, decay_steps, math.exp(-decay_rate), staircase, name)


def inverse_time_decay(
    learning_rate: float, global_step: Any, decay_steps: float, decay_rate: float, staircase: bool = False, name: str | None = None
) -> Tensor:
    """``learning_rate / (1 + decay_rate · global_step / decay_steps)``; float32 scalar. The arguments are those of `exponential_decay`."""
    _require_positive(decay_steps)
    fields = {"learning_rate": learning_rate, "decay_steps": decay_steps, "decay_rate": decay_rate, "staircase": staircase}
    return _scheduled("InverseTimeDecay", global_step, name, **fields)


def cosine_decay(learning_rate: float, global_step: Any, decay_steps: float, alpha: float = 0.0, name: str | None = None) -> Tensor:
    """Half a cosine from ``learning_rate`` down to ``alpha · learning_rate`` at ``decay_steps``, which it keeps; float32 scalar.

    Raises:
        GraphError: no global step, or ``decay_steps`` is not positive.
    """
    _require_positive(decay_steps)
    return _scheduled("CosineDecay", global_step, name, learning_rate=learning_rate, decay_steps=decay_steps, alpha=alpha)


def polynomial_decay(
    learning_rate: float,
    global_step: Any,
    decay_steps: float,
    end_learning_rate: float = 0.0001,
    power: float = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """``(learning_rate − end_learning_rate) · (1 − global_step / decay_steps) ^ power + end_learning_rate``; float32 scalar.

    Args:
        learning_rate: the rate at step 0.
        global_step: an integer scalar, tensor or variable.
        decay_steps: steps after which the end is reached.
        end_learning_rate: the rate from then on.
        power: 1 for a straight line.
        cycle: at the end, begin to decay anew towards the next multiple of ``decay_steps``.
        name: name of the op.

    Raises:
        GraphError: no global step, or ``decay_steps`` is not positive.
    """
    _require_positive(decay_steps)
    fields = {"learning_rate": learning_rate, "decay_steps": decay_steps, "end": end_learning_rate, "power": power, "cycle": cycle}
    return _scheduled("PolynomialDecay", global_step, name, **fields)


def piecewise_constant(x: Any, boundaries: Sequence[float], values: Sequence[float], name: str | None = None) -> Tensor:
    """``values[0]`` while x ≤ boundaries[0], ``values[1]`` while x ≤ boundaries[1], …, and ``values[-1]`` beyond the last; float32 scalar.

    Raises:
        GraphError: no global step, boundaries that do not grow, or not one value more than boundaries.
    """
    if len(values) != len(boundaries) + 1:
        raise GraphError(f"{len(boundaries)} boundaries need {len(boundaries) + 1} values, not {len(values)}")
    if sorted(set(boundaries)) != list(boundaries):
        raise GraphError(f"boundaries must grow: {list(boundaries)}")
    return _scheduled("PiecewiseConstant", x, name, boundaries=tuple(boundaries), values=tuple(values))


def _scheduled(type: str, global_step: Any, name: str | None, **fields: Any) -> Tensor:
    if global_step is None:
        raise GraphError("a decaying learning rate needs a global step", "train.get_or_create_global_step(), also given to minimize()")
    step = convert_to_tensor(global_step)
    with step.graph.as_default(), step.graph.colocate_with(step.op):
        return apply_one(type, [step], name, **fields)


def _require_positive(decay_steps: float) -> None:
    if not decay_steps > 0:
        raise GraphError(f"decay_steps must be positive, not {decay_steps}")


# Formulas, of one Python number


def _exponential(step: float, *, learning_rate: float, decay_steps: float, decay_rate: float, staircase: bool) -> float:
    return learning_rate * math.pow(decay_rate, _periods(step, decay_steps, staircase))


def _inverse_time(step: float, *, learning_rate: float, decay_steps: float, decay_rate: float, staircase: bool) -> float:
    return learning_rate / (1 + decay_rate * _periods(step, decay_steps, staircase))


def _periods(step: float, decay_steps: float, staircase: bool) -> float:
    return step // decay_steps if staircase else step / decay_steps


def _cosine(step: float, *, learning_rate: float, decay_steps: float, alpha: float) -> float:
    fall = (1 + math.cos(math.pi * min(step, decay_steps) / decay_steps)) / 2
    return learning_rate * ((1 - alpha) * fall + alpha)


def _polynomial(step: float, *, learning_rate: float, decay_steps: float, end: float, power: float, cycle: bool) -> float:
    horizon = decay_steps * max(1, math.ceil(step / decay_steps)) if cycle else decay_steps
    return (learning_rate - end) * math.pow(1 - min(step, horizon) / horizon, power) + end


def _piecewise(step: float, *, boundaries: Sequence[float], values: Sequence[float]) -> float:
    return values[bisect.bisect_left(boundaries, step)]


def _register(type: str, formula: Callable[..., float]) -> None:
    def kernel(xp: Any, step: Any, **fields: Any) -> Any:
        return xp.asarray(formula(step.item(), **fields), dtype="float32")

    register(type, infer=_infer, kernel=kernel, host_only=True)


def _infer(op: Operation) -> infer.Inferred:
    return [(as_dtype("float32"), scalar())]


_register("ExponentialDecay", _exponential)
_register("InverseTimeDecay", _inverse_time)
_register("CosineDecay", _cosine)
_register("PolynomialDecay", _polynomial)
_register("PiecewiseConstant", _piecewise)
