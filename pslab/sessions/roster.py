"""Who takes part in a training: its chief and the others, on one task that all of them reach.

It lets the others wait until the chief has initialised or restored the model, without asking again and again, and lets the last to leave know it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pslab.graph.build import apply_one, apply_op
from pslab.graph.dtypes import int32
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.registry import NOT_YET, not_differentiable, register
from pslab.graph.shape import scalar
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable

_KEY = "sessions/roster"


class Roster:
    """The members of a training. It is a rule: no threads, no clocks."""

    def __init__(self) -> None:
        self._members: set[str] = set()
        self._chief: str | None = None
        self._prepared = False

    def arrive(self, member: str, chief: bool) -> None:
        """A member has come. A chief has still to prepare the model."""
        self._members.add(member)
        if chief:
            self._chief, self._prepared = member, False

    def prepared(self) -> None:
        """The chief has initialised or restored the model."""
        self._prepared = True

    def may_begin(self, initialised: bool) -> bool:
        """Whether others may use the model: the chief has prepared it, or there is no chief, any more, and it has values."""
        return self._prepared if self._chief is not None else initialised

    def leave(self, member: str) -> int:
        """A member goes; returns how many stay."""
        self._members.discard(member)
        if self._chief == member:
            self._chief = None
        return len(self._members)


class RosterOps:
    """Ops of one member on the roster, beside a variable that all members share.

    Args:
        beside: a variable, usually the global step; the roster is on its task.
        variables: what must have values where there is no chief; those on the same task are looked at.
        member: a name that no other member has.

    Attributes:
        arrive_as_chief: comes as the chief.
        arrive: comes as one of the others.
        prepared: says that the model is prepared.
        wait: waits until others may begin.
        leave: goes; int32, how many stay.
    """

    def __init__(self, beside: Variable, variables: list[Variable], member: str) -> None:
        graph: Graph = beside.graph
        there = tuple(v.op.name for v in variables if v.device == beside.device)
        with graph.as_default(), graph.colocate_with(beside.op), graph.name_scope("roster"), graph.control_dependencies(None):
            self.arrive_as_chief: Operation = apply_op("RosterArrive", [], member=member, chief=True)
            self.arrive: Operation = apply_op("RosterArrive", [], member=member, chief=False)
            self.prepared: Operation = apply_op("RosterPrepared", [])
            self.wait: Operation = apply_op("RosterWait", [], variables=there)
            self.leave: Tensor = apply_one("RosterLeave", [], member=member)


def _roster(state: Any) -> Roster:
    return state.resource(_KEY, Roster)  # type: ignore[no-any-return]


def _arrive(state: Any, name: str, xp: Any, *, member: str, chief: bool) -> None:
    _roster(state).arrive(member, chief)


def _prepared(state: Any, name: str, xp: Any) -> None:
    _roster(state).prepared()


def _wait(state: Any, name: str, xp: Any, *, variables: tuple[str, ...]) -> Any:
    return None if _roster(state).may_begin(all(v in state.variables for v in variables)) else NOT_YET


def _leave(state: Any, name: str, xp: Any, *, member: str) -> Any:
    return np.asarray(_roster(state).leave(member), np.int32)


_FIELDS: dict[str, Any] = {"gradient": not_differentiable, "stateful": True, "host_only": True}
register("RosterArrive", infer=lambda op: [], kernel=_arrive, signals=True, **_FIELDS)
register("RosterPrepared", infer=lambda op: [], kernel=_prepared, signals=True, **_FIELDS)
register("RosterWait", infer=lambda op: [], kernel=_wait, blocking=True, **_FIELDS)
register("RosterLeave", infer=lambda op: [(int32, scalar())], kernel=_leave, signals=True, **_FIELDS)
