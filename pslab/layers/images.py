"""Convolutional layers, and pooling ones, over images ``[batch, height, width, channels]``."""

from __future__ import annotations

from typing import Any

from pslab.errors import ShapeError, UnimplementedError
from pslab.graph.build import convert_to_tensor
from pslab.graph.initializers import zeros_initializer
from pslab.graph.ops import convolution, pooling
from pslab.graph.tensor import Tensor
from pslab.layers.arguments import refuse
from pslab.layers.getting import get_variable
from pslab.layers.making import Activation, activated, layer_scope, units_in, with_biases
from pslab.layers.regularizers import Regularizer, add_activity_loss
from pslab.layers.variable_store import Reuse


def conv2d(
    inputs: Any,
    filters: int,
    kernel_size: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str = "channels_last",
    dilation_rate: Any = (1, 1),
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
    """Filters slid over images, a bias and an activation, with the variables ``name/kernel`` and ``name/bias``.

    Args:
        inputs: ``[batch, height, width, channels]``, channels known.
        filters: number of filters.
        kernel_size: height and width of a filter, or one number for both.
        strides: steps down and across, or one number for both.
        padding: ``"valid"`` or ``"same"``.
        data_format: ``"channels_last"``.
        dilation_rate: 1, or two of it.
        activation: a function of a tensor; None for none.
        use_bias: whether there is a bias.
        kernel_initializer: makes the kernel's first value, ``[height, width, channels, filters]``; the variable scope's or Glorot's by default.
        bias_initializer: makes the bias's first value, ``[filters]``.
        kernel_regularizer: a function from the kernel to a loss that joins ``REGULARIZATION_LOSSES``.
        bias_regularizer: the same of the bias.
        activity_regularizer: the same of the result.
        kernel_constraint: must be None.
        bias_constraint: must be None.
        trainable: whether optimizers train the variables by default.
        name: of the layer's scope; ``conv2d``, ``conv2d_1``, … by default.
        reuse: whether to share the variables of an earlier layer of this name.

    Returns:
        ``[batch, rows, columns, filters]``.

    Raises:
        ShapeError: the channels are not known, or sizes or strides do not fit.
        UnimplementedError: a dilation or a constraint.
    """
    refuse(kernel_constraint=kernel_constraint, bias_constraint=bias_constraint)
    refuse_dilation(dilation_rate)
    x = convert_to_tensor(inputs)
    with layer_scope(name, "conv2d", reuse, x):
        shape = [*pair(kernel_size, "kernel_size"), units_in(x), filters]
        kernel = get_variable("kernel", shape, x.dtype, kernel_initializer, kernel_regularizer, trainable)
        y = convolution.conv2d(x, kernel, four(strides, "strides"), padding.upper(), data_format=nhwc(data_format))
        if use_bias:
            y = with_biases(y, "bias", bias_initializer, bias_regularizer, trainable)
        y = activated(y, activation)
        add_activity_loss(activity_regularizer, y)
        return y


def max_pooling2d(
    inputs: Any, pool_size: Any, strides: Any, padding: str = "valid", data_format: str = "channels_last", name: str | None = None
) -> Tensor:
    """The greatest value of each window: `pslab.nn.max_pool`. ``pool_size`` and ``strides`` are two numbers, or one for both."""
    size, steps = four(pool_size, "pool_size"), four(strides, "strides")
    return convolution.max_pool(inputs, size, steps, padding.upper(), nhwc(data_format), name or "max_pooling2d/MaxPool")


def average_pooling2d(
    inputs: Any, pool_size: Any, strides: Any, padding: str = "valid", data_format: str = "channels_last", name: str | None = None
) -> Tensor:
    """The mean of each window: `pslab.nn.avg_pool`. ``pool_size`` and ``strides`` are two numbers, or one for both."""
    size, steps = four(pool_size, "pool_size"), four(strides, "strides")
    return pooling.avg_pool(inputs, size, steps, padding.upper(), nhwc(data_format), name or "average_pooling2d/AvgPool")


def pair(value: Any, what: str) -> tuple[int, int]:
    """Two numbers, or one for both.

    Raises:
        ShapeError: it is neither.
    """
    numbers = (value, value) if isinstance(value, int) else tuple(value)
    if len(numbers) != 2 or not all(isinstance(n, int) and n > 0 for n in numbers):
        raise ShapeError(f"{what} must be one positive integer or two, found {value!r}")
    return numbers


def four(value: Any, what: str) -> list[int]:
    """A `pair` as ``[1, down, across, 1]``."""
    return [1, *pair(value, what), 1]


def refuse_dilation(rate: Any) -> None:
    """Refuse a dilated convolution.

    Raises:
        UnimplementedError: it is one.
    """
    if pair(rate, "a dilation") != (1, 1):
        raise UnimplementedError(f"dilated convolutions are not built, found a dilation of {rate}")


def nhwc(data_format: str) -> str:
    """The name that ops have for the data format ``"channels_last"``; others as they are, for ops to refuse."""
    return "NHWC" if data_format == "channels_last" else data_format
