"""Layers with the names and defaults of ``tf.contrib.layers``: ReLU after each, ``SAME`` padding, variables ``weights`` and ``biases``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pslab.graph.build import convert_to_tensor
from pslab.graph.collections import GraphKeys
from pslab.graph.initializers import glorot_uniform_initializer, ones_initializer, xavier_initializer, zeros_initializer
from pslab.graph.ops import convolution
from pslab.graph.ops.activations import relu
from pslab.graph.ops.sources import identity
from pslab.graph.ops.windows import check_format
from pslab.graph.tensor import Tensor
from pslab.layers import core, images, normalization
from pslab.layers.arguments import refuse
from pslab.layers.getting import get_variable
from pslab.layers.making import Activation, activated, layer_scope, units_in, with_biases
from pslab.layers.regularizers import Regularizer
from pslab.layers.variable_store import Reuse

__all__ = ["batch_norm", "conv2d", "dropout", "flatten", "fully_connected", "max_pool2d", "xavier_initializer"]

_MODEL = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]


def fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Activation | None = relu,
    normalizer_fn: Callable[..., Tensor] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = glorot_uniform_initializer(),  # noqa: B008
    weights_regularizer: Regularizer | None = None,
    biases_initializer: Any = zeros_initializer(),  # noqa: B008
    biases_regularizer: Regularizer | None = None,
    reuse: Reuse = None,
    variables_collections: list[str] | None = None,
    outputs_collections: str | list[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> Tensor:
    """``activation_fn(inputs · weights + biases)`` over the last axis.

    Args:
        inputs: ``[..., n]``, n known.
        num_outputs: length of the last axis of the result.
        activation_fn: a function of a tensor; None for none.
        normalizer_fn: a function in place of the biases, such as `batch_norm`.
        normalizer_params: keywords for it.
        weights_initializer: makes the first value of ``scope/weights``, ``[n, num_outputs]``.
        weights_regularizer: a function from the weights to a loss that joins ``REGULARIZATION_LOSSES``.
        biases_initializer: makes the first value of ``scope/biases``; None for no biases.
        biases_regularizer: as ``weights_regularizer``, of the biases.
        reuse: whether to share the variables of an earlier layer of this scope.
        variables_collections: further collections for the variables.
        outputs_collections: collections for the result.
        trainable: whether optimizers train the variables by default.
        scope: a name or a scope; ``fully_connected``, ``fully_connected_1``, … by default.

    Raises:
        ShapeError: the last dimension of ``inputs`` is not known.
    """
    x = convert_to_tensor(inputs)
    collections = [*_MODEL, *(variables_collections or ())]
    with layer_scope(scope, "fully_connected", reuse, x):
        shape = [units_in(x), num_outputs]
        weights = get_variable("weights", shape, x.dtype, weights_initializer, weights_regularizer, trainable, collections)
        y = core.over_last_axis(x, weights)
        if normalizer_fn is not None:
            y = normalizer_fn(y, **(normalizer_params or {}))
        elif biases_initializer is not None:
            y = with_biases(y, "biases", biases_initializer, biases_regularizer, trainable, collections)
        return _collected(activated(y, activation_fn), outputs_collections)


def conv2d(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Activation | None = relu,
    normalizer_fn: Callable[..., Tensor] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = glorot_uniform_initializer(),  # noqa: B008
    weights_regularizer: Regularizer | None = None,
    biases_initializer: Any = zeros_initializer(),  # noqa: B008
    biases_regularizer: Regularizer | None = None,
    reuse: Reuse = None,
    variables_collections: list[str] | None = None,
    outputs_collections: str | list[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> Tensor:
    """``num_outputs`` filters slid over images ``[batch, height, width, channels]``.

    Args:
        inputs: images, channels known.
        num_outputs: number of filters.
        kernel_size: height and width of a filter, or one number for both.
        stride: steps down and across, or one number for both.
        padding: ``"SAME"`` or ``"VALID"``.
        data_format: ``"NHWC"``.
        rate: must be 1.
        activation_fn: see `fully_connected`, as of all that follow.
        normalizer_fn: see there.
        normalizer_params: see there.
        weights_initializer: see there.
        weights_regularizer: see there.
        biases_initializer: see there.
        biases_regularizer: see there.
        reuse: see there.
        variables_collections: see there.
        outputs_collections: see there.
        trainable: see there.
        scope: a name or a scope; ``Conv``, ``Conv_1``, … by default.

    Raises:
        ShapeError: the channels are not known, sizes or strides do not fit, or ``rate`` is not 1.
    """
    x = convert_to_tensor(inputs)
    images.refuse_dilation(rate)
    collections = [*_MODEL, *(variables_collections or ())]
    with layer_scope(scope, "Conv", reuse, x):
        shape = [*images.pair(kernel_size, "kernel_size"), units_in(x), num_outputs]
        weights = get_variable("weights", shape, x.dtype, weights_initializer, weights_regularizer, trainable, collections)
        y = convolution.conv2d(x, weights, images.four(stride, "stride"), padding.upper(), data_format=data_format)
        if normalizer_fn is not None:
            y = normalizer_fn(y, **(normalizer_params or {}))
        elif biases_initializer is not None:
            y = with_biases(y, "biases", biases_initializer, biases_regularizer, trainable, collections)
        return _collected(activated(y, activation_fn), outputs_collections)


def max_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: str | list[str] | None = None,
    scope: str | None = None,
) -> Tensor:
    """The greatest value of each window: `pslab.nn.max_pool`. ``kernel_size`` and ``stride`` are two numbers, or one for both."""
    size, steps = images.four(kernel_size, "kernel_size"), images.four(stride, "stride")
    return _collected(convolution.max_pool(inputs, size, steps, padding.upper(), data_format, scope or "MaxPool2D/MaxPool"), outputs_collections)


def flatten(inputs: Any, outputs_collections: str | list[str] | None = None, scope: str | None = None) -> Tensor:
    """``[batch, ...]`` as ``[batch, n]``."""
    return _collected(core.flatten(inputs, scope or "Flatten/flatten/Reshape"), outputs_collections)


def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: str | list[str] | None = None,
    scope: str | None = None,
    seed: int | None = None,
) -> Tensor:
    """`pslab.nn.dropout` where ``is_training``, a bool or a bool tensor, is true; else ``inputs``."""
    return _collected(core.dropout(inputs, 1 - keep_prob, noise_shape, seed, is_training, scope or "Dropout/dropout"), outputs_collections)


def batch_norm(
    inputs: Any,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Activation | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    param_regularizers: Mapping[str, Regularizer] | None = None,
    updates_collections: str | None = GraphKeys.UPDATE_OPS,
    is_training: Any = True,
    reuse: Reuse = None,
    variables_collections: list[str] | None = None,
    outputs_collections: str | list[str] | None = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
) -> Tensor:
    """`pslab.layers.batch_normalization` over the last axis, with other defaults and an activation.

    Args:
        inputs: a floating tensor, the last dimension known.
        decay: of the moving averages.
        center: whether there is a ``beta``.
        scale: whether there is a ``gamma``.
        epsilon: added to the variance.
        activation_fn: a function of a tensor; None for none.
        param_initializers: makers of the variables' first values, by the variables' names.
        param_regularizers: functions from ``beta`` or ``gamma``, by these names, to a loss that joins ``REGULARIZATION_LOSSES``.
        updates_collections: the collection of the ops that move the averages; None to move them whenever the result is computed.
        is_training: a bool or a bool tensor.
        reuse: whether to share the variables of an earlier layer of this scope.
        variables_collections: further collections for the variables.
        outputs_collections: collections for the result.
        trainable: whether optimizers train ``beta`` and ``gamma`` by default.
        batch_weights: must be None.
        fused: as of `pslab.layers.batch_normalization`.
        data_format: ``"NHWC"``.
        zero_debias_moving_mean: must be False.
        scope: a name or a scope; ``BatchNorm``, ``BatchNorm_1``, … by default.

    Raises:
        ShapeError: the last dimension is not known, or the channels are not last.
        UnimplementedError: an argument that must be None or False.
    """
    refuse(batch_weights=batch_weights, zero_debias_moving_mean=zero_debias_moving_mean or None)
    check_format(data_format)
    x = convert_to_tensor(inputs)
    initial = {"beta": zeros_initializer(), "gamma": ones_initializer(), "moving_mean": zeros_initializer(), "moving_variance": ones_initializer()}
    initial.update(param_initializers or {})
    losses = dict(param_regularizers or {})
    collections = [*_MODEL, *(variables_collections or ())]
    kept = normalization.KeptAxis(x, -1, fused)
    with layer_scope(scope, "BatchNorm", reuse, x):
        beta = kept.variable("beta", initial["beta"], losses.get("beta"), trainable, collections) if center else None
        gamma = kept.variable("gamma", initial["gamma"], losses.get("gamma"), trainable, collections) if scale else None
        moving = [kept.variable(name, initial[name], None, False, collections) for name in ("moving_mean", "moving_variance")]
        statistics, updates = kept.statistics(moving, decay, is_training)
        y = kept.normalized(statistics, beta, gamma, epsilon)
        if updates_collections is None:
            with x.graph.control_dependencies(updates):
                y = identity(y)
        else:
            normalization.collect(updates, updates_collections)
        return _collected(activated(y, activation_fn), outputs_collections)


def _collected(y: Tensor, collections: str | list[str] | None) -> Tensor:
    for name in [collections] if isinstance(collections, str) else collections or ():
        y.graph.add_to_collection(name, y)
    return y
