"""The ops that keep a task's ledger. Each runs in one critical section with the update, or the read, that it is about.

`Task.drop_resources` with `LEDGERS`, and the beginning of a name if wanted, forgets ledgers and returns them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pslab.graph.build import apply_one, apply_op
from pslab.graph.dtypes import int64
from pslab.graph.operation import Operation
from pslab.graph.registry import register
from pslab.graph.shape import scalar
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.sync.ledger import Ledger

LEDGERS = "sync/ledger/"
"""Beginning of the resource key of every ledger; its name follows."""


def ledger_apply(ledger: str, worker: int, name: str = "staleness") -> Tensor:
    """Enter that a contribution of ``worker`` is applied: its staleness, an int64 scalar."""
    return apply_one("LedgerApply", [], name, ledger=ledger, worker=worker)


def ledger_read(ledger: str, worker: int, kept: Sequence[Variable] = (), name: str | None = None) -> Operation:
    """An op that enters that ``worker`` reads the parameters; of those to be ``kept``, the values are."""
    return apply_op("LedgerRead", [], name, ledger=ledger, worker=worker, kept=tuple(v.op.name for v in kept))


def ledger_note(ledger: str, worker: int, updates: int = 0, name: str | None = None) -> Operation:
    """An op that enters that something else of ``worker`` happens, which makes so many updates."""
    return apply_op("LedgerNote", [], name, ledger=ledger, worker=worker, updates=updates)


def ledger_answer(ledger: str, worker: int, name: str | None = None) -> Operation:
    """An op that enters that ``worker``, which has brought something, is answered: it reads. Nothing happens if the ledger is forgotten meanwhile."""
    return apply_op("LedgerAnswer", [], name, ledger=ledger, worker=worker)


def ledger_of(state: Any, name: str) -> Ledger:
    """A ledger of a task. Call it under the task's monitor."""
    return state.resource(LEDGERS + name, Ledger)  # type: ignore[no-any-return]


def enter_read(state: Any, ledger: str, worker: int, kept: Sequence[str]) -> None:
    """Enter a read, under the task's monitor."""
    ledger_of(state, ledger).read(worker, {name: state.variables.read(name) for name in kept})


def _apply(state: Any, name: str, xp: Any, *, ledger: str, worker: int) -> Any:
    return np.int64(ledger_of(state, ledger).apply(worker))


def _note(state: Any, name: str, xp: Any, *, ledger: str, worker: int, updates: int) -> None:
    ledger_of(state, ledger).note(worker, updates)


def _read(state: Any, name: str, xp: Any, *, ledger: str, worker: int, kept: Sequence[str]) -> None:
    enter_read(state, ledger, worker, kept)


register("LedgerApply", infer=lambda op: [(int64, scalar())], kernel=_apply, stateful=True, host_only=True)


def _answer(state: Any, name: str, xp: Any, *, ledger: str, worker: int) -> None:
    for found in state.resources(LEDGERS + ledger):
        found.read(worker, {})


register("LedgerNote", infer=lambda op: [], kernel=_note, stateful=True)
register("LedgerAnswer", infer=lambda op: [], kernel=_answer, stateful=True)
register("LedgerRead", infer=lambda op: [], kernel=_read, stateful=True)
