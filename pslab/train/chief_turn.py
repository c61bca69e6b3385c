"""The chief's turn, where contributions are gathered."""

from __future__ import annotations

from math import inf

from pslab.runtime.session import Session
from pslab.train.between_graph import ChiefGraph
from pslab.train.distances import ReplicaParameters
from pslab.train.participant import Participant


class ChiefTurn:
    """The chief's step: wait for what is gathered, apply it, count it.

    Attributes:
        left: it has no data of its own: it ends when there is nobody left who brings something.
    """

    left = inf

    def __init__(self, graph: ChiefGraph, session: Session) -> None:
        self.replicas: list[ReplicaParameters] = []
        self._step = session.prepare([graph.next_step, graph.granted, *graph.further], [])
        self.participant = Participant(session, graph.claim, graph.leaving)
        self._begin = session.prepare(list(graph.begin), [])

    def begin(self) -> None:
        """Let older contributions be stale."""
        self._begin.run(())

    def take(self) -> bool:
        """One update."""
        return bool(self._step.run(()).values[1])
