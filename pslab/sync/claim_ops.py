"""The ops by which a training loop claims its next update."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

import numpy as np

from pslab.graph.build import apply_one, apply_op
from pslab.graph.dtypes import bool_, int64
from pslab.graph.operation import Operation
from pslab.graph.registry import NOT_YET, register
from pslab.graph.shape import scalar
from pslab.graph.tensor import Tensor
from pslab.sync.claims import Claims

CLAIMS = "claims"
"""Key of a task's `Claims` among its resources."""

_GRANTED, _REFUSED = np.bool_(True), np.bool_(False)


def claims_of(state: Any) -> Claims:
    """The claims that are kept on a task. Call it under the task's monitor."""
    return state.resource(CLAIMS, Claims)  # type: ignore[no-any-return]


def _try_claim(state: Any, name: str, xp: Any, *, epoch: str) -> Any:
    return _GRANTED if claims_of(state).claim(epoch, perf_counter_ns()) else _REFUSED


def _claim(state: Any, name: str, xp: Any, *, epoch: str) -> Any:
    return _GRANTED if claims_of(state).claim(epoch, perf_counter_ns()) else NOT_YET


def _give_back(state: Any, name: str, xp: Any, *, epoch: str) -> None:
    claims_of(state).give_back(epoch)


def _paused_time(state: Any, name: str, xp: Any) -> Any:
    return np.int64(claims_of(state).paused_ns)


register("TryClaim", infer=lambda op: [(bool_, scalar())], kernel=_try_claim, stateful=True)
register("Claim", infer=lambda op: [(bool_, scalar())], kernel=_claim, stateful=True, blocking=True)
register("GiveBack", infer=lambda op: [], kernel=_give_back, stateful=True, signals=True)
register("PausedTime", infer=lambda op: [(int64, scalar())], kernel=_paused_time, stateful=True)


def try_claim(epoch: str) -> Tensor:
    """Claim the next update: a boolean scalar, whether it was granted."""
    return apply_one("TryClaim", (), epoch=epoch)


def claim(epoch: str) -> Tensor:
    """Wait until the next update can be claimed, and claim it: true."""
    return apply_one("Claim", (), epoch=epoch)


def give_back(epoch: str, name: str | None = None) -> Operation:
    """An op that gives back a claim which is not used."""
    return apply_op("GiveBack", (), name, epoch=epoch)


def paused_time(name: str | None = None) -> Tensor:
    """For how long, in all, updates stood before the limit: an int64 scalar in nanoseconds."""
    return apply_one("PausedTime", (), name)
