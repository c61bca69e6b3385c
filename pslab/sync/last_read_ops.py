"""The op by which a task keeps what each of some readers has read of its variables last: where the reader is another task, nothing has to travel for it.

`Task.drop_resources` with `LAST_READS`, and the beginning of a name if wanted, forgets it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pslab.graph.build import apply_op
from pslab.graph.operation import Operation
from pslab.graph.registry import register
from pslab.graph.variables import Variable

LAST_READS = "sync/last_read/"
"""Beginning of the resource key of what is kept; its name follows."""


def keep_read(reads: str, worker: int, variables: Sequence[Variable], name: str | None = None) -> Operation:
    """An op that keeps the values of some variables, all on the device in force, as ``worker`` reads them now.

    They are references: updates must not write into the arrays.

    Args:
        reads: the name under which they are kept.
        worker: who reads.
        variables: what it reads.
        name: name of the op.
    """
    return apply_op("KeepRead", [], name, reads=reads, worker=worker, kept=tuple(v.op.name for v in variables))


def last_reads_of(state: Any, name: str) -> Mapping[int, Mapping[str, Any]]:
    """What was kept under a name: by worker, arrays by the names of their variables. Call it under the task's monitor."""
    return _reads(state, name)


def _reads(state: Any, name: str) -> dict[int, dict[str, Any]]:
    return state.resource(LAST_READS + name, dict)  # type: ignore[no-any-return]


def _keep(state: Any, name: str, xp: Any, *, reads: str, worker: int, kept: Sequence[str]) -> None:
    _reads(state, reads)[worker] = {variable: state.variables.read(variable) for variable in kept}


register("KeepRead", infer=lambda op: [], kernel=_keep, stateful=True)
