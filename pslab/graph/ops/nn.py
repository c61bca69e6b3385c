"""Layers' parts: activations, biases, normalisation, dropout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.dtypes import bool_
from pslab.graph.operation import Operation
from pslab.graph.ops import infer, math
from pslab.graph.ops.arrays import cast
from pslab.graph.ops.matmul import matmul
from pslab.graph.ops.random import keep_mask
from pslab.graph.ops.reduce import reduce_mean, reduce_sum
from pslab.graph.ops.static import integer, is_symbolic
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor

# Activations


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
    return xp.logaddexp(x, x.dtype.type(0), out=out)


def _elu(xp: Any, x: Any, out: Any = None) -> Any:
    return xp.where(x > 0, x, xp.expm1(xp.minimum(x, 0)))


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
    return [apply_one("EluGrad", [g, y]), g * incoming * cast(y < 0.0, g.dtype)]


_register_slope("ReluGrad", lambda xp, g, y, out=None: xp.multiply(g, y > 0, out=out), _same_again, 1)
_register_slope("Relu6Grad", _relu6_grad, _same_again, 2)
_register_slope("SigmoidGrad", _sigmoid_grad, _sigmoid_grad_gradient, 3, elementwise=False)
_register_slope("TanhGrad", _tanh_grad, _tanh_grad_gradient, 3, elementwise=False)
_register_slope("EluGrad", _elu_grad, _elu_grad_gradient, 2)
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


# Softmax, over the last axis


def _softmax(xp: Any, x: Any) -> Any:
    y = x - x.max(axis=-1, keepdims=True)
    xp.exp(y, out=y)
    y /= y.sum(axis=-1, keepdims=True)
    return y


def _log_softmax(xp: Any, x: Any) -> Any:
    y = x - x.max(axis=-1, keepdims=True)
    y -= xp.log(xp.exp(y).sum(axis=-1, keepdims=True))
    return y


def _softmax_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    y = op.outputs[0]
    return [(g - reduce_sum(g * y, -1, keep_dims=True)) * y]


def _log_softmax_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    return [g - math.exp(op.outputs[0]) * reduce_sum(g, -1, keep_dims=True)]


_SOFTMAX = infer.floating(infer.like_first)
register("Softmax", infer=_SOFTMAX, kernel=_softmax, gradient=_softmax_gradient, flops=infer.per_element(5))
register("LogSoftmax", infer=_SOFTMAX, kernel=_log_softmax, gradient=_log_softmax_gradient, flops=infer.per_element(5))


def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """``exp(x) / sum(exp(x))`` over ``axis``, by default the last. ``dim`` is an older name of ``axis``."""
    return _over_axis("Softmax", logits, axis if dim is None else dim, name)


def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """``x - log(sum(exp(x)))`` over ``axis``, by default the last. ``dim`` is an older name of ``axis``."""
    return _over_axis("LogSoftmax", logits, axis if dim is None else dim, name)


def _over_axis(type: str, logits: Any, axis: Any, name: str | None) -> Tensor:
    x = convert_to_tensor(logits)
    perm = to_last(x, axis)
    if perm is None:
        return apply_one(type, [x], name)
    turned = apply_one(type, [apply_one("Transpose", [x], perm=perm)])
    return apply_one("Transpose", [turned], name, perm=perm)


def to_last(x: Tensor, axis: Any) -> tuple[int, ...] | None:
    """The permutation that swaps ``axis`` with the last; None where it is the last.

    Raises:
        ShapeError: ``x`` has no such axis, or is a scalar.
    """
    rank = x.shape.ndims
    if rank == 0:
        raise ShapeError(f"{x.name} is a scalar; a softmax needs an axis of classes")
    index = -1 if axis is None else integer(axis, "an axis")
    if index == -1 or (rank is not None and infer.axis_in(index, rank) == rank - 1):
        return None
    if rank is None:
        raise ShapeError(f"the rank of {x.name} is not known, so axis {index} cannot be put last")
    perm = list(range(rank))
    perm[index], perm[-1] = perm[-1], perm[index]
    return tuple(perm)


# Biases, norms


def _infer_bias(op: Operation) -> infer.Inferred:
    value, bias = op.inputs
    infer.same_dtype(op)
    if not bias.shape.is_compatible_with([None]):
        raise ShapeError(f"a bias is a vector, found shape {bias.shape}")
    if value.shape.dims is None:
        return infer.like_first(op)
    if len(value.shape.dims) < 2:
        raise ShapeError(f"a bias is added to a tensor of rank 2 or more, found shape {value.shape}")
    channels = TensorShape(value.shape.dims[-1:])
    if not channels.is_compatible_with(bias.shape):
        raise ShapeError(f"the last dimension of {value.shape} is {value.shape[-1]}, but the bias has {bias.shape[0]}")
    return [(value.dtype, TensorShape([*value.shape.dims[:-1], *channels.merge_with(bias.shape)]))]


def _bias_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    return [g, apply_one("BiasAddGrad", [g])]


def _bias_grad(xp: Any, g: Any) -> Any:
    # A product with ones is up to four times as fast as a sum over the first axis.
    return xp.ones(g.size // g.shape[-1] if g.size else 0, g.dtype).dot(g.reshape(-1, g.shape[-1]))


def _infer_bias_grad(op: Operation) -> infer.Inferred:
    g = op.inputs[0]
    return [(g.dtype, TensorShape([g.shape[-1] if g.shape.dims else None]))]


def _bias_grad_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    return [apply_one("BiasAdd", [apply_one("ZerosLike", [op.inputs[0]]), g])]


register(
    "BiasAdd",
    infer=_infer_bias,
    kernel=lambda xp, value, bias, out=None: xp.add(value, bias, out=out),
    gradient=_bias_gradient,
    flops=infer.elements,
    elementwise=True,
    aligned=1,
)
register("BiasAddGrad", infer=_infer_bias_grad, kernel=_bias_grad, gradient=_bias_grad_gradient, flops=infer.elements_in)


def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Tensor:
    """``value + bias``, the bias a vector along the last axis.

    Raises:
        ShapeError: the bias is of another length, or ``data_format`` puts the channels elsewhere than last.
    """
    if data_format not in (None, "NHWC", "N...C"):
        raise ShapeError(f"bias_add knows the data format 'NHWC', channels last, not {data_format!r}")
    x = convert_to_tensor(value)
    return apply_one("BiasAdd", [x, convert_to_tensor(bias, like=x)], name)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """``matmul(x, weights) + biases``: a layer."""
    return bias_add(matmul(x, weights), biases, name=name or "xw_plus_b")


def _l2_loss(xp: Any, x: Any) -> Any:
    flat = x.reshape(-1)
    return xp.dot(flat, flat) * x.dtype.type(0.5)


register(
    "L2Loss",
    infer=infer.floating(lambda op: [(op.inputs[0].dtype, TensorShape(()))]),
    kernel=_l2_loss,
    gradient=lambda op, g: [op.inputs[0] * g],
    flops=lambda op: 2 * infer.elements_in(op),
)


def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """``sum(t ** 2) / 2``."""
    return apply_one("L2Loss", [t], name)


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None) -> Tensor:
    """``x / sqrt(max(sum(x ** 2), epsilon))`` over ``axis``, by default all. ``dim`` is an older name of ``axis``."""
    x = convert_to_tensor(x)
    squares = reduce_sum(math.square(x), axis if dim is None else dim, keep_dims=True)
    return math.multiply(x, math.rsqrt(math.maximum(squares, epsilon)), name or "l2_normalize")


def moments(x: Any, axes: Any, shift: Any = None, name: str | None = None, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """Mean and variance over ``axes``. ``shift`` changes nothing."""
    x = convert_to_tensor(x)
    with x.graph.name_scope(name or "moments"):
        mean = reduce_mean(x, axes, keep_dims=True)
        variance = reduce_mean(math.squared_difference(x, apply_one("StopGradient", [mean])), axes, keep_dims=keep_dims, name="variance")
        return reduce_mean(x, axes, keep_dims=keep_dims, name="mean"), variance


# Dropout


def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> Tensor:
    """Set elements to 0 at random, and scale the others up so that the expected sum stays.

    Args:
        x: of a floating dtype.
        keep_prob: probability that an element is kept, in (0, 1]; a tensor if it is fed.
        noise_shape: shape of the random choices, which is broadcast to that of ``x``; by default that of ``x``.
        seed: see `pslab.set_random_seed`.
        name: name of the op.
        rate: ``1 - keep_prob``, in place of it.

    Raises:
        ShapeError: ``x`` is not floating, or neither or both of ``keep_prob`` and ``rate`` are given.
        InvalidArgumentError: the probability is outside (0, 1].
    """
    tensor = convert_to_tensor(x)
    if not tensor.dtype.is_floating:
        raise ShapeError(f"dropout scales its input, which must be floating, not {tensor.dtype.name}")
    if (keep_prob is None) == (rate is None):
        raise ShapeError("dropout takes either keep_prob or rate")
    if keep_prob is None:
        keep_prob = 1.0 - rate
    if not is_symbolic(keep_prob):
        if not 0 < keep_prob <= 1:
            raise InvalidArgumentError(f"keep_prob must be in (0, 1], found {keep_prob}")
        if keep_prob == 1:
            return tensor
    mask = keep_mask(tensor, convert_to_tensor(keep_prob, like=tensor), noise_shape, seed)
    return math.multiply(tensor, mask, name or "dropout")


# Evaluation


def _infer_in_top_k(op: Operation) -> infer.Inferred:
    predictions, targets = op.inputs
    if not predictions.shape.is_compatible_with([None, None]) or not targets.shape.is_compatible_with([None]) or not targets.dtype.is_integer:
        raise ShapeError(f"expected a matrix of predictions and a vector of integer targets, found {predictions.shape} and {targets.shape}")
    rows = predictions.shape[:1] if predictions.shape.dims is not None else TensorShape([None])
    return [(bool_, rows.merge_with(targets.shape))]


def _in_top_k(xp: Any, predictions: Any, targets: Any, *, k: int) -> Any:
    valid = (targets >= 0) & (targets < predictions.shape[1])
    wanted = xp.take_along_axis(predictions, xp.where(valid, targets, 0)[:, None], 1)
    return valid & xp.isfinite(wanted[:, 0]) & ((predictions > wanted).sum(axis=1) < k)


register("InTopK", infer=_infer_in_top_k, kernel=_in_top_k, gradient=not_differentiable, flops=infer.elements_in)


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether the prediction at the target is among the ``k`` greatest of its row; of several equal ones, all are."""
    return apply_one("InTopK", [predictions, targets], name, k=integer(k, "k"))


def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The fraction of zeros in ``value``, as float32."""
    x = convert_to_tensor(value)
    zeros = apply_one("Equal", [x, convert_to_tensor(0, like=x)])
    return reduce_mean(apply_one("Cast", [zeros], dtype="float32"), name=name or "zero_fraction")
