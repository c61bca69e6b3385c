"""Looking for numbers that are none: NaN and infinities."""

from __future__ import annotations

from typing import Any

from pslab.errors import InvalidArgumentError
from pslab.graph.build import apply_one
from pslab.graph.dtypes import bool_
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import not_differentiable, register
from pslab.graph.tensor import Tensor


def _infer_test(op: Operation) -> infer.Inferred:
    return [(bool_, op.inputs[0].shape)]


_TEST = infer.floating(_infer_test)
register("IsNan", infer=_TEST, kernel=lambda xp, x: xp.isnan(x), gradient=not_differentiable, flops=infer.elements)
register("IsInf", infer=_TEST, kernel=lambda xp, x: xp.isinf(x), gradient=not_differentiable, flops=infer.elements)
register("IsFinite", infer=_TEST, kernel=lambda xp, x: xp.isfinite(x), gradient=not_differentiable, flops=infer.elements)


def is_nan(x: Any, name: str | None = None) -> Tensor:
    """Where ``x`` is NaN, elementwise."""
    return apply_one("IsNan", [x], name)


def is_inf(x: Any, name: str | None = None) -> Tensor:
    """Where ``x`` is infinite, elementwise."""
    return apply_one("IsInf", [x], name)


def is_finite(x: Any, name: str | None = None) -> Tensor:
    """Where ``x`` is neither NaN nor infinite, elementwise."""
    return apply_one("IsFinite", [x], name)


def _check(xp: Any, x: Any, *, message: str) -> Any:
    finite = xp.isfinite(x)
    if not finite.all():
        what = "NaN" if xp.isnan(x).any() else "Inf"
        raise InvalidArgumentError(f"{message} : Tensor had {what} values ({x.size - int(finite.sum())} of {x.size} are not finite)")
    return x


register(
    "CheckNumerics",
    infer=infer.floating(infer.like_first),
    kernel=_check,
    gradient=lambda op, g: [check_numerics(g, f"{op.attrs['message']}, gradient")],
    flops=infer.elements,
    view=True,
)


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """``tensor`` itself, if all of it is finite.

    Raises:
        InvalidArgumentError: when it runs, some of it is NaN or infinite; the error begins with ``message``.
    """
    return apply_one("CheckNumerics", [tensor], name, message=message)
