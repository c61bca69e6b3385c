"""Trigonometric and hyperbolic functions, their inverses, and the error function."""

from __future__ import annotations

import math as scalar_math
from typing import Any

import numpy as np

from pslab.graph.build import apply_one
from pslab.graph.ops.math import cos, exp, negative, register_unary, rsqrt, square
from pslab.graph.tensor import Tensor

register_unary("Tan", lambda xp, x, out=None: xp.tan(x, out=out), lambda op, g: g / square(cos(op.inputs[0])))
register_unary("Asin", lambda xp, x, out=None: xp.arcsin(x, out=out), lambda op, g: g * rsqrt(1.0 - square(op.inputs[0])))
register_unary("Acos", lambda xp, x, out=None: xp.arccos(x, out=out), lambda op, g: negative(g * rsqrt(1.0 - square(op.inputs[0]))))
register_unary("Atan", lambda xp, x, out=None: xp.arctan(x, out=out), lambda op, g: g / (1.0 + square(op.inputs[0])))
register_unary("Sinh", lambda xp, x, out=None: xp.sinh(x, out=out), lambda op, g: g * cosh(op.inputs[0]))
register_unary("Cosh", lambda xp, x, out=None: xp.cosh(x, out=out), lambda op, g: g * sinh(op.inputs[0]))
register_unary("Asinh", lambda xp, x, out=None: xp.arcsinh(x, out=out), lambda op, g: g * rsqrt(1.0 + square(op.inputs[0])))
register_unary("Acosh", lambda xp, x, out=None: xp.arccosh(x, out=out), lambda op, g: g * rsqrt(square(op.inputs[0]) - 1.0))
register_unary("Atanh", lambda xp, x, out=None: xp.arctanh(x, out=out), lambda op, g: g / (1.0 - square(op.inputs[0])))


def _erf(xp: Any, x: Any, out: Any = None) -> Any:
    """By Python's own: NumPy has none."""
    host = x if xp is np else xp.asnumpy(x)
    values = np.frompyfunc(scalar_math.erf, 1, 1)(host)
    return xp.asarray(values, dtype=x.dtype)


register_unary("Erf", _erf, lambda op, g: g * exp(negative(square(op.inputs[0]))) * (2 / scalar_math.sqrt(scalar_math.pi)), flops=20)


def tan(x: Any, name: str | None = None) -> Tensor:
    """The tangent, elementwise."""
    return apply_one("Tan", [x], name)


def asin(x: Any, name: str | None = None) -> Tensor:
    """The inverse sine, elementwise."""
    return apply_one("Asin", [x], name)


def acos(x: Any, name: str | None = None) -> Tensor:
    """The inverse cosine, elementwise."""
    return apply_one("Acos", [x], name)


def atan(x: Any, name: str | None = None) -> Tensor:
    """The inverse tangent, elementwise."""
    return apply_one("Atan", [x], name)


def sinh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic sine, elementwise."""
    return apply_one("Sinh", [x], name)


def cosh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic cosine, elementwise."""
    return apply_one("Cosh", [x], name)


def asinh(x: Any, name: str | None = None) -> Tensor:
    """The inverse hyperbolic sine, elementwise."""
    return apply_one("Asinh", [x], name)


def acosh(x: Any, name: str | None = None) -> Tensor:
    """The inverse hyperbolic cosine, elementwise."""
    return apply_one("Acosh", [x], name)


def atanh(x: Any, name: str | None = None) -> Tensor:
    """The inverse hyperbolic tangent, elementwise."""
    return apply_one("Atanh", [x], name)


def erf(x: Any, name: str | None = None) -> Tensor:
    """The error function, elementwise: ``2 / √π`` times the integral of ``exp(-t²)`` from 0 to ``x``."""
    return apply_one("Erf", [x], name)
