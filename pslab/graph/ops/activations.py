"""Activations, and their gradients as ops of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.operation import Operation
from pslab.graph.ops import infer, math
from pslab.graph.ops.arrays import cast
from pslab.graph.registry import register
from pslab.graph.tensor import Tensor


def _register_activation(type: str, kernel: Callable[..., Any], gradient: Callable[[Operation, Tensor], list[Tensor]], flops: int) -> None:
    register(
        type,
        infer=infer.floating(infer.like_first),
        kernel=kernel,
        gradient=gradient,
        flops=infer.per_element(flops),
        elementwise=True,
        aligned=1,
    )


def _relu6(xp: Any, x: Any, out: Any = None) -> Any:
    clipped = xp.maximum(x, 0, out=out)
    return xp.minimum(clipped, 6, out=out)


_EXP_LIMIT = {"float16": 11.0, "float32": 88.0, "float64": 709.0}
"""e to this power is a finite number of the dtype."""


def _sigmoid(xp: Any, x: Any, out: Any = None) -> Any:
    if not x.ndim:
        return 1 / (1 + xp.exp(xp.minimum(-x, _EXP_LIMIT[x.dtype.name])))
    y = xp.negative(x, out=out)
    xp.minimum(y, _EXP_LIMIT[x.dtype.name], out=y)
    xp.exp(y, out=y)
    xp.add(y, 1, out=y)
    return xp.reciprocal(y, out=y)


def _softplus(xp: Any, x: Any, out: Any = None) -> Any:
    return xp.log1p(xp.exp(-xp.abs(x))) + xp.maximum(x, 0)


def _elu(xp: Any, x: Any, out: Any = None) -> Any:
    return xp.where(x > 0, x, xp.expm1(xp.minimum(x, 0)))


_SELU_SCALE, _SELU_ALPHA = 1.0507009873554804934, 1.6732632423543772848
"""With these, mean 0 and variance 1 are a fixed point from layer to layer (Klambauer et al., 2017)."""


def _selu(xp: Any, x: Any, out: Any = None) -> Any:
    return x.dtype.type(_SELU_SCALE) * xp.where(x > 0, x, x.dtype.type(_SELU_ALPHA) * xp.expm1(xp.minimum(x, 0)))


def _leaky_relu(xp: Any, x: Any, out: Any = None, *, alpha: float) -> Any:
    return xp.where(x > 0, x, alpha * x)


def _leaky_relu_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    return [apply_one("LeakyReluGrad", [g, op.inputs[0]], alpha=op.attrs["alpha"])]


_register_activation("Relu", lambda xp, x, out=None: xp.maximum(x, 0, out=out), lambda op, g: [apply_one("ReluGrad", [g, op.outputs[0]])], 1)
_register_activation("Relu6", _relu6, lambda op, g: [apply_one("Relu6Grad", [g, op.outputs[0]])], 2)
_register_activation("Sigmoid", _sigmoid, lambda op, g: [apply_one("SigmoidGrad", [op.outputs[0], g])], 4)
_register_activation("Tanh", lambda xp, x, out=None: xp.tanh(x, out=out), lambda op, g: [apply_one("TanhGrad", [op.outputs[0], g])], 4)
_register_activation("Softplus", _softplus, lambda op, g: [g * sigmoid(op.inputs[0])], 4)
_register_activation("Elu", _elu, lambda op, g: [apply_one("EluGrad", [g, op.outputs[0]])], 3)
_register_activation("Selu", _selu, lambda op, g: [apply_one("SeluGrad", [g, op.outputs[0]])], 4)
_register_activation("LeakyRelu", _leaky_relu, _leaky_relu_gradient, 2)

# Their gradients, fused; each is `gradient times slope`, and its own gradient makes second derivatives possible.


def _register_slope(
    type: str, kernel: Callable[..., Any], gradient: Callable[[Operation, Tensor], list[Tensor | None]], flops: int, elementwise: bool = True
) -> None:
    register(
        type,
        infer=infer.floating(infer.aligned),
        kernel=kernel,
        gradient=gradient,
        flops=infer.per_element(flops),
        elementwise=elementwise,
        aligned=2 if elementwise else 0,
        scratch=infer.elements if elementwise else lambda op: 0,  # a truth value per element
    )


def _relu6_grad(xp: Any, g: Any, y: Any, out: Any = None) -> Any:
    return xp.multiply(g, (y > 0) & (y < 6), out=out)


def _sigmoid_grad(xp: Any, y: Any, g: Any) -> Any:
    slope = 1 - y
    slope *= y
    slope *= g
    return slope


def _tanh_grad(xp: Any, y: Any, g: Any) -> Any:
    slope = y * y
    slope = xp.subtract(1, slope, out=slope if slope.ndim else None)
    slope *= g
    return slope


def _elu_grad(xp: Any, g: Any, y: Any, out: Any = None) -> Any:
    return xp.multiply(g, xp.where(y > 0, y.dtype.type(1), y + 1), out=out)


def _selu_grad(xp: Any, g: Any, y: Any, out: Any = None) -> Any:
    scale = y.dtype.type(_SELU_SCALE)
    return xp.multiply(g, xp.where(y > 0, scale, y + scale * y.dtype.type(_SELU_ALPHA)), out=out)


def _leaky_relu_grad(xp: Any, g: Any, x: Any, out: Any = None, *, alpha: float) -> Any:
    return xp.multiply(g, xp.where(x > 0, x.dtype.type(1), x.dtype.type(alpha)), out=out)


def _same_again(op: Operation, g: Tensor) -> list[Tensor | None]:
    """Linear in the gradient, and constant almost everywhere in the other input."""
    return [apply_one(op.type, [g, op.inputs[1]], **op.attrs), None]


def _sigmoid_grad_gradient(op: Operation, g: Tensor) -> list[Tensor | None]:
    y, incoming = op.inputs
    return [g * incoming * (1.0 - 2.0 * y), apply_one("SigmoidGrad", [y, g])]


def _tanh_grad_gradient(op: Operation, g: Tensor) -> list[Tensor | None]:
    y, incoming = op.inputs
    return [g * incoming * (-2.0 * y), apply_one("TanhGrad", [y, g])]


def _elu_grad_gradient(op: Operation, g: Tensor) -> list[Tensor | None]:
    incoming, y = op.inputs
    return [apply_one(op.type, [g, y]), g * incoming * cast(y < 0.0, g.dtype)]


_register_slope("ReluGrad", lambda xp, g, y, out=None: xp.multiply(g, y > 0, out=out), _same_again, 1)
_register_slope("Relu6Grad", _relu6_grad, _same_again, 2)
_register_slope("SigmoidGrad", _sigmoid_grad, _sigmoid_grad_gradient, 3, elementwise=False)
_register_slope("TanhGrad", _tanh_grad, _tanh_grad_gradient, 3, elementwise=False)
_register_slope("EluGrad", _elu_grad, _elu_grad_gradient, 2)
_register_slope("SeluGrad", _selu_grad, _elu_grad_gradient, 3)
_register_slope("LeakyReluGrad", _leaky_relu_grad, _same_again, 1)


def relu(features: Any, name: str | None = None) -> Tensor:
    """``max(x, 0)``, elementwise."""
    return apply_one("Relu", [features], name)


def relu6(features: Any, name: str | None = None) -> Tensor:
    """``min(max(x, 0), 6)``, elementwise."""
    return apply_one("Relu6", [features], name)


def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """``1 / (1 + exp(-x))``, elementwise."""
    return apply_one("Sigmoid", [x], name)


def tanh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic tangent, elementwise."""
    return apply_one("Tanh", [x], name)


def softplus(features: Any, name: str | None = None) -> Tensor:
    """``log(1 + exp(x))``, elementwise."""
    return apply_one("Softplus", [features], name)


def elu(features: Any, name: str | None = None) -> Tensor:
    """``x`` where it is positive, else ``exp(x) - 1``."""
    return apply_one("Elu", [features], name)


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """``x`` where it is positive, else ``alpha * x``."""
    return apply_one("LeakyRelu", [features], name or "LeakyRelu", alpha=float(alpha))


def selu(features: Any, name: str | None = None) -> Tensor:
    """``1.05 · x`` where it is positive, else ``1.05 · 1.67 · (exp(x) - 1)``, with the constants that keep mean 0 and variance 1."""
    return apply_one("Selu", [features], name)


def softsign(features: Any, name: str | None = None) -> Tensor:
    """``x / (1 + |x|)``, elementwise."""
    x = convert_to_tensor(features)
    return math.truediv(x, 1.0 + math.abs(x), name or "Softsign")


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """``log(sigmoid(x))``, elementwise."""
    return math.negative(softplus(math.negative(x)), name or "LogSigmoid")
