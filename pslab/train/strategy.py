"""How replicas work together, as one value."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pslab.errors import UsageError
from pslab.train.collective import WHY, replication_of
from pslab.train.commits import Commit, Differences, Elastic, Gradients
from pslab.train.compression import Compression
from pslab.train.updates import Aggregation, Async, Immediate, KAsync, Sync, Update, choice


class Replication(StrEnum):
    """Who builds the graph."""

    BETWEEN_GRAPH = "between-graph"
    """Each worker builds its own, similar, graph and drives itself."""
    IN_GRAPH = "in-graph"
    """One client builds a tower per worker in one graph, and drives them all."""


@dataclass(frozen=True)
class Strategy:
    """A mode of training.

    Attributes:
        replication: who builds the graph.
        update: when what workers commit is applied.
        commit_every: after how many of its steps a worker commits.
        commit: what it commits.
        compression: how that is sent in fewer bytes; None sends it as it is.
    """

    replication: Replication = Replication.BETWEEN_GRAPH
    update: Update = field(default_factory=Async)
    commit_every: int = 1
    commit: Commit = field(default_factory=Gradients)
    compression: Compression | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "replication", choice(Replication, self.replication, "replication"))
        if not isinstance(self.update, Update):
            raise UsageError(f"update must be one of {_any_of(Update)}, found {self.update!r}")
        if not isinstance(self.commit, Commit):
            raise UsageError(f"commit must be one of {_any_of(Commit)}, found {self.commit!r}")
        if not isinstance(self.commit_every, int) or self.commit_every < 1:
            raise UsageError(f"commit_every must be a whole number from 1 on, found {self.commit_every!r}")
        if isinstance(self.update, Immediate) and self.update.compensation and not isinstance(self.commit, Gradients):
            raise UsageError("delay compensation is for gradients", "use commit=pslab.Gradients(), or compensation=0")
        if isinstance(self.update, Immediate) and self.update.aggregation is Aggregation.MEAN and isinstance(self.commit, Elastic):
            raise UsageError("elastic averaging has its own strength α", "use aggregation='sum', and a smaller alpha")
        if not isinstance(self.compression, Compression | None):
            raise UsageError(f"compression must be None, or such as pslab.TopK(0.01); found {self.compression!r}")
        if isinstance(self.commit, Elastic) and self.compression is not None and not self.compression.close:
            raise UsageError(
                f"elastic averaging sends parameters, of which {self.compression} would make others",
                "use pslab.Float16() or pslab.Int8(), or commit=pslab.Differences()",
            )
        if self.resident:
            self._check_resident()
        elif self.replication is Replication.IN_GRAPH:
            self._check_in_graph()

    def _check_in_graph(self) -> None:
        instead = "use replication='between-graph'"
        if isinstance(self.update, KAsync) or (isinstance(self.update, Sync) and self.update.backup):
            raise UsageError(f"in-graph replication has no {self.update}: its one step waits for every tower", instead)
        if isinstance(self.update, Async) and not self.update.lock:
            raise UsageError("in-graph replication takes locks: its towers read the parameters wherever the model does", instead)
        if self.commit_every > 1 or not isinstance(self.commit, Gradients):
            raise UsageError("in-graph replication commits the gradients of every step: its towers have no parameters of their own", instead)

    def _check_resident(self) -> None:
        if self.replication != (only := replication_of(self.update)):
            raise UsageError(f"{self.replication} replication has no {self.update}: {WHY[only]}", f"use replication={only!r}")
        if self.commit_every > 1 or self.commit != Gradients() or self.compression is not None:
            raise UsageError(
                f"in {self.update} workers put the gradients of every step together, as they are",
                "use commit_every=1, commit=pslab.Gradients() and compression=None",
            )

    def changed(self, **fields: Any) -> Strategy:
        """The same with some fields changed. An update rule that can be had in one replication only brings that along.

        Raises:
            UsageError: there is no such field, or a value does not fit.
        """
        known = [f.name for f in dataclasses.fields(self)]
        if unknown := [name for name in fields if name not in known]:
            raise UsageError(f"a mode has no {unknown[0]!r}", f"it has {', '.join(known)}")
        only = replication_of(fields.get("update"))
        return dataclasses.replace(self, **({"replication": only, **fields} if only else fields))

    @property
    def resident(self) -> bool:
        """Whether the parameters live on the workers while this mode is in force."""
        return bool(replication_of(self.update))

    @property
    def gathered(self) -> bool:
        """Whether contributions are gathered, and the chief makes the updates."""
        return isinstance(self.update, Sync | KAsync)

    @property
    def races(self) -> bool:
        """Whether what is computed depends on who is faster, and the ledgers of the ps have the order."""
        update = self.update
        return isinstance(update, Immediate | KAsync) or (isinstance(update, Sync) and update.backup > 0)

    @property
    def local(self) -> bool:
        """Whether a worker steps on a copy of its own."""
        return isinstance(self.commit, Differences | Elastic)

    @property
    def in_step(self) -> bool:
        """Whether every replica takes part in every update, each with one commit."""
        return self.replication is Replication.BETWEEN_GRAPH and isinstance(self.update, Sync) and not self.update.backup

    def check(self, workers: int) -> None:
        """Whether this strategy can run with so many workers.

        Raises:
            UsageError: it cannot.
        """
        match self.update:
            case Sync(backup=backup) if backup >= workers:
                raise UsageError(f"Sync(backup={backup}) leaves no gradient to wait for with {workers} workers", "use fewer backups")
            case KAsync(k=k) if k > workers:
                raise UsageError(f"KAsync(k={k}) would wait for ever with {workers} workers", f"use k from 1 to {workers}")

    def __str__(self) -> str:
        every = f" every {self.commit_every} steps" if self.commit_every > 1 else ""
        commit = f", {self.commit}{every}" if every or self.commit != Gradients() else ""
        compression = "" if self.compression is None else f", {self.compression}"
        return f"{self.replication} {self.update}{commit}{compression}"


def _any_of(kinds: object) -> str:
    return ", ".join(f"pslab.{kind.__name__}(…)" for kind in kinds.__args__)  # type: ignore[attr-defined]


ALL_MODES = tuple(Strategy(r, u) for r in (Replication.BETWEEN_GRAPH, Replication.IN_GRAPH) for u in (Async(), Sync()))
"""The four modes: each replication with each update rule."""
