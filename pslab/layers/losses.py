"""Losses over batches, weighted, reduced to a number and noted in a collection (TensorFlow 1's ``tf.losses``).

All take the arguments ``weights`` (a number, or a tensor that broadcasts to the losses), ``loss_collection`` (a collection that the result joins, or
None) and ``reduction`` (a member of `Reduction`).
"""

from __future__ import annotations

from typing import Any

from pslab.errors import ShapeError, UsageError
from pslab.graph.build import convert_to_tensor
from pslab.graph.collections import GraphKeys
from pslab.graph.defaults import get_default_graph
from pslab.graph.dtypes import float32
from pslab.graph.ops import losses as cross_entropies
from pslab.graph.ops import math
from pslab.graph.ops.activations import relu
from pslab.graph.ops.arrays import cast, ones_like, zeros
from pslab.graph.ops.compare import not_equal, where
from pslab.graph.ops.reduce import reduce_sum
from pslab.graph.ops.shapes import size, squeeze
from pslab.graph.ops.sources import stop_gradient
from pslab.graph.tensor import Tensor


class Reduction:
    """How the losses of a batch become one number; ``NONE`` leaves them as they are."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All of them."""
        return cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_BY_NONZERO_WEIGHTS


_DEFAULT = Reduction.SUM_BY_NONZERO_WEIGHTS


def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """``losses · weights``, reduced.

    The sum is divided by nothing, by the number of losses, by the sum of the weights (``MEAN``), or by the number of losses whose weight is not 0,
    which is the default; where that is 0, so is the result.

    Raises:
        UsageError: there is no such reduction.
        ShapeError: ``weights`` is neither a scalar nor of the rank of ``losses``, with dimensions that are theirs or 1.
    """
    if reduction not in Reduction.all():
        raise UsageError(f"there is no reduction {reduction!r}", f"one of: {', '.join(Reduction.all())}")
    x = convert_to_tensor(losses)
    with x.graph.name_scope(scope or "weighted_loss"):
        given = cast(x, float32) if not x.dtype.is_floating else x
        factor = cast(weights, given.dtype)
        _check_weights(factor, given)
        loss = _reduced(given * factor, factor, given, reduction)
    if loss_collection is not None:
        loss.graph.add_to_collection(loss_collection, loss)
    return loss


def _reduced(weighted: Tensor, weights: Tensor, losses: Tensor, reduction: str) -> Tensor:
    if reduction == Reduction.NONE:
        return weighted
    total = reduce_sum(weighted)
    if reduction == Reduction.SUM:
        return total
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        return _divided(total, cast(size(losses), losses.dtype))
    every = weights * ones_like(losses)
    return _divided(total, reduce_sum(every if reduction == Reduction.MEAN else cast(not_equal(every, 0.0), losses.dtype)))


def _divided(x: Tensor, y: Tensor) -> Tensor:
    """``x / y``, 0 where ``y`` is 0."""
    there = not_equal(y, 0.0)
    return where(there, x / where(there, y, ones_like(y)), 0.0 * y)


def _check_weights(weights: Tensor, losses: Tensor) -> None:
    if weights.shape.dims is None or losses.shape.dims is None or not weights.shape.dims:
        return
    fits = len(weights.shape.dims) == len(losses.shape.dims) and all(
        w == 1 or None in (w, d) or w == d for w, d in zip(weights.shape.dims, losses.shape.dims, strict=True)
    )
    if not fits:
        raise ShapeError(f"weights of shape {weights.shape} do not broadcast to losses of shape {losses.shape}")


def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """``|predictions − labels|``, weighted."""
    y, x = _pair(labels, predictions)
    return compute_weighted_loss(math.abs(x - y), weights, scope or "absolute_difference", loss_collection, reduction)


def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """``(predictions − labels)²``, weighted."""
    y, x = _pair(labels, predictions)
    return compute_weighted_loss(math.squared_difference(x, y), weights, scope or "mean_squared_error", loss_collection, reduction)


def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """Half the squared error up to an error of ``delta``, linear beyond; weighted."""
    y, x = _pair(labels, predictions)
    error = math.abs(x - y)
    near = math.minimum(error, delta)
    return compute_weighted_loss(0.5 * near * near + delta * (error - near), weights, scope or "huber_loss", loss_collection, reduction)


def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """``−labels · log(predictions + epsilon) − (1 − labels) · log(1 − predictions + epsilon)``, weighted."""
    y, x = _pair(labels, predictions)
    losses = -(y * math.log(x + epsilon)) - (1.0 - y) * math.log(1.0 - x + epsilon)
    return compute_weighted_loss(losses, weights, scope or "log_loss", loss_collection, reduction)


def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """``max(0, 1 − (2 · labels − 1) · logits)`` for labels 0 and 1, weighted."""
    y, x = _pair(labels, logits)
    return compute_weighted_loss(relu(1.0 - (2.0 * y - 1.0) * x), weights, scope or "hinge_loss", loss_collection, reduction)


def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """`pslab.nn.sigmoid_cross_entropy_with_logits`, weighted; labels are first drawn towards 1/2 by ``label_smoothing``."""
    x = convert_to_tensor(logits)
    y = cast(multi_class_labels, x.dtype)
    if label_smoothing:
        y = y * (1 - label_smoothing) + 0.5 * label_smoothing
    losses = cross_entropies.sigmoid_cross_entropy_with_logits(logits=x, labels=y)
    return compute_weighted_loss(losses, weights, scope or "sigmoid_cross_entropy_loss", loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """`pslab.nn.softmax_cross_entropy_with_logits`, weighted; labels are first drawn towards 1 / classes by ``label_smoothing``.

    Args:
        onehot_labels: ``[batch, classes]``.
        logits: ``[batch, classes]``.
        weights: a scalar or ``[batch]``.
        label_smoothing: from 0 to 1.
        scope: name of the scope.
        loss_collection: a collection that the result joins, or None.
        reduction: a member of `Reduction`.

    Raises:
        ShapeError: labels and logits differ in shape.
    """
    x = convert_to_tensor(logits)
    y = cast(onehot_labels, x.dtype)
    if label_smoothing:
        y = y * (1 - label_smoothing) + label_smoothing / int(x.shape[-1])
    losses = cross_entropies.softmax_cross_entropy_with_logits(labels=stop_gradient(y), logits=x)
    return compute_weighted_loss(losses, weights, scope or "softmax_cross_entropy_loss", loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """`pslab.nn.sparse_softmax_cross_entropy_with_logits`, weighted. Labels and weights are ``[batch]`` or ``[batch, 1]``."""
    x, y = convert_to_tensor(logits), convert_to_tensor(labels)
    rows = x.shape.ndims
    if rows is not None and y.shape.ndims == rows:
        y = squeeze(y, -1)
    losses = cross_entropies.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x)
    return compute_weighted_loss(losses, _per_row(weights, losses), scope or "sparse_softmax_cross_entropy_loss", loss_collection, reduction)


def _pair(labels: Any, predictions: Any) -> tuple[Tensor, Tensor]:
    """Labels and predictions as floats of one shape."""
    x = convert_to_tensor(predictions)
    x = x if x.dtype.is_floating else cast(x, float32)
    y = cast(labels, x.dtype)
    if not y.shape.is_compatible_with(x.shape):
        raise ShapeError(f"labels have shape {y.shape}, predictions {x.shape}")
    return y, x


def _per_row(weights: Any, losses: Tensor) -> Tensor:
    """Weights without the axis of length 1 that they may have in place of the classes."""
    tensor = convert_to_tensor(weights)
    ranks = tensor.shape.ndims, losses.shape.ndims
    return squeeze(tensor, -1) if None not in ranks and ranks[0] == (ranks[1] or 0) + 1 else tensor


# What was noted


def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Let a loss of one's own join the collection."""
    if loss_collection is not None:
        loss.graph.add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Tensor]:
    """The losses of the collection, those whose name begins with ``scope`` if it is given."""
    return get_default_graph().get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Tensor]:
    """The losses of regularizers."""
    return get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """The sum of the losses of regularizers; 0 where there is none."""
    losses = get_regularization_losses(scope)
    return math.add_n(losses, name) if losses else zeros([], name=name)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None) -> Tensor:
    """The sum of all losses that were noted, by default with those of regularizers.

    Raises:
        ShapeError: there is none.
    """
    losses = get_losses(scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope)
    return math.add_n(losses, name)
