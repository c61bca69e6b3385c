"""How a loop takes part in a training: it claims updates, gives up what it waits for, and leaves."""

from __future__ import annotations

from time import perf_counter_ns

from pslab.graph.tensor import Tensor
from pslab.runtime.session import Session
from pslab.train.leaving import Leaving


class Participant:
    """A loop's part in an epoch.

    Args:
        session: of the graph that it steps.
        claim: waits until the next update is claimed; None where its steps make none.
        leaving: what lets nobody wait for it any more.

    Attributes:
        claims: whether it claims updates at all.
        cancelled: whether it was given up.
    """

    def __init__(self, session: Session, claim: Tensor | None, leaving: Leaving) -> None:
        self.claims = claim is not None
        self.cancelled = False
        self._session = session
        self._claim = session.prepare([claim], []) if claim is not None else None
        self._leaving = leaving
        self._waited_ns = 0

    def claim(self) -> None:
        """Wait until the next update may be made, and claim it; at once where it makes none."""
        if self._claim is not None:
            began = perf_counter_ns()
            self._claim.run(())
            self._waited_ns = perf_counter_ns() - began

    def waited_ns(self) -> int:
        """How long the claim of this turn was waited for, in nanoseconds; 0 where it was granted before, and when it has been told."""
        waited, self._waited_ns = self._waited_ns, 0
        return waited

    def leave(self, claimed: bool) -> None:
        """Let nobody wait for it any more: it makes no further step, and gives back the update that may be ``claimed``."""
        ops = [*self._leaving.leave, *([self._leaving.give_back] if claimed and self.claims else [])]
        if ops:
            self._session.prepare(ops, []).run(())

    def cancel(self) -> None:
        """Give up what runs, a claim or a step, from another thread."""
        self.cancelled = True
        self._session.cancel()
