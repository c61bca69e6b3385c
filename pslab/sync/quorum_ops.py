"""The ops of a quorum: a worker leaves it, and the chief waits for what as many as are left bring, and takes it in one critical section with its update.

The ops that wait (`quorum_ready`, `quorum_brought`, `chosen_ready`) take nothing: what takes comes after, in one critical section with the update. Where all
workers make an update, each task can have a quorum of its own (`quorum_take`). Where some do, one task chooses, and the accumulators of all go by that
(`quorum_bring`, `quorum_choose`, `take_chosen`): else each would take others, and a worker could wait for an answer that it has had from none of them.

A quorum is a resource made by the first op that touches it; `Task.drop_resources` with `QUORUMS`, and the beginning of a
name if wanted, forgets them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pslab.errors import OutOfRangeError
from pslab.graph.build import apply_one, apply_op
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


def quorum_ready(rule: QuorumRule, accumulators: Sequence[str], name: str | None = None) -> Operation:
    """An op that waits until each of these accumulators has a quorum of gradients. It fails with `OutOfRangeError` once everybody has left."""
    return apply_op("QuorumReady", [], name, **asdict(rule), accumulators=tuple(accumulators))


def quorum_take(accumulator: str, like: Variable, aggregation: str, name: str | None = None) -> Tensor:
    """An op that takes all that an accumulator has, after a `quorum_ready`: its aggregate.

    Args:
        accumulator: name of the accumulator.
        like: the variable whose gradients they are.
        aggregation: as of `pslab.sync.ops.accumulator_take_gradient`.
        name: name of the op.
    """
    return apply_one("QuorumTake", [], name, **_described(accumulator, like, aggregation))


def quorum_bring(rule: QuorumRule, worker: int, name: str | None = None) -> Operation:
    """An op that tells the quorum of the device in force that ``worker`` hands a gradient in, to the accumulators of all variables."""
    return apply_op("QuorumBring", [], name, **asdict(rule), worker=worker)


def quorum_brought(rule: QuorumRule, name: str | None = None) -> Operation:
    """An op that waits until enough was brought. It fails with `OutOfRangeError` once everybody has left and nothing is there."""
    return apply_op("QuorumBrought", [], name, **asdict(rule))


def quorum_choose(rule: QuorumRule, name: str | None = None) -> Tensor:
    """An op that chooses, after a `quorum_brought`: an int64 vector of the workers whose gradients make the next update."""
    return apply_one("QuorumChoose", [], name, **asdict(rule))


def chosen_ready(chosen: Tensor, accumulators: Sequence[str], name: str | None = None) -> Operation:
    """An op that waits until each of these accumulators has the gradients of the ``chosen`` workers."""
    return apply_op("ChosenReady", [chosen], name, accumulators=tuple(accumulators))


def take_chosen(chosen: Tensor, accumulator: str, like: Variable, aggregation: str, name: str | None = None) -> Tensor:
    """An op that takes the gradients of the ``chosen`` workers, which an accumulator has: their aggregate."""
    return apply_one("TakeChosen", [chosen], name, **_described(accumulator, like, aggregation))


def _described(accumulator: str, like: Variable, aggregation: str) -> dict[str, Any]:
    return {"accumulator": accumulator, "dtype": like.dtype.name, "shape": like.shape.dims, "aggregation": str(aggregation)}


def _infer_take(op: Operation) -> infer.Inferred:
    return [(as_dtype(op.attrs["dtype"]), TensorShape(op.attrs["shape"]))]


def _quorum(state: Any, quorum: str, workers: int, most: int, backup: int) -> Quorum:
    return state.resource(QUORUMS + quorum, lambda: Quorum(range(workers), most, backup))  # type: ignore[no-any-return]


def _leave(state: Any, name: str, xp: Any, *, worker: int, **rule: Any) -> None:
    _quorum(state, **rule).leave(worker)


def _ready(state: Any, name: str, xp: Any, *, accumulators: Sequence[str], **rule: Any) -> Any:
    quorum = _goes_on(_quorum(state, **rule))
    return () if all(accumulator_of(state, a).pending() >= quorum.required for a in accumulators) else NOT_YET


def _take(state: Any, name: str, xp: Any, *, accumulator: str, dtype: str, shape: Any, aggregation: str) -> Any:
    return accumulator_of(state, accumulator).take(1, aggregation)


def _bring(state: Any, name: str, xp: Any, *, worker: int, **rule: Any) -> None:
    _quorum(state, **rule).bring(worker)


def _brought(state: Any, name: str, xp: Any, **rule: Any) -> Any:
    return () if _goes_on(_quorum(state, **rule)).enough else NOT_YET


def _choose(state: Any, name: str, xp: Any, **rule: Any) -> Any:
    return np.array(_quorum(state, **rule).choose(), np.int64)


def _chosen_ready(state: Any, name: str, xp: Any, chosen: Any, *, accumulators: Sequence[str]) -> Any:
    return () if all(accumulator_of(state, a).has(_numbers(chosen)) for a in accumulators) else NOT_YET


def _take_chosen(state: Any, name: str, xp: Any, chosen: Any, *, accumulator: str, dtype: str, shape: Any, aggregation: str) -> Any:
    return accumulator_of(state, accumulator).take_of(_numbers(chosen), aggregation)


def _numbers(chosen: Any) -> list[int]:
    return [int(worker) for worker in chosen]


def _goes_on(quorum: Quorum) -> Quorum:
    if quorum.over:
        raise OutOfRangeError(*_NOBODY)
    return quorum


register("QuorumLeave", infer=lambda op: [], kernel=_leave, stateful=True, signals=True)
register("QuorumBring", infer=lambda op: [], kernel=_bring, stateful=True, signals=True)
register("QuorumReady", infer=lambda op: [], kernel=_ready, stateful=True, blocking=True)
register("QuorumTake", infer=_infer_take, kernel=_take, stateful=True)
register("QuorumBrought", infer=lambda op: [], kernel=_brought, stateful=True, blocking=True)
register("QuorumChoose", infer=lambda op: [(int64, TensorShape([None]))], kernel=_choose, stateful=True, host_only=True)
register("ChosenReady", infer=lambda op: [], kernel=_chosen_ready, stateful=True, blocking=True)
register("TakeChosen", infer=_infer_take, kernel=_take_chosen, stateful=True)
