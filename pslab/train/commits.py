"""What a worker commits, as values: gradients, or what became of a copy of its own."""

from __future__ import annotations

from dataclasses import dataclass

from pslab.errors import UsageError


@dataclass(frozen=True)
class Gradients:
    """The gradient; where a worker commits every k steps, the mean of k gradients at the same parameters (gradient accumulation)."""

    def __str__(self) -> str:
        return "gradients"


@dataclass(frozen=True)
class Differences:
    """How far it has gone: a worker steps on a copy of its own, and commits the difference from where it began, which the ps take as a gradient.

    With `Sync` and the default rule this is local SGD (Stich, 2018, "Local SGD Converges Fast and Communicates Little"): the replicas are averaged.
    With `Async` it is DOWNPOUR (Dean et al., 2012), with momentum DiLoCo (Douillard et al., 2023), whose outer step is Nesterov's.

    Attributes:
        rate: learning rate of the outer step, on the ps; 1 takes differences as they are.
        momentum: of the outer step, Nesterov's; 0 for none.
        own_start: whether each replica begins at initial values of its own, rather than at the parameters on the ps.
    """

    rate: float = 1.0
    momentum: float = 0.0
    own_start: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.rate < float("inf"):
            raise UsageError(f"Differences(rate=…) must be positive, found {self.rate}")
        if not 0 <= self.momentum < 1:
            raise UsageError(f"Differences(momentum=…) must be at least 0 and less than 1, found {self.momentum}")

    def __str__(self) -> str:
        outer = [f"outer rate {self.rate:g}"] if self.rate != 1 else []
        momentum = [f"outer momentum {self.momentum:g}"] if self.momentum else []
        return ", ".join(["differences", *outer, *momentum, *(["own start"] if self.own_start else [])])


@dataclass(frozen=True)
class Elastic:
    """A pull towards each other: a replica x keeps its own way, and every commit moves it by α·(x̃ − x), and the ps's x̃ by α·(x − x̃).

    Zhang, Choromanska and LeCun, 2015, "Deep learning with Elastic Averaging SGD".

    Attributes:
        alpha: the strength, from 0 (each for itself) to 1.
    """

    alpha: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise UsageError(f"Elastic(alpha=…) must be from 0 to 1, found {self.alpha}")

    def __str__(self) -> str:
        return f"elastic, α {self.alpha:g}"


Commit = Gradients | Differences | Elastic
