"""Layers' parts: softmax, biases, norms, dropout."""

from __future__ import annotations

from typing import Any

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.dtypes import bool_
from pslab.graph.operation import Operation
from pslab.graph.ops import infer, math
from pslab.graph.ops.matmul import matmul
from pslab.graph.ops.random import keep_mask
from pslab.graph.ops.reduce import reduce_mean, reduce_sum
from pslab.graph.ops.static import integer, is_symbolic
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor

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


def moments(
    x: Any, axes: Any, shift: Any = None, name: str | None = None, keep_dims: bool = False, keepdims: bool | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance over ``axes``. ``shift`` changes nothing; ``keepdims`` is a newer name of ``keep_dims``."""
    x = convert_to_tensor(x)
    keep_dims = keep_dims if keepdims is None else keepdims
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
