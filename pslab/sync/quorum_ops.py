"""The ops of a quorum: a worker leaves it, and the chief takes what as many as are left have brought.

Where all of them make an update, each task can have a quorum of its own (`quorum_take`). Where some do, one task chooses, and the accumulators of all go by
that (`quorum_bring`, `quorum_choose`, `take_chosen`): else each would take others, and a worker could wait for an answer that it has had from none of them.

A quorum is a resource made by the first op that touches it; `Task.drop_resources` with `QUORUMS`, and the beginning of a
name if wanted, forgets them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pslab.errors import OutOfRangeError
from pslab.graph.build import apply, apply_op
from pslab.graph.dtypes import as_dtype, int64
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import NOT_YET, register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.sync.ops import accumulator_of
from pslab.sync.quorum import Quorum

QUORUMS = "sync/quorum/"
"""Beginning of the resource key of every quorum; its name follows."""

_NOBODY = "all workers are out of data: there is nobody whose gradient could be waited for", "more passes over the data"


@dataclass(frozen=True)
class QuorumRule:
    """Which quorum, and how it begins; the arguments of `Quorum`.

    Attributes:
        quorum: its name.
        workers: how many workers there are.
        most: how many contributions an update waits for at most.
        backup: how many of the workers it does without.
    """

    quorum: str
    workers: int
    most: int
    backup: int


def quorum_leave(rule: QuorumRule, worker: int, name: str | None = None) -> Operation:
    """An op by which ``worker`` leaves the quorum of the device in force."""
    return apply_op("QuorumLeave", [], name, **asdict(rule), worker=worker)


def quorum_take(rule: QuorumRule, accumulator: str, like: Variable, aggregation: str, name: str | None = None) -> Tensor:
    """An op that waits until an accumulator has a quorum of gradients, takes all it has, and gives their aggregate.

    It fails with `OutOfRangeError` once everybody has left.

    Args:
        rule: the quorum, of the accumulator's task.
        accumulator: name of the accumulator.
        like: the variable whose gradients they are.
        aggregation: as of `pslab.sync.ops.accumulator_take_gradient`.
        name: name of the op.
    """
    return apply("QuorumTake", [], name, **asdict(rule), **_described(accumulator, like, aggregation))  # type: ignore[no-any-return]


def quorum_bring(rule: QuorumRule, worker: int, name: str | None = None) -> Operation:
    """An op that tells the quorum of the device in force that ``worker`` hands a gradient in, to the accumulators of all variables."""
    return apply_op("QuorumBring", [], name, **asdict(rule), worker=worker)


def quorum_choose(rule: QuorumRule, name: str | None = None) -> Tensor:
    """An op that waits until enough was brought: an int64 vector of the workers whose gradients make the next update.

    It fails with `OutOfRangeError` once everybody has left and nothing is there.
    """
    return apply("QuorumChoose", [], name, **asdict(rule))  # type: ignore[no-any-return]


def take_chosen(chosen: Tensor, accumulator: str, like: Variable, aggregation: str, name: str | None = None) -> Tensor:
    """An op that waits until an accumulator has the gradients of the ``chosen`` workers, takes those, and gives their aggregate."""
    return apply("TakeChosen", [chosen], name, **_described(accumulator, like, aggregation))  # type: ignore[no-any-return]


def _described(accumulator: str, like: Variable, aggregation: str) -> dict[str, Any]:
    return {"accumulator": accumulator, "dtype": like.dtype.name, "shape": like.shape.dims, "aggregation": str(aggregation)}


def _infer_take(op: Operation) -> infer.Inferred:
    return [(as_dtype(op.attrs["dtype"]), TensorShape(op.attrs["shape"]))]


def _quorum(state: Any, quorum: str, workers: int, most: int, backup: int) -> Quorum:
    return state.resource(QUORUMS + quorum, lambda: Quorum(range(workers), most, backup))  # type: ignore[no-any-return]


def _leave(state: Any, name: str, xp: Any, *, worker: int, **rule: Any) -> None:
    _quorum(state, **rule).leave(worker)


def _take(state: Any, name: str, xp: Any, *, accumulator: str, dtype: str, shape: Any, aggregation: str, **rule: Any) -> Any:
    quorum = _quorum(state, **rule)
    if quorum.over:
        raise OutOfRangeError(*_NOBODY)
    return accumulator_of(state, accumulator).take(quorum.required, aggregation)


def _bring(state: Any, name: str, xp: Any, *, worker: int, **rule: Any) -> None:
    _quorum(state, **rule).bring(worker)


def _choose(state: Any, name: str, xp: Any, **rule: Any) -> Any:
    quorum = _quorum(state, **rule)
    if quorum.over:
        raise OutOfRangeError(*_NOBODY)
    return np.array(chosen, np.int64) if (chosen := quorum.choose()) else NOT_YET


def _take_chosen(state: Any, name: str, xp: Any, chosen: Any, *, accumulator: str, dtype: str, shape: Any, aggregation: str) -> Any:
    return accumulator_of(state, accumulator).take_of([int(worker) for worker in chosen], aggregation)


register("QuorumLeave", infer=lambda op: [], kernel=_leave, stateful=True, signals=True)
register("QuorumBring", infer=lambda op: [], kernel=_bring, stateful=True, signals=True)
register("QuorumTake", infer=_infer_take, kernel=_take, stateful=True, blocking=True)
register("QuorumChoose", infer=lambda op: [(int64, TensorShape([None]))], kernel=_choose, stateful=True, blocking=True, host_only=True)
register("TakeChosen", infer=_infer_take, kernel=_take_chosen, stateful=True, blocking=True)
