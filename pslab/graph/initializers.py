"""Initializers: what a variable's first value is made by, given its shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pslab.errors import ShapeError
from pslab.graph.dtypes import DType, float32
from pslab.graph.ops.arrays import ones, zeros
from pslab.graph.ops.random import random_normal, random_uniform, truncated_normal
from pslab.graph.ops.sources import constant
from pslab.graph.tensor import Tensor


@dataclass(frozen=True)
class Zeros:
    """Zeros."""

    dtype: DType | Any = float32

    def __call__(self, shape: Sequence[int], dtype: DType | Any = None, partition_info: Any = None) -> Tensor:
        """The initial value."""
        return zeros(shape, dtype or self.dtype)


@dataclass(frozen=True)
class Ones:
    """Ones."""

    dtype: DType | Any = float32

    def __call__(self, shape: Sequence[int], dtype: DType | Any = None, partition_info: Any = None) -> Tensor:
        """The initial value."""
        return ones(shape, dtype or self.dtype)


@dataclass(frozen=True)
class Constant:
    """One value, or a list of values in row order, of which the last is repeated to fill the shape."""

    value: Any = 0
    dtype: DType | Any = float32
    verify_shape: bool = False

    def __call__(self, shape: Sequence[int], dtype: DType | Any = None, partition_info: Any = None) -> Tensor:
        """The initial value.

        Raises:
            ShapeError: ``verify_shape`` is set, and ``value`` has another shape.
        """
        if self.verify_shape and np.shape(self.value) != tuple(shape):
            raise ShapeError(f"the constant initializer has shape {np.shape(self.value)}, the variable {tuple(shape)}")
        return constant(self.value, dtype or self.dtype, shape)


@dataclass(frozen=True)
class RandomNormal:
    """Normally distributed values."""

    mean: Any = 0.0
    stddev: Any = 1.0
    seed: int | None = None
    dtype: DType | Any = float32

    def __call__(self, shape: Sequence[int], dtype: DType | Any = None, partition_info: Any = None) -> Tensor:
        """The initial value."""
        return random_normal(shape, self.mean, self.stddev, dtype or self.dtype, self.seed)


@dataclass(frozen=True)
class TruncatedNormal:
    """Normally distributed values within two standard deviations."""

    mean: Any = 0.0
    stddev: Any = 1.0
    seed: int | None = None
    dtype: DType | Any = float32

    def __call__(self, shape: Sequence[int], dtype: DType | Any = None, partition_info: Any = None) -> Tensor:
        """The initial value."""
        return truncated_normal(shape, self.mean, self.stddev, dtype or self.dtype, self.seed)


@dataclass(frozen=True)
class RandomUniform:
    """Uniformly distributed values in ``[minval, maxval)``."""

    minval: Any = -0.05
    maxval: Any = 0.05
    seed: int | None = None
    dtype: DType | Any = float32

    def __call__(self, shape: Sequence[int], dtype: DType | Any = None, partition_info: Any = None) -> Tensor:
        """The initial value."""
        return random_uniform(shape, self.minval, self.maxval, dtype or self.dtype, self.seed)


_STDDEV_OF_TRUNCATED = 0.87962566103423978
"""Standard deviation of the standard normal distribution cut at two: a truncated draw divided by it has standard deviation 1."""


@dataclass(frozen=True)
class VarianceScaling:
    """Values whose variance is ``scale`` divided by the number of units, so that activations keep their size from layer to layer.

    Args:
        scale: positive factor.
        mode: units counted: ``"fan_in"``, ``"fan_out"`` or their mean, ``"fan_avg"``.
        distribution: ``"normal"`` (within two standard deviations) or ``"uniform"``.
        seed: see `pslab.set_random_seed`.
        dtype: element type, where none is asked for.
    """

    scale: float = 1.0
    mode: str = "fan_in"
    distribution: str = "normal"
    seed: int | None = None
    dtype: DType | Any = float32

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise ShapeError(f"scale must be positive, found {self.scale}")
        if self.mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ShapeError(f"mode must be 'fan_in', 'fan_out' or 'fan_avg', found {self.mode!r}")
        if self.distribution not in ("normal", "uniform"):
            raise ShapeError(f"distribution must be 'normal' or 'uniform', found {self.distribution!r}")

    def __call__(self, shape: Sequence[int], dtype: DType | Any = None, partition_info: Any = None) -> Tensor:
        """The initial value; of a part of a variable, scaled by the shape of the whole."""
        fan_in, fan_out = _fans([int(d) for d in (shape if partition_info is None else partition_info.full_shape)])
        units = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, units)
        if self.distribution == "normal":
            return truncated_normal(shape, 0.0, math.sqrt(variance) / _STDDEV_OF_TRUNCATED, dtype or self.dtype, self.seed)
        limit = math.sqrt(3 * variance)
        return random_uniform(shape, -limit, limit, dtype or self.dtype, self.seed)


def _fans(shape: list[int]) -> tuple[int, int]:
    """Number of units that feed a unit of a layer of these weights, and that it feeds. Leading axes are a convolution's receptive field."""
    if len(shape) < 2:
        units = shape[0] if shape else 1
        return units, units
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


def glorot_uniform_initializer(seed: int | None = None, dtype: DType | Any = float32) -> VarianceScaling:
    """Glorot and Bengio's uniform initializer, ``get_variable``'s default: variance 2 / (fan_in + fan_out)."""
    return VarianceScaling(1.0, "fan_avg", "uniform", seed, dtype)


def glorot_normal_initializer(seed: int | None = None, dtype: DType | Any = float32) -> VarianceScaling:
    """Glorot and Bengio's normal initializer: variance 2 / (fan_in + fan_out)."""
    return VarianceScaling(1.0, "fan_avg", "normal", seed, dtype)


def xavier_initializer(uniform: bool = True, seed: int | None = None, dtype: DType | Any = float32) -> VarianceScaling:
    """The name of Glorot's initializers in ``tf.contrib.layers``."""
    return (glorot_uniform_initializer if uniform else glorot_normal_initializer)(seed, dtype)


zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
random_uniform_initializer = RandomUniform
variance_scaling_initializer = VarianceScaling
