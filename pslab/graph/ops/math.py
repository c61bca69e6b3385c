"""Arithmetic, elementwise and with broadcasting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pslab.errors import ShapeError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.dtypes import float32, float64
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.broadcasting import binary, convert_pair, unbroadcast
from pslab.graph.registry import not_differentiable, register
from pslab.graph.tensor import Tensor

Partials = Callable[[Operation, Tensor], Sequence[Tensor]]

# Two inputs


def _register_binary(type: str, kernel: Callable[..., Any], partials: Partials | None = None, rule: Any = infer.numeric) -> None:
    """``partials`` gives both gradients before they are summed over what was broadcast; without it, none flows."""

    def gradient(op: Operation, g: Tensor) -> list[Tensor]:
        x, y = op.inputs
        dx, dy = partials(op, g)  # type: ignore[misc]
        return [unbroadcast(dx, x, y), unbroadcast(dy, y, x)]

    register(
        type,
        infer=rule(infer.broadcast),
        kernel=kernel,
        gradient=gradient if partials else not_differentiable,
        flops=infer.elements,
        elementwise=True,
    )


def _div_partials(op: Operation, g: Tensor) -> list[Tensor]:
    dx = divide(g, op.inputs[1])
    return [dx, negative(dx * op.outputs[0])]


def _pow_partials(op: Operation, g: Tensor) -> list[Tensor]:
    x, y = op.inputs
    positive = x > 0.0
    log_x = apply_one("Select", [positive, log(apply_one("Select", [positive, x, convert_to_tensor(1.0, like=x)])), convert_to_tensor(0.0, like=x)])
    return [g * y * pow(x, y - 1.0), g * op.outputs[0] * log_x]


def _chosen_by(comparison: str) -> Partials:
    """Where the comparison holds the gradient flows to x, elsewhere to y."""

    def partials(op: Operation, g: Tensor) -> list[Tensor]:
        chosen = apply_one("Cast", [apply_one(comparison, op.inputs)], dtype=g.dtype.name)
        return [g * chosen, g * (1.0 - chosen)]

    return partials


def _squared_difference(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
    difference = xp.subtract(x, y, out=out)
    return xp.multiply(difference, difference, out=out)


def _squared_difference_partials(op: Operation, g: Tensor) -> list[Tensor]:
    dx = g * (2.0 * (op.inputs[0] - op.inputs[1]))
    return [dx, negative(dx)]


_register_binary("Add", lambda xp, x, y, out=None: xp.add(x, y, out=out), lambda op, g: [g, g])
_register_binary("Sub", lambda xp, x, y, out=None: xp.subtract(x, y, out=out), lambda op, g: [g, negative(g)])
_register_binary("Mul", lambda xp, x, y, out=None: xp.multiply(x, y, out=out), lambda op, g: [g * op.inputs[1], g * op.inputs[0]])
_register_binary("RealDiv", lambda xp, x, y, out=None: xp.divide(x, y, out=out), _div_partials, infer.floating)
_register_binary("FloorDiv", lambda xp, x, y, out=None: xp.floor_divide(x, y, out=out))
_register_binary("FloorMod", lambda xp, x, y, out=None: xp.remainder(x, y, out=out), lambda op, g: [g, negative(g * (op.inputs[0] // op.inputs[1]))])
_register_binary("Pow", lambda xp, x, y, out=None: xp.power(x, y, out=out), _pow_partials)
_register_binary("Maximum", lambda xp, x, y, out=None: xp.maximum(x, y, out=out), _chosen_by("GreaterEqual"))
_register_binary("Minimum", lambda xp, x, y, out=None: xp.minimum(x, y, out=out), _chosen_by("LessEqual"))
_register_binary("SquaredDifference", _squared_difference, _squared_difference_partials)


def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x + y``, elementwise, with broadcasting."""
    return binary("Add", x, y, name)


def subtract(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x - y``, elementwise, with broadcasting."""
    return binary("Sub", x, y, name)


def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x * y``, elementwise, with broadcasting."""
    return binary("Mul", x, y, name)


def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x / y`` as in Python 3, with broadcasting. Integers are cast first: up to 16 bits to float32, above to float64."""
    x, y = convert_pair(x, y)
    if x.dtype is not y.dtype:
        raise ShapeError(f"cannot divide {x.name} of {x.dtype.name} by {y.name} of {y.dtype.name}; use pslab.cast")
    if x.dtype.is_integer:
        dtype = float32 if x.dtype.size <= 2 else float64
        x, y = (apply_one("Cast", [t], dtype=dtype.name) for t in (x, y))
    return apply_one("RealDiv", [x, y], name or "truediv")


def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x / y`` as in Python 3: see `truediv`."""
    return truediv(x, y, name)


def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x / y`` as in Python 2: integers are divided with rounding towards minus infinity."""
    x, y = convert_pair(x, y)
    return floordiv(x, y, name) if x.dtype.is_integer else truediv(x, y, name or "div")


def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x // y``: the quotient rounded towards minus infinity. No gradient flows through it."""
    return binary("FloorDiv", x, y, name or "floordiv")


def mod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x % y``, with the sign of ``y``, as in Python."""
    return binary("FloorMod", x, y, name)


def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x ** y``, elementwise, with broadcasting. The gradient with respect to ``y`` is taken as 0 where ``x`` is not positive."""
    return binary("Pow", x, y, name)


def maximum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The greater of ``x`` and ``y``, elementwise. Of two equals, ``x`` gets the gradient."""
    return binary("Maximum", x, y, name)


def minimum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The lesser of ``x`` and ``y``, elementwise. Of two equals, ``x`` gets the gradient."""
    return binary("Minimum", x, y, name)


def squared_difference(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``(x - y) ** 2``, elementwise, with broadcasting."""
    return binary("SquaredDifference", x, y, name)


# One input


def register_unary(
    type: str, kernel: Callable[..., Any], partial: Callable[[Operation, Tensor], Tensor] | None = None, rule: Any = infer.floating, flops: int = 1
) -> None:
    """An elementwise op of one input; ``partial`` gives its gradient, and without it none flows."""
    register(
        type,
        infer=rule(infer.like_first),
        kernel=kernel,
        gradient=(lambda op, g: [partial(op, g)]) if partial else not_differentiable,
        flops=infer.per_element(flops),
        elementwise=True,
        aligned=1,
    )


def _rsqrt(xp: Any, x: Any, out: Any = None) -> Any:
    root = xp.sqrt(x, out=out)
    return xp.reciprocal(root, out=out)


register_unary("Neg", lambda xp, x, out=None: xp.negative(x, out=out), lambda op, g: negative(g), infer.numeric)
register_unary("Abs", lambda xp, x, out=None: xp.absolute(x, out=out), lambda op, g: g * sign(op.inputs[0]), infer.numeric)
register_unary("Sign", lambda xp, x, out=None: xp.sign(x, out=out), rule=infer.numeric)
register_unary("Exp", lambda xp, x, out=None: xp.exp(x, out=out), lambda op, g: g * op.outputs[0])
register_unary("Expm1", lambda xp, x, out=None: xp.expm1(x, out=out), lambda op, g: g * exp(op.inputs[0]))
register_unary("Log", lambda xp, x, out=None: xp.log(x, out=out), lambda op, g: g / op.inputs[0])
register_unary("Log1p", lambda xp, x, out=None: xp.log1p(x, out=out), lambda op, g: g / (1.0 + op.inputs[0]))
register_unary("Sqrt", lambda xp, x, out=None: xp.sqrt(x, out=out), lambda op, g: g * 0.5 / op.outputs[0])
register_unary("Rsqrt", _rsqrt, lambda op, g: g * -0.5 * op.outputs[0] / op.inputs[0], flops=2)
register_unary("Square", lambda xp, x, out=None: xp.multiply(x, x, out=out), lambda op, g: g * (2.0 * op.inputs[0]), infer.numeric)
register_unary("Reciprocal", lambda xp, x, out=None: xp.reciprocal(x, out=out), lambda op, g: negative(g * square(op.outputs[0])))
register_unary("Sin", lambda xp, x, out=None: xp.sin(x, out=out), lambda op, g: g * cos(op.inputs[0]))
register_unary("Cos", lambda xp, x, out=None: xp.cos(x, out=out), lambda op, g: negative(g * sin(op.inputs[0])))
register_unary("Floor", lambda xp, x, out=None: xp.floor(x, out=out))
register_unary("Ceil", lambda xp, x, out=None: xp.ceil(x, out=out))
register_unary("Round", lambda xp, x, out=None: xp.rint(x, out=out))


def negative(x: Any, name: str | None = None) -> Tensor:
    """``-x``, elementwise."""
    return apply_one("Neg", [x], name)


def abs(x: Any, name: str | None = None) -> Tensor:
    """The absolute value, elementwise."""
    return apply_one("Abs", [x], name)


def sign(x: Any, name: str | None = None) -> Tensor:
    """-1, 0 or 1, elementwise. No gradient flows through it."""
    return apply_one("Sign", [x], name)


def exp(x: Any, name: str | None = None) -> Tensor:
    """The exponential function: e to the power of ``x``, elementwise."""
    return apply_one("Exp", [x], name)


def expm1(x: Any, name: str | None = None) -> Tensor:
    """``exp(x) - 1``, exact for small ``x``."""
    return apply_one("Expm1", [x], name)


def log(x: Any, name: str | None = None) -> Tensor:
    """The natural logarithm, elementwise."""
    return apply_one("Log", [x], name)


def log1p(x: Any, name: str | None = None) -> Tensor:
    """``log(1 + x)``, exact for small ``x``."""
    return apply_one("Log1p", [x], name)


def sqrt(x: Any, name: str | None = None) -> Tensor:
    """The square root, elementwise."""
    return apply_one("Sqrt", [x], name)


def rsqrt(x: Any, name: str | None = None) -> Tensor:
    """``1 / sqrt(x)``, elementwise."""
    return apply_one("Rsqrt", [x], name)


def square(x: Any, name: str | None = None) -> Tensor:
    """``x * x``, elementwise."""
    return apply_one("Square", [x], name)


def reciprocal(x: Any, name: str | None = None) -> Tensor:
    """``1 / x``, elementwise."""
    return apply_one("Reciprocal", [x], name)


def sin(x: Any, name: str | None = None) -> Tensor:
    """The sine, elementwise."""
    return apply_one("Sin", [x], name)


def cos(x: Any, name: str | None = None) -> Tensor:
    """The cosine, elementwise."""
    return apply_one("Cos", [x], name)


def floor(x: Any, name: str | None = None) -> Tensor:
    """The greatest integer that is not above ``x``, as a float. No gradient flows through it."""
    return apply_one("Floor", [x], name)


def ceil(x: Any, name: str | None = None) -> Tensor:
    """The least integer that is not below ``x``, as a float. No gradient flows through it."""
    return apply_one("Ceil", [x], name)


def round(x: Any, name: str | None = None) -> Tensor:
    """The nearest integer, halves to even; integers stay as they are. No gradient flows through it."""
    x = convert_to_tensor(x)
    return apply_one("Identity" if x.dtype.is_integer else "Round", [x], name)


# Any number of inputs


def _add_n(xp: Any, first: Any, *others: Any, out: Any = None) -> Any:
    if not others:
        return xp.array(first)
    if any(other is out for other in others[1:]):  # a tensor that is added several times
        out = None
    total = xp.add(first, others[0], out=out)
    for other in others[1:]:
        if total.ndim:
            xp.add(total, other, out=total)
        else:
            total = total + other
    return total


register(
    "AddN",
    infer=infer.aligned,
    kernel=_add_n,
    gradient=lambda op, g: [g] * len(op.inputs),
    flops=lambda op: (len(op.inputs) - 1) * infer.elements(op),
    elementwise=True,
    aligned=1,
)


def add_n(inputs: Sequence[Any], name: str | None = None) -> Tensor:
    """The sum of tensors of one shape.

    Raises:
        ShapeError: there is none, or their shapes or dtypes differ.
    """
    tensors = [convert_to_tensor(t) for t in inputs]
    if not tensors:
        raise ShapeError("add_n needs at least one tensor")
    return apply_one("AddN", tensors, name)
