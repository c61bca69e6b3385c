"""Losses that keep weights small: functions from a tensor to a scalar, for ``regularizer=``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pslab.errors import GraphError
from pslab.graph.build import convert_to_tensor
from pslab.graph.collections import GraphKeys
from pslab.graph.defaults import get_default_graph
from pslab.graph.ops.arrays import zeros
from pslab.graph.ops.math import abs as absolute
from pslab.graph.ops.math import add_n, multiply
from pslab.graph.ops.nn import l2_loss
from pslab.graph.ops.reduce import reduce_sum
from pslab.graph.tensor import Tensor

Regularizer = Callable[[Any], Any]
"""From weights to a loss, or to None."""


def l1_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """``scale · sum(|weights|)``; nothing at a scale of 0.

    Raises:
        GraphError: ``scale`` is an integer, or negative.
    """
    _check(scale)
    return lambda weights: multiply(reduce_sum(absolute(convert_to_tensor(weights))), scale, scope or "l1_regularizer") if scale else None


def l2_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """``scale · sum(weights²) / 2``; nothing at a scale of 0.

    Raises:
        GraphError: ``scale`` is an integer, or negative.
    """
    _check(scale)
    return lambda weights: multiply(l2_loss(weights), scale, scope or "l2_regularizer") if scale else None


def l1_l2_regularizer(scale_l1: float = 1.0, scale_l2: float = 1.0, scope: str | None = None) -> Regularizer:
    """The sum of `l1_regularizer` and `l2_regularizer`."""
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope or "l1_l2_regularizer")


def sum_regularizer(regularizer_list: Sequence[Regularizer | None], scope: str | None = None) -> Regularizer:
    """The sum of regularizers; None among them, and what they give of it, is left out."""

    def regularizer(weights: Any) -> Tensor | None:
        losses = [loss for r in regularizer_list if r is not None and (loss := r(weights)) is not None]
        return add_n(losses, scope or "sum_regularizer") if losses else None

    return regularizer


def apply_regularization(regularizer: Regularizer, weights_list: Sequence[Any] | None = None) -> Tensor:
    """The sum of ``regularizer`` over weights, by default the collection ``WEIGHTS``. It joins ``REGULARIZATION_LOSSES``.

    Raises:
        GraphError: there are no weights.
    """
    graph = get_default_graph()
    weights = graph.get_collection(GraphKeys.WEIGHTS) if weights_list is None else list(weights_list)
    if not weights:
        raise GraphError("there are no weights to regularize", "give weights_list=")
    losses = [loss for w in weights if (loss := regularizer(w)) is not None]
    total = add_n(losses) if losses else zeros([])
    graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
    return total


def add_activity_loss(regularizer: Regularizer | None, y: Tensor) -> None:
    """Let what ``regularizer`` gives of a layer's output join ``REGULARIZATION_LOSSES``."""
    loss = None if regularizer is None else regularizer(y)
    if loss is not None:
        y.graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)


def _check(scale: float) -> None:
    if isinstance(scale, int) or scale < 0:
        raise GraphError(f"a regularizer's scale is a float that is not negative, found {scale!r}")
