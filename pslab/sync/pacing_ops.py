"""The ops that hold a worker up until it may go on: for an update that it takes part in, or for workers that are too far behind.

Clocks are resources of a task, made by the first op that touches them; `Task.drop_resources` with `CLOCKS`, and the beginning of a name if wanted,
forgets them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pslab.graph.build import apply_one, apply_op
from pslab.graph.dtypes import as_dtype, int64
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import NOT_YET, register
from pslab.graph.shape import TensorShape, scalar
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.sync.claim_ops import claims_of
from pslab.sync.clock import StalenessClock
from pslab.sync.ledger_ops import enter_read, ledger_of

CLOCKS = "sync/clock/"
"""Beginning of the resource key of every clock; its name follows."""


def step_after(global_step: Variable, step: Tensor, epoch: str, name: str | None = None) -> Tensor:
    """Wait until the global step is greater than ``step``, an int64 scalar, and no longer than this epoch of claims is on; the global step then."""
    return apply_one("StepAfter", [step], name, variable=global_step.op.name, epoch=epoch)


@dataclass(frozen=True)
class Pace:
    """Whom a task's clock holds up.

    Attributes:
        clock: name of the clock, and of the ledger that is told when a worker reads.
        workers: how many workers there are.
        staleness: how many steps one may be ahead of the slowest.
    """

    clock: str
    workers: int
    staleness: int


def clock_tick(pace: Pace, worker: int, read: Sequence[Variable], name: str | None = None) -> Operation:
    """An op that counts a step of ``worker``. Whoever may go on by that reads the variables ``read`` of this task at this moment."""
    return apply_op("ClockTick", [], name, **asdict(pace), worker=worker, read=tuple(v.op.name for v in read))


def clock_leave(pace: Pace, worker: int, read: Sequence[Variable], name: str | None = None) -> Operation:
    """An op by which ``worker`` leaves the clock: nobody waits for it any more. Whoever may go on by that reads, as at a `clock_tick`."""
    return apply_op("ClockLeave", [], name, **asdict(pace), worker=worker, read=tuple(v.op.name for v in read))


def clock_read(pace: Pace, worker: int, read: Sequence[Variable], name: str | None = None) -> Operation:
    """An op that waits until ``worker`` may begin its next step. Its outputs are the variables ``read`` as they were when it was let go."""
    described = {"dtypes": tuple(v.dtype.name for v in read), "shapes": tuple(v.shape.dims for v in read)}
    return apply_op("ClockRead", [], name, clock=pace.clock, worker=worker, read=tuple(v.op.name for v in read), **described)


def _infer_read(op: Operation) -> infer.Inferred:
    return [(as_dtype(d), TensorShape(s)) for d, s in zip(op.attrs["dtypes"], op.attrs["shapes"], strict=True)]


def _step_after(state: Any, name: str, xp: Any, step: Any, *, variable: str, epoch: str) -> Any:
    now = state.variables.read(variable)
    if now > step:
        return now
    claims_of(state).check(epoch)
    return NOT_YET


def _clock(state: Any, clock: str, workers: int, staleness: int) -> StalenessClock:
    return state.resource(CLOCKS + clock, lambda: StalenessClock(range(workers), staleness))  # type: ignore[no-any-return]


def _tick(state: Any, name: str, xp: Any, *, clock: str, workers: int, staleness: int, worker: int, read: Sequence[str]) -> None:
    for released in _clock(state, clock, workers, staleness).tick(worker):
        enter_read(state, clock, released, read)


def _leave(state: Any, name: str, xp: Any, *, clock: str, workers: int, staleness: int, worker: int, read: Sequence[str]) -> None:
    for released in _clock(state, clock, workers, staleness).leave(worker):
        enter_read(state, clock, released, read)


def _read(state: Any, name: str, xp: Any, *, clock: str, worker: int, read: Sequence[str], dtypes: Any, shapes: Any) -> Any:
    if state.resource(CLOCKS + clock, _nobody).holds(worker):
        return NOT_YET
    seen = ledger_of(state, clock).seen(worker)
    values = tuple(seen[variable] for variable in read)
    return values[0] if len(values) == 1 else values


def _nobody() -> StalenessClock:
    """A clock that holds nobody: that of an epoch which is over."""
    return StalenessClock((), 0)


register("StepAfter", infer=lambda op: [(int64, scalar())], kernel=_step_after, stateful=True, blocking=True, host_only=True)
register("ClockTick", infer=lambda op: [], kernel=_tick, stateful=True, signals=True)
register("ClockLeave", infer=lambda op: [], kernel=_leave, stateful=True, signals=True)
register("ClockRead", infer=_infer_read, kernel=_read, stateful=True, blocking=True)
