"""Fully connected layers, and those without variables that stand around them."""

from __future__ import annotations

import math
from typing import Any

from pslab.errors import ShapeError
from pslab.graph.build import convert_to_tensor
from pslab.graph.initializers import zeros_initializer
from pslab.graph.ops import nn
from pslab.graph.ops.compare import where
from pslab.graph.ops.joining import concat
from pslab.graph.ops.matmul import matmul
from pslab.graph.ops.shapes import reshape, shape
from pslab.graph.ops.sources import identity
from pslab.graph.ops.static import is_symbolic
from pslab.graph.tensor import Tensor
from pslab.layers.arguments import refuse
from pslab.layers.getting import get_variable
from pslab.layers.making import Activation, activated, layer_scope, units_in, with_biases
from pslab.layers.regularizers import Regularizer, add_activity_loss
from pslab.layers.variable_store import Reuse


def dense(
    inputs: Any,
    units: int,
    activation: Activation | None = None,
    use_bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = zeros_initializer(),  # noqa: B008
    kernel_regularizer: Regularizer | None = None,
    bias_regularizer: Regularizer | None = None,
    activity_regularizer: Regularizer | None = None,
    kernel_constraint: Any = None,
    bias_constraint: Any = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: Reuse = None,
) -> Tensor:
    """``activation(inputs · kernel + bias)`` over the last axis, with the variables ``name/kernel`` and ``name/bias``.

    Args:
        inputs: ``[..., n]``, n known.
        units: length of the last axis of the result.
        activation: a function of a tensor; None for none.
        use_bias: whether there is a bias.
        kernel_initializer: makes the kernel's first value, ``[n, units]``; by default the variable scope's, else Glorot's.
        bias_initializer: makes the bias's first value, ``[units]``.
        kernel_regularizer: a function from the kernel to a loss that joins ``REGULARIZATION_LOSSES``.
        bias_regularizer: the same of the bias.
        activity_regularizer: the same of the result.
        kernel_constraint: must be None.
        bias_constraint: must be None.
        trainable: whether optimizers train the variables by default.
        name: of the layer's scope; ``dense``, ``dense_1``, … by default.
        reuse: whether to share the variables of an earlier layer of this name.

    Returns:
        ``[..., units]``.

    Raises:
        ShapeError: the last dimension of ``inputs`` is not known.
    """
    refuse(kernel_constraint=kernel_constraint, bias_constraint=bias_constraint)
    x = convert_to_tensor(inputs)
    with layer_scope(name, "dense", reuse, x):
        kernel = get_variable("kernel", [units_in(x), units], x.dtype, kernel_initializer, kernel_regularizer, trainable)
        y = over_last_axis(x, kernel)
        if use_bias:
            y = with_biases(y, "bias", bias_initializer, bias_regularizer, trainable)
        y = activated(y, activation)
        add_activity_loss(activity_regularizer, y)
        return y


def over_last_axis(x: Tensor, kernel: Any) -> Tensor:
    """The product of a tensor of rank 2 or more, along its last axis, and a matrix."""
    if x.shape.ndims == 2:
        return matmul(x, kernel)
    if x.shape.ndims is None or x.shape.ndims < 2:
        raise ShapeError(f"a dense layer takes a tensor of rank 2 or more, but {x.name} has shape {x.shape}")
    flat = matmul(reshape(x, [-1, units_in(x)]), kernel)
    y = reshape(flat, concat([shape(x)[:-1], [int(flat.shape[-1])]], 0))
    y.set_shape([*x.shape.as_list()[:-1], flat.shape[-1]])
    return y


def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Tensor:
    """``[batch, ...]`` as ``[batch, n]``.

    Raises:
        ShapeError: neither the batch nor all the other dimensions are known.
    """
    x = convert_to_tensor(inputs)
    if x.shape.ndims is None or x.shape.ndims < 1:
        raise ShapeError(f"flatten takes a batch, but {x.name} has shape {x.shape}")
    batch, *rest = x.shape.as_list()
    if None not in rest:
        return reshape(x, [-1, math.prod(d for d in rest if d is not None)], name or "flatten/Reshape")
    if batch is None:
        raise ShapeError(f"flatten needs to know the batch, or all that follows it, but {x.name} has shape {x.shape}")
    return reshape(x, [batch, -1], name or "flatten/Reshape")


def dropout(inputs: Any, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None, training: Any = False, name: str | None = None) -> Tensor:
    """`pslab.nn.dropout` of elements with probability ``rate`` where ``training``, a bool or a bool tensor, is true; else ``inputs``."""
    x = convert_to_tensor(inputs)
    if not is_symbolic(training):
        return nn.dropout(x, None, noise_shape, seed, name, rate) if training else identity(x, name or "dropout/Identity")
    keep = where(training, convert_to_tensor(1.0 - rate, like=x), convert_to_tensor(1.0, like=x))
    return nn.dropout(x, keep, noise_shape, seed, name)
