"""The ops of a gate: one waits before what it is to come before, one says that this is through.

Gates are resources of a task, made by the first op that touches them; `Task.drop_resources` with `GATES`, and the beginning of a name if wanted, forgets
them.
"""

from __future__ import annotations

from typing import Any

from pslab.graph.build import apply_op
from pslab.graph.operation import Operation
from pslab.graph.registry import NOT_YET, register
from pslab.sync.gate import Gate

GATES = "sync/gate/"
"""Beginning of the resource key of every gate; its name follows."""


def gate_enter(gate: str, worker: int, what: str, name: str | None = None) -> Operation:
    """An op that waits until what has arrived of ``worker`` may come in; ``what`` tells others what it is."""
    return apply_op("GateEnter", [], name, gate=gate, worker=worker, what=what)


def gate_leave(gate: str, worker: int, name: str | None = None) -> Operation:
    """An op that says that what had come in of ``worker`` is through."""
    return apply_op("GateLeave", [], name, gate=gate, worker=worker)


def gate_of(state: Any, name: str) -> Gate:
    """A gate of a task. Call it under the task's monitor."""
    return state.resource(GATES + name, Gate)  # type: ignore[no-any-return]


def _enter(state: Any, name: str, xp: Any, *, gate: str, worker: int, what: str) -> Any:
    return () if gate_of(state, gate).arrive(worker, what) else NOT_YET


def _leave(state: Any, name: str, xp: Any, *, gate: str, worker: int) -> None:
    there = gate_of(state, gate)
    there.leave(worker)
    if there.passed == there.keep_after:  # references: what is read is never changed in place
        there.kept = {variable: state.variables.read(variable) for variable in state.variables}


register("GateEnter", infer=lambda op: [], kernel=_enter, stateful=True, blocking=True)
register("GateLeave", infer=lambda op: [], kernel=_leave, stateful=True, signals=True)
