"""By how much a worker is slower than the others: delays of a step, fixed or drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pslab.errors import UsageError

LONGEST_S = 3600.0
"""The longest delay that a step may have, in seconds; longer ones that are drawn are cut to it."""


@dataclass(frozen=True)
class Constant:
    """The same delay in each step.

    Attributes:
        seconds: how long.

    Raises:
        UsageError: ``seconds`` is not greater than 0, or longer than `LONGEST_S`.
    """

    seconds: float

    def __post_init__(self) -> None:
        _check_seconds("Constant(seconds=…)", self.seconds)

    @property
    def mean(self) -> float:
        """Seconds on average."""
        return self.seconds

    def draw(self, rng: np.random.Generator) -> float:
        """Seconds of one step."""
        return self.seconds

    def __str__(self) -> str:
        return span(self.seconds)


@dataclass(frozen=True)
class Exponential:
    """Delays from an exponential distribution: many short ones, few long ones.

    Attributes:
        mean: seconds on average.

    Raises:
        UsageError: ``mean`` is not greater than 0, or longer than `LONGEST_S`.
    """

    mean: float

    def __post_init__(self) -> None:
        _check_seconds("Exponential(mean=…)", self.mean)

    def draw(self, rng: np.random.Generator) -> float:
        """Seconds of one step."""
        return min(float(rng.exponential(self.mean)), LONGEST_S)

    def __str__(self) -> str:
        return f"{span(self.mean)} on average, exponential"


@dataclass(frozen=True)
class Pareto:
    """Delays from a Pareto distribution, whose tail is heavy, as that of stragglers is: P(delay > t) = (scale / t)^shape for t ≥ scale.

    Attributes:
        scale: seconds of the shortest delay.
        shape: how fast the tail falls; the mean is finite for more than 1 only.

    Raises:
        UsageError: ``scale`` is not greater than 0, or longer than `LONGEST_S`, or ``shape`` is not greater than 0.
    """

    scale: float
    shape: float = 1.5

    def __post_init__(self) -> None:
        _check_seconds("Pareto(scale=…)", self.scale)
        if not (_is_number(self.shape) and 0 < self.shape < math.inf):
            raise UsageError(f"Pareto(shape=…) must be greater than 0, found {self.shape!r}")

    @property
    def mean(self) -> float:
        """Seconds on average, infinite where ``shape`` is at most 1."""
        return self.scale * self.shape / (self.shape - 1) if self.shape > 1 else math.inf

    def draw(self, rng: np.random.Generator) -> float:
        """Seconds of one step."""
        return min(self.scale * (1 + float(rng.pareto(self.shape))), LONGEST_S)

    def __str__(self) -> str:
        return f"{span(self.scale)} or more, Pareto of shape {self.shape:g}"


Delay = Constant | Exponential | Pareto

DISTRIBUTIONS: dict[str, Callable[[float, float], Delay]] = {
    "constant": lambda seconds, shape: Constant(seconds),
    "exponential": lambda seconds, shape: Exponential(seconds),
    "pareto": Pareto,
}
"""By name, from the seconds that a distribution is given by, and the shape of its tail, to a delay."""


def check_delay(delay: Any) -> Delay:
    """``delay``, if it is one.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(delay, Constant | Exponential | Pareto):
        raise UsageError(f"a delay is pslab.Constant, pslab.Exponential or pslab.Pareto, found {delay!r}", "pslab.Constant(0.05); None for no delay")
    return delay


def span(seconds: float) -> str:
    """A length of time for people."""
    return f"{seconds:g} s" if seconds >= 1 else f"{seconds * 1e3:g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:g} µs"


def _check_seconds(name: str, value: Any) -> None:
    if not (_is_number(value) and 0 < value <= LONGEST_S):
        raise UsageError(f"{name} must be more than 0 s and at most {LONGEST_S:g} s, found {value!r}", "seconds: 0.05 is 50 ms")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
