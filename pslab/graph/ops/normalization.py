"""Normalising by mean and variance, and over neighbouring channels."""

from __future__ import annotations

from typing import Any

from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.operation import Operation
from pslab.graph.ops import infer, math
from pslab.graph.ops.arrays import cast
from pslab.graph.ops.nn import moments
from pslab.graph.ops.shapes import size
from pslab.graph.ops.windows import check_format
from pslab.graph.registry import register
from pslab.graph.tensor import Tensor


def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: float, name: str | None = None) -> Tensor:
    """``scale · (x − mean) / √(variance + variance_epsilon) + offset``; ``scale`` and ``offset`` may be None.

    All must broadcast to the shape of ``x``.
    """
    x = convert_to_tensor(x)
    with x.graph.name_scope(name or "batchnorm"):
        factor = math.rsqrt(math.add(variance, variance_epsilon))
        if scale is not None:
            factor = factor * scale
        shift = -(factor * mean) if offset is None else offset - factor * mean
        return math.add(x * factor, shift)


def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalise images ``[batch, height, width, channels]`` channel by channel.

    Args:
        x: images.
        scale: factors, ``[channels]``.
        offset: added at the end, ``[channels]``.
        mean: where it is not training, ``[channels]``.
        variance: the same.
        epsilon: added to the variance.
        data_format: ``"NHWC"``.
        is_training: whether to take the batch's own mean and variance.
        name: name of the scope.

    Returns:
        The images; and their mean and variance, the latter with n − 1 in its denominator, for moving averages (those given, if this is no training).

    Raises:
        ShapeError: the channels are not last.
    """
    check_format(data_format)
    x = convert_to_tensor(x)
    with x.graph.name_scope(name or "FusedBatchNorm"):
        if not is_training:
            mean, variance = convert_to_tensor(mean, like=x), convert_to_tensor(variance, like=x)
            return batch_normalization(x, mean, variance, offset, scale, epsilon), mean, variance
        mean, variance = moments(x, [0, 1, 2])
        count = cast(size(x) // size(mean), x.dtype)
        sample = variance * (count / math.maximum(count - 1.0, 1.0))
        return batch_normalization(x, mean, variance, offset, scale, epsilon), mean, sample


# Local response normalisation (Krizhevsky et al., 2012), over neighbouring channels


def _windowed(xp: Any, x: Any, radius: int) -> Any:
    """The sum over the channels at most ``radius`` away."""
    sums = xp.cumsum(x, axis=-1)
    channels = x.shape[-1]
    last = xp.minimum(xp.arange(channels) + radius, channels - 1)
    first = xp.arange(channels) - radius - 1
    return sums[..., last] - xp.where(first >= 0, sums[..., xp.maximum(first, 0)], x.dtype.type(0))


def _lrn(xp: Any, x: Any, *, radius: int, bias: float, alpha: float, beta: float) -> Any:
    return x * (bias + alpha * _windowed(xp, x * x, radius)) ** -beta


def _lrn_grad(xp: Any, g: Any, x: Any, *, radius: int, bias: float, alpha: float, beta: float) -> Any:
    base = bias + alpha * _windowed(xp, x * x, radius)
    power = base**-beta
    return g * power - 2 * alpha * beta * x * _windowed(xp, g * x * power / base, radius)


register(
    "LRN",
    infer=infer.floating(infer.like_first),
    kernel=_lrn,
    gradient=lambda op, g: [apply_one("LRNGrad", [g, op.inputs[0]], **op.attrs)],
    flops=infer.per_element(8),
)


def _infer_lrn_grad(op: Operation) -> infer.Inferred:
    return [(op.inputs[1].dtype, op.inputs[1].shape)]


register("LRNGrad", infer=_infer_lrn_grad, kernel=_lrn_grad, flops=infer.per_element(16))


def local_response_normalization(
    input: Any, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5, name: str | None = None
) -> Tensor:
    """``x / (bias + alpha · s) ** beta``, s the sum of squares over the channels (the last axis) at most ``depth_radius`` away."""
    attrs = {"radius": int(depth_radius), "bias": float(bias), "alpha": float(alpha), "beta": float(beta)}
    return apply_one("LRN", [input], name or "LRN", **attrs)


lrn = local_response_normalization
