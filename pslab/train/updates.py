"""Rules of consistency, as values: when a contribution is applied, and who waits for whom."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from pslab.errors import UsageError
from pslab.train.collective import Pipeline, RingAllReduce

E = TypeVar("E", bound=StrEnum)


class Aggregation(StrEnum):
    """What becomes of the contributions of several workers."""

    MEAN = "mean"
    """Their mean: N workers of batch B are one of batch N·B."""
    SUM = "sum"
    """Their sum: each counts in full, as where one is applied after the other."""
    WEIGHTED = "weighted"
    """A mean in which each counts as much as the examples it was computed from: workers of batches B₁, B₂, … are one of batch ΣB."""


@dataclass(frozen=True)
class Sync:
    """Contributions of one step are aggregated and applied once (Chen et al., 2016, "Revisiting Distributed Synchronous SGD").

    Attributes:
        backup: how many workers a step does without: what the slowest bring is dropped, and counted.
        aggregation: of what has come in time.
    """

    backup: int = 0
    aggregation: Aggregation = Aggregation.MEAN

    def __post_init__(self) -> None:
        _parse(self)
        if self.backup < 0:
            raise UsageError(f"Sync(backup=…) must be 0 or more, found {self.backup}")

    def __str__(self) -> str:
        return ", ".join(["sync", *([f"{self.backup} backup"] if self.backup else []), *_unless(self.aggregation, Aggregation.MEAN)])


@dataclass(frozen=True)
class KAsync:
    """Whatever the first k workers bring is aggregated and applied, however stale; the others go on with what they compute.

    Those k are answered with the result; one worker makes it `Async`, all of them `Sync` (Dutta et al., 2018, "Slow and Stale Gradients Can Win the
    Race").

    Attributes:
        k: how many contributions make an update. If more have come, all are taken.
        aggregation: of those.
    """

    k: int
    aggregation: Aggregation = Aggregation.MEAN

    def __post_init__(self) -> None:
        _parse(self)
        if self.k < 1:
            raise UsageError(f"KAsync(k=…) must be 1 or more, found {self.k}")

    def __str__(self) -> str:
        return ", ".join([f"{self.k}-async", *_unless(self.aggregation, Aggregation.MEAN)])


@dataclass(frozen=True, kw_only=True)
class Immediate:
    """What the rules have in common by which each contribution is applied as it comes.

    Attributes:
        aggregation: whether a contribution counts in full (``"sum"``), or is divided by the number of workers (``"mean"``).
        by_staleness: divide it by its staleness τ where that is more than 1: a learning rate of η/τ (Zhang et al., 2016, "Staleness-Aware Async-SGD").
        compensation: λ of delay compensation: a gradient g computed at parameters v is applied at w as g + λ·g⊙g⊙(w − v) (Zheng et al., 2017,
            "Asynchronous Stochastic Gradient Descent with Delay Compensation"); 0 leaves gradients alone.
    """

    aggregation: Aggregation = Aggregation.SUM
    by_staleness: bool = False
    compensation: float = 0.0

    def __post_init__(self) -> None:
        _parse(self)
        if self.aggregation is Aggregation.WEIGHTED:
            raise UsageError(
                f"{type(self).__name__} applies each contribution by itself: there are no others that it could be weighed against",
                "aggregation='sum' or 'mean'; or Sync(aggregation='weighted'), KAsync(…, aggregation='weighted')",
            )
        if not 0 <= self.compensation < float("inf"):
            raise UsageError(f"{type(self).__name__}(compensation=…) must be 0 or more, found {self.compensation}")

    def _told(self, *first: str) -> str:
        staleness = ["rate by staleness"] if self.by_staleness else []
        delay = [f"delay compensation {self.compensation:g}"] if self.compensation else []
        return ", ".join([*first, *_unless(self.aggregation, Aggregation.SUM), *staleness, *delay])


@dataclass(frozen=True)
class Async(Immediate):
    """Each worker's contribution is applied as it comes, however stale (Dean et al., 2012, "Large Scale Distributed Deep Networks").

    Attributes:
        lock: whether an update and a read are each of one moment. Without, they run into each other (Niu et al., 2011, "Hogwild!"): updates write in
            place, reads may be torn, and those are counted.
    """

    lock: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.compensation and not self.lock:
            raise UsageError("delay compensation needs the parameters as they were read, which updates in place do not keep", "use lock=True")

    def __str__(self) -> str:
        return self._told("async", *([] if self.lock else ["no lock"]))


@dataclass(frozen=True)
class SSP(Immediate):
    """Stale synchronous parallel: as `Async`, but no worker is ever more than so many steps ahead of the slowest (Ho et al., 2013).

    Attributes:
        staleness: how many. With 0 all take each step together; without a bound it would be `Async`.
    """

    staleness: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.staleness < 0:
            raise UsageError(f"SSP(staleness=…) must be 0 or more, found {self.staleness}")

    def __str__(self) -> str:
        return self._told(f"ssp, staleness {self.staleness}")


Update = Sync | KAsync | Async | SSP | RingAllReduce | Pipeline


def choice(kind: type[E], value: str, what: str) -> E:
    """The member of ``kind`` that ``value`` names.

    Raises:
        UsageError: it names none.
    """
    try:
        return kind(str(value).replace("_", "-").lower())
    except ValueError:
        raise UsageError(f"{what} must be {' or '.join(kind)}, found {value!r}") from None


def _parse(rule: Sync | KAsync | Immediate) -> None:
    object.__setattr__(rule, "aggregation", choice(Aggregation, rule.aggregation, "aggregation"))


def _unless(aggregation: Aggregation, usual: Aggregation) -> list[str]:
    return [] if aggregation is usual else [str(aggregation)]
