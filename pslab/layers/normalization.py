"""Batch normalisation."""

from __future__ import annotations

from typing import Any

from pslab.errors import ShapeError
from pslab.graph.build import convert_to_tensor
from pslab.graph.collections import GraphKeys
from pslab.graph.initializers import ones_initializer, zeros_initializer
from pslab.graph.ops import infer
from pslab.graph.ops.arrays import cast
from pslab.graph.ops.compare import where
from pslab.graph.ops.math import maximum
from pslab.graph.ops.nn import moments
from pslab.graph.ops.normalization import batch_normalization as normalized
from pslab.graph.ops.shapes import reshape, size
from pslab.graph.ops.static import is_symbolic
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.layers.arguments import refuse
from pslab.layers.getting import get_variable
from pslab.layers.making import layer_scope
from pslab.layers.regularizers import Regularizer
from pslab.layers.variable_store import Reuse


def batch_normalization(
    inputs: Any,
    axis: int = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = zeros_initializer(),  # noqa: B008
    gamma_initializer: Any = ones_initializer(),  # noqa: B008
    moving_mean_initializer: Any = zeros_initializer(),  # noqa: B008
    moving_variance_initializer: Any = ones_initializer(),  # noqa: B008
    beta_regularizer: Regularizer | None = None,
    gamma_regularizer: Regularizer | None = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: Reuse = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Any = None,
) -> Tensor:
    """``gamma · (inputs − mean) / √(variance + epsilon) + beta``, per index of ``axis`` (Ioffe and Szegedy, 2015).

    While training, mean and variance are the batch's, and move the averages ``moving_mean`` and ``moving_variance`` when the ops in the collection
    ``UPDATE_OPS`` run; else they are those averages.

    Args:
        inputs: a floating tensor of known rank.
        axis: the axis that keeps its own mean and variance; its length must be known.
        momentum: of the moving averages.
        epsilon: added to the variance.
        center: whether there is a ``beta``.
        scale: whether there is a ``gamma``.
        beta_initializer: makes the first value of ``name/beta``.
        gamma_initializer: the same of ``name/gamma``.
        moving_mean_initializer: the same of ``name/moving_mean``.
        moving_variance_initializer: the same of ``name/moving_variance``.
        beta_regularizer: a function from ``beta`` to a loss that joins ``REGULARIZATION_LOSSES``.
        gamma_regularizer: the same of ``gamma``.
        beta_constraint: must be None.
        gamma_constraint: must be None.
        training: a bool or a bool tensor.
        trainable: whether optimizers train ``beta`` and ``gamma`` by default.
        name: of the layer's scope; ``batch_normalization``, ``batch_normalization_1``, … by default.
        reuse: whether to share the variables of an earlier layer of this name.
        renorm: must be False.
        renorm_clipping: changes nothing.
        renorm_momentum: changes nothing.
        fused: taken for TensorFlow's sake. As there, images' moving variance is that of a sample, n − 1 in its denominator, unless it is False.
        virtual_batch_size: must be None.
        adjustment: must be None.

    Raises:
        ShapeError: the rank, or the length of ``axis``, is not known.
        UnimplementedError: a constraint, or one of the arguments that must be None or False.
    """
    refuse(beta_constraint=beta_constraint, gamma_constraint=gamma_constraint, renorm=renorm or None)
    refuse(virtual_batch_size=virtual_batch_size, adjustment=adjustment)
    x = convert_to_tensor(inputs)
    kept = KeptAxis(x, axis[0] if isinstance(axis, list | tuple) else axis, fused)
    with layer_scope(name, "batch_normalization", reuse, x):
        gamma = kept.variable("gamma", gamma_initializer, gamma_regularizer, trainable) if scale else None
        beta = kept.variable("beta", beta_initializer, beta_regularizer, trainable) if center else None
        mean = kept.variable("moving_mean", moving_mean_initializer, None, trainable=False)
        variance = kept.variable("moving_variance", moving_variance_initializer, None, trainable=False)
        statistics, updates = kept.statistics([mean, variance], momentum, training)
        collect(updates, GraphKeys.UPDATE_OPS)
        return kept.normalized(statistics, beta, gamma, epsilon)


class KeptAxis:
    """The axis of a tensor that keeps its own mean and variance, while all others are averaged over.

    Args:
        x: a floating tensor of known rank.
        axis: the axis, of known length.
        fused: as of `batch_normalization`.

    Raises:
        ShapeError: the rank, or the length of ``axis``, is not known.
    """

    def __init__(self, x: Tensor, axis: int, fused: bool | None) -> None:
        rank = x.shape.ndims
        length = None if rank is None else x.shape.dim(infer.axis_in(axis, rank))
        if rank is None or length is None:
            raise ShapeError(f"batch normalisation needs to know the length of axis {axis}, but {x.name} has shape {x.shape}")
        self._x, self._rank, self._axis, self._length = x, rank, axis % rank, int(length)
        self._sampled = rank == 4 and fused is not False

    def variable(
        self, name: str, initializer: Any, regularizer: Regularizer | None, trainable: bool, collections: list[str] | None = None
    ) -> Variable:
        """A variable of one number per index of the axis."""
        return get_variable(name, [self._length], self._x.dtype, initializer, regularizer, trainable, collections)  # type: ignore[no-any-return]

    def statistics(self, moving: list[Variable], momentum: float, training: Any) -> tuple[list[Tensor], list[Tensor]]:
        """The mean and the variance to normalise by, and the ops that move their averages."""
        averages = [m.value() for m in moving]
        if not (is_symbolic(training) or training):
            return averages, []
        batch = list(moments(self._x, [i for i in range(self._rank) if i != self._axis]))
        seen = [batch[0], batch[1] * self._sample_factor() if self._sampled else batch[1]]
        updates = [_moved(variable, value, momentum, training) for variable, value in zip(moving, seen, strict=True)]
        return [_if(training, now, average) for now, average in zip(batch, averages, strict=True)], updates

    def normalized(self, statistics: list[Tensor], beta: Variable | None, gamma: Variable | None, epsilon: float) -> Tensor:
        """The tensor, normalised."""
        mean, variance, offset, scale = (self._along(t) for t in (*statistics, beta, gamma))
        return normalized(self._x, mean, variance, offset, scale, epsilon)

    def _along(self, vector: Any) -> Any:
        """A vector as one along the axis."""
        if vector is None or self._axis == self._rank - 1:
            return vector
        return reshape(vector, [self._length if i == self._axis else 1 for i in range(self._rank)])

    def _sample_factor(self) -> Tensor:
        """N / (n − 1), n the number of elements that a mean is taken over."""
        count = cast(size(self._x) // self._length, self._x.dtype)
        return count / maximum(count - 1.0, 1.0)


def collect(updates: list[Tensor], collection: str) -> None:
    """Let ops join a collection of their graph."""
    for update in updates:
        update.graph.add_to_collection(collection, update.op)


def _moved(variable: Variable, value: Tensor, momentum: float, training: Any) -> Tensor:
    """An op that moves an average towards ``value``, if this is training."""
    with variable.graph.colocate_with(variable.op):
        step = _if(training, convert_to_tensor(1.0 - momentum, like=value), convert_to_tensor(0.0, like=value))
        return variable.assign_sub((variable.read_value() - value) * step, name="AssignMovingAvg")


def _if(training: Any, x: Tensor, y: Tensor) -> Tensor:
    return where(training, x, y) if is_symbolic(training) else x
