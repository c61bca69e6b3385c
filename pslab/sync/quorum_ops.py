"""The ops of a quorum: a worker leaves it, and the chief waits for what as many as are left bring, and takes it in one critical section with its update.

A task's accumulators share one quorum, a resource made by the first op that touches it; `Task.drop_resources` with `QUORUMS`, and the beginning of a
name if wanted, forgets them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pslab.errors import OutOfRangeError
from pslab.graph.build import apply, apply_op
from pslab.graph.dtypes import as_dtype
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import NOT_YET, register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.sync.ops import accumulator_of, take
from pslab.sync.quorum import Quorum

QUORUMS = "sync/quorum/"
"""Beginning of the resource key of every quorum; its name follows."""


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
    attrs = {"accumulator": accumulator, "dtype": like.dtype.name, "shape": like.shape.dims, "aggregation": str(aggregation)}
    return apply("QuorumTake", [], name, **attrs)  # type: ignore[no-any-return]


def _infer_take(op: Operation) -> infer.Inferred:
    return [(as_dtype(op.attrs["dtype"]), TensorShape(op.attrs["shape"]))]


def _quorum(state: Any, quorum: str, workers: int, most: int, backup: int) -> Quorum:
    return state.resource(QUORUMS + quorum, lambda: Quorum(range(workers), most, backup))  # type: ignore[no-any-return]


def _leave(state: Any, name: str, xp: Any, *, worker: int, **rule: Any) -> None:
    _quorum(state, **rule).leave(worker)


def _ready(state: Any, name: str, xp: Any, *, accumulators: Sequence[str], **rule: Any) -> Any:
    required = _quorum(state, **rule).required
    if not required:
        raise OutOfRangeError("all workers are out of data: there is nobody whose gradient could be waited for", "more passes over the data")
    return () if all(accumulator_of(state, accumulator).pending() >= required for accumulator in accumulators) else NOT_YET


def _take(state: Any, name: str, xp: Any, *, accumulator: str, dtype: str, shape: Any, aggregation: str) -> Any:
    return take(state, accumulator, 1, aggregation)


register("QuorumLeave", infer=lambda op: [], kernel=_leave, stateful=True, signals=True)
register("QuorumReady", infer=lambda op: [], kernel=_ready, stateful=True, blocking=True)
register("QuorumTake", infer=_infer_take, kernel=_take, stateful=True)
