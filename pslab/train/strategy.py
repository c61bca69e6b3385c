"""How replicas work together, as one value."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from pslab.errors import UsageError
from pslab.train.collective import Pipeline, RingAllReduce, check_replication


class Replication(StrEnum):
    """Who builds the graph."""

    BETWEEN_GRAPH = "between-graph"
    """Each worker builds its own, similar, graph and drives itself."""
    IN_GRAPH = "in-graph"
    """One client builds a tower per worker in one graph, and drives them all."""


@dataclass(frozen=True)
class Sync:
    """Gradients of one step are averaged and applied once (Chen et al., 2016, "Revisiting Distributed Synchronous SGD").

    Attributes:
        backup: how many workers' gradients a step does without: the slowest are dropped, and counted.
    """

    backup: int = 0

    def __post_init__(self) -> None:
        if self.backup < 0:
            raise UsageError(f"Sync(backup=…) must be 0 or more, found {self.backup}")

    def __str__(self) -> str:
        return f"sync, {self.backup} backup" if self.backup else "sync"


@dataclass(frozen=True)
class Async:
    """Each worker's gradient is applied as it comes, however stale (Dean et al., 2012, "Large Scale Distributed Deep Networks")."""

    def __str__(self) -> str:
        return "async"


Update = Sync | Async | RingAllReduce | Pipeline


@dataclass(frozen=True)
class Strategy:
    """A mode of training: a replication and an update rule.

    Attributes:
        replication: who builds the graph.
        update: when gradients are applied.
    """

    replication: Replication = Replication.BETWEEN_GRAPH
    update: Update = field(default_factory=Async)

    def __post_init__(self) -> None:
        object.__setattr__(self, "replication", _replication(self.replication))
        if not isinstance(self.update, Update):
            raise UsageError(f"update must be pslab.Sync(), Async(), RingAllReduce() or Pipeline(), found {self.update!r}")
        check_replication(self.update, self.replication)
        if self.replication is Replication.IN_GRAPH and isinstance(self.update, Sync) and self.update.backup:
            raise UsageError(
                "in-graph replication has no backup workers: its one step waits for every tower",
                "use Sync(), or replication='between-graph'",
            )

    def check(self, workers: int) -> None:
        """Whether this strategy can run with so many workers.

        Raises:
            UsageError: it cannot.
        """
        if isinstance(self.update, Sync) and self.update.backup >= workers:
            raise UsageError(f"Sync(backup={self.update.backup}) leaves no gradient to wait for with {workers} workers", "use fewer backups")

    def __str__(self) -> str:
        return f"{self.replication} {self.update}"


def _replication(value: str) -> Replication:
    try:
        return Replication(str(value).replace("_", "-").lower())
    except ValueError:
        raise UsageError(f"replication must be {' or '.join(Replication)}, found {value!r}") from None


ALL_MODES = tuple(Strategy(r, u) for r in (Replication.BETWEEN_GRAPH, Replication.IN_GRAPH) for u in (Async(), Sync()))
"""The four modes: each replication with each update rule."""
