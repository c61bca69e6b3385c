"""Cross entropies, each with its gradient computed along the way."""

from __future__ import annotations

from typing import Any

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_one, apply_op, convert_to_tensor
from pslab.graph.operation import Operation
from pslab.graph.ops import infer, math
from pslab.graph.ops.activations import sigmoid, softplus
from pslab.graph.ops.broadcasting import convert_pair
from pslab.graph.ops.nn import log_softmax, softmax, to_last
from pslab.graph.ops.reduce import reduce_sum
from pslab.graph.ops.sources import stop_gradient
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor

# Both softmax ops have two outputs: the loss per example, and the gradient of that loss with respect to the logits, which costs little more.


def _rows(shape: TensorShape) -> TensorShape:
    return TensorShape(None) if shape.dims is None else TensorShape(shape.dims[:-1])


def _infer_dense(op: Operation) -> infer.Inferred:
    [(dtype, shape)] = infer.floating(infer.aligned)(op)
    if shape.dims == ():
        raise ShapeError("logits need an axis of classes, found a scalar")
    return [(dtype, _rows(shape)), (dtype, shape)]


def _shifted(xp: Any, logits: Any) -> tuple[Any, Any, Any]:
    """The logits less their maximum, e to that power, and the sum of those."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    powers = xp.exp(shifted)
    return shifted, powers, powers.dot(xp.ones(powers.shape[-1], powers.dtype))[..., None]  # faster than a sum over few classes


def _shifted_bytes(op: Operation) -> int:
    """Bytes of the logits less their maximum."""
    return infer.elements_in(op) * op.inputs[0].dtype.size


def _dense(xp: Any, logits: Any, labels: Any) -> Any:
    if logits.shape != labels.shape:
        raise InvalidArgumentError(f"logits have shape {logits.shape}, labels {labels.shape}")
    shifted, powers, total = _shifted(xp, logits)
    powers /= total
    powers -= labels
    xp.subtract(xp.log(total), shifted, out=shifted)
    return xp.einsum("...c,...c->...", labels, shifted), powers


def _second_order(op: Operation, g: Tensor) -> Tensor:
    """The part of the gradient that flows through the second output."""
    probabilities = softmax(op.inputs[0])
    return (g - reduce_sum(g * probabilities, -1, keep_dims=True)) * probabilities


def _sum(parts: list[Tensor]) -> Tensor | None:
    return None if not parts else parts[0] if len(parts) == 1 else parts[0] + parts[1]


def _dense_gradient(op: Operation, g_loss: Tensor | None, g_backprop: Tensor | None) -> list[Tensor | None]:
    to_logits: list[Tensor] = []
    to_labels: list[Tensor] = []
    if g_loss is not None:
        to_logits.append(apply_one("ScaleRows", [op.outputs[1], g_loss]))
        to_labels.append(apply_one("ScaleRows", [log_softmax(op.inputs[0]), -g_loss]))
    if g_backprop is not None:
        to_logits.append(_second_order(op, g_backprop))
        to_labels.append(-g_backprop)
    return [_sum(to_logits), _sum(to_labels)]


register(
    "SoftmaxCrossEntropyWithLogits",
    infer=_infer_dense,
    kernel=_dense,
    gradient=_dense_gradient,
    flops=lambda op: 8 * infer.elements_in(op),
    scratch=_shifted_bytes,
)


def _infer_sparse(op: Operation) -> infer.Inferred:
    logits, labels = op.inputs
    if not logits.dtype.is_floating or not labels.dtype.is_integer:
        raise ShapeError(f"expected floating logits and integer labels, found {logits.dtype.name} and {labels.dtype.name}")
    if logits.shape.dims == ():
        raise ShapeError("logits need an axis of classes, found a scalar")
    if not _rows(logits.shape).is_compatible_with(labels.shape):
        raise ShapeError(f"one label per row of logits: expected labels of shape {_rows(logits.shape)}, found {labels.shape}")
    rows = _rows(logits.shape).merge_with(labels.shape)
    return [(logits.dtype, rows), (logits.dtype, logits.shape)]


def _sparse(xp: Any, logits: Any, labels: Any) -> Any:
    classes = logits.shape[-1]
    if labels.shape != logits.shape[:-1]:
        raise InvalidArgumentError(f"logits have shape {logits.shape}, labels {labels.shape}: expected one label per row")
    if labels.size and (labels.min() < 0 or labels.max() >= classes):
        raise InvalidArgumentError(f"labels go from {labels.min()} to {labels.max()}, but there are {classes} classes, numbered from 0")
    shifted, powers, total = _shifted(xp, logits)
    at = (xp.arange(labels.size), labels.reshape(-1))
    powers /= total
    powers.reshape(-1, classes)[at] -= 1
    loss = xp.log(total[..., 0]) - shifted.reshape(-1, classes)[at].reshape(labels.shape)
    return loss, powers


def _sparse_gradient(op: Operation, g_loss: Tensor | None, g_backprop: Tensor | None) -> list[Tensor | None]:
    to_logits: list[Tensor] = []
    if g_loss is not None:
        to_logits.append(apply_one("ScaleRows", [op.outputs[1], g_loss]))
    if g_backprop is not None:
        to_logits.append(_second_order(op, g_backprop))
    return [_sum(to_logits), None]


register(
    "SparseSoftmaxCrossEntropyWithLogits",
    infer=_infer_sparse,
    kernel=_sparse,
    gradient=_sparse_gradient,
    flops=lambda op: 7 * infer.elements_in(op),
    scratch=_shifted_bytes,
)


def _infer_scale_rows(op: Operation) -> infer.Inferred:
    x, scale = op.inputs
    infer.same_dtype(op)
    if not _rows(x.shape).is_compatible_with(scale.shape):
        raise ShapeError(f"expected one scale per row of {x.shape}, found {scale.shape}")
    return [(x.dtype, x.shape)]


def _scale_rows_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    x, scale = op.inputs
    return [apply_one("ScaleRows", [g, scale]), reduce_sum(g * x, -1)]


register(
    "ScaleRows",
    infer=_infer_scale_rows,
    kernel=lambda xp, x, scale, out=None: xp.multiply(x, scale[..., None], out=out),
    gradient=_scale_rows_gradient,
    flops=infer.elements,
    elementwise=True,
    aligned=1,
)


def softmax_cross_entropy_with_logits(
    logits: Any = None, labels: Any = None, dim: int = -1, name: str | None = None, axis: int | None = None
) -> Tensor:
    """Cross entropy per example between ``labels`` and ``softmax(logits)``. No gradient flows into the labels.

    TensorFlow 1 wants keywords; positional arguments are taken in the order of before 1.0.

    Args:
        logits: unscaled log probabilities, classes along ``dim``.
        labels: probabilities, of the same shape and dtype.
        dim: the axis of classes, by default the last.
        name: name of the op.
        axis: a newer name of ``dim``.

    Raises:
        ShapeError: shapes or dtypes differ.
    """
    logits, labels = _both(logits, labels)
    return softmax_cross_entropy_with_logits_v2(stop_gradient(labels), logits, dim if axis is None else axis, name)


def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Tensor:
    """Cross entropy per example, as `softmax_cross_entropy_with_logits`, but with a gradient into the labels too."""
    logits, labels = _both(logits, labels)
    perm = to_last(logits, axis if dim is None else dim)
    if perm is not None:
        logits, labels = (apply_one("Transpose", [t], perm=perm) for t in (logits, labels))
    return apply_op("SoftmaxCrossEntropyWithLogits", [logits, labels], name).outputs[0]


def sparse_softmax_cross_entropy_with_logits(logits: Any = None, labels: Any = None, name: str | None = None) -> Tensor:
    """Cross entropy per example where each label is the number of one class.

    TensorFlow 1 wants keywords; positional arguments are taken in the order of before 1.0.

    Args:
        logits: unscaled log probabilities, classes along the last axis.
        labels: integers in [0, classes), one per row of logits.
        name: name of the op.

    Raises:
        ShapeError: there is not one label per row, or labels are no integers.
        InvalidArgumentError: when it runs, a label is out of range.
    """
    if logits is None or labels is None:
        raise ShapeError("a cross entropy needs both logits= and labels=")
    return apply_op("SparseSoftmaxCrossEntropyWithLogits", [logits, labels], name).outputs[0]


def _sigmoid_kernel(xp: Any, logits: Any, labels: Any) -> Any:
    return xp.maximum(logits, 0) - logits * labels + xp.log1p(xp.exp(-xp.abs(logits)))


def _sigmoid_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    logits, labels = op.inputs
    return [g * (sigmoid(logits) - labels), -(g * logits)]


register(
    "SigmoidCrossEntropyWithLogits",
    infer=infer.floating(infer.aligned),
    kernel=_sigmoid_kernel,
    gradient=_sigmoid_gradient,
    flops=infer.per_element(8),
)


def sigmoid_cross_entropy_with_logits(logits: Any = None, labels: Any = None, name: str | None = None, targets: Any = None) -> Tensor:
    """Cross entropy, elementwise, between ``labels`` in [0, 1] and ``sigmoid(logits)``. ``targets`` is an older name of ``labels``.

    Raises:
        ShapeError: shapes or dtypes differ.
    """
    return apply_one("SigmoidCrossEntropyWithLogits", _both(logits, targets if labels is None else labels), name)


def weighted_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, pos_weight: Any = None, name: str | None = None, targets: Any = None
) -> Tensor:
    """`sigmoid_cross_entropy_with_logits` in which what positive labels cost is multiplied by ``pos_weight``.

    ``targets`` is an older name of ``labels``.

    Raises:
        ShapeError: labels, logits or the weight are not given, or shapes differ.
    """
    x, y = _both(logits, targets if labels is None else labels)
    if pos_weight is None:
        raise ShapeError("weighted_cross_entropy_with_logits needs pos_weight=")
    x.shape.merge_with(y.shape)
    weight = 1.0 + (convert_to_tensor(pos_weight, like=x) - 1.0) * y
    return math.add((1.0 - y) * x, weight * softplus(-x), name or "logistic_loss")


def _both(logits: Any, labels: Any) -> tuple[Tensor, Tensor]:
    if logits is None or labels is None:
        raise ShapeError("a cross entropy needs both logits= and labels=")
    return convert_pair(logits, labels)
