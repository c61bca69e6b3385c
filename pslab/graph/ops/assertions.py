"""Conditions that a step must meet. Each is an op: let what matters wait for it, by `control_dependencies`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_op, convert_to_tensor
from pslab.graph.operation import Operation
from pslab.graph.ops import compare
from pslab.graph.ops.broadcasting import convert_pair
from pslab.graph.ops.reduce import reduce_all
from pslab.graph.ops.static import integer
from pslab.graph.registry import not_differentiable, register
from pslab.graph.tensor import Tensor


def _assert(xp: Any, condition: Any, *data: Any, message: str, summarize: int) -> None:
    if not condition.all():
        shown = " ".join(f"[{np.array2string(d.ravel()[:summarize], separator=' ')[1:-1]}]" for d in map(_on_host, data))
        raise InvalidArgumentError(f"assertion failed: {' '.join(part for part in (message, shown) if part)}")


def _on_host(array: Any) -> np.ndarray[Any, Any]:
    return array.get() if hasattr(array, "get") else np.asarray(array)


register("Assert", infer=lambda op: [], kernel=_assert, gradient=not_differentiable)


def Assert(condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None) -> Operation:  # noqa: N802
    """An op that fails where ``condition`` is false, telling ``data``.

    Args:
        condition: a bool.
        data: texts and tensors.
        summarize: how many elements of each tensor are told; 3 by default.
        name: name of the op.

    Raises:
        InvalidArgumentError: when it runs, the condition is false.
    """
    return _asserted(condition, data, summarize, name or "Assert")


def _asserted(condition: Any, data: Sequence[Any], summarize: int | None, name: str) -> Operation:
    message = " ".join(str(d) for d in data if isinstance(d, str))
    values = [convert_to_tensor(d) for d in data if not isinstance(d, str)]
    return apply_op("Assert", [condition, *values], name, message=message, summarize=3 if summarize is None else summarize)


def _comparison(name: str, sign: str, compared: Callable[..., Tensor]) -> Callable[..., Operation]:
    def check(
        x: Any, y: Any, data: Sequence[Any] | None = None, summarize: int | None = None, message: str | None = None, name: str | None = name
    ) -> Operation:
        a, b = convert_pair(x, y)
        told = [message or "", *([f"{a.name} {sign} {b.name} does not hold:", a, b] if data is None else data)]
        return _asserted(reduce_all(compared(a, b)), told, summarize, name or "assert")

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"""An op that fails unless ``x {sign} y``, elementwise, with broadcasting. See `Assert` of ``data`` and ``summarize``.

    Raises:
        InvalidArgumentError: when it runs, it does not hold; the error tells ``message``, and ``data``, by default ``x`` and ``y``.
    """
    return check


assert_equal = _comparison("assert_equal", "==", compare.equal)
assert_less = _comparison("assert_less", "<", compare.less)
assert_less_equal = _comparison("assert_less_equal", "<=", compare.less_equal)
assert_greater = _comparison("assert_greater", ">", compare.greater)
assert_greater_equal = _comparison("assert_greater_equal", ">=", compare.greater_equal)


def assert_positive(
    x: Any, data: Sequence[Any] | None = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """An op that fails unless all of ``x`` is greater than 0: see `assert_greater`."""
    return assert_greater(x, 0, data, summarize, message, name or "assert_positive")


def assert_non_negative(
    x: Any, data: Sequence[Any] | None = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """An op that fails if any of ``x`` is less than 0: see `assert_greater_equal`."""
    return assert_greater_equal(x, 0, data, summarize, message, name or "assert_non_negative")


def assert_rank(x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None) -> Operation:
    """Check the rank of ``x`` now, as far as it is known, and return an op that does nothing.

    Raises:
        ShapeError: it has another.
    """
    tensor, wanted = convert_to_tensor(x), integer(rank, "a rank")
    if tensor.shape.ndims not in (None, wanted):
        raise ShapeError(f"{message or ''} {tensor.name} must have rank {wanted}, but has shape {tensor.shape}".strip())
    return tensor.graph.create_op("NoOp", (), {}, name or "assert_rank")
