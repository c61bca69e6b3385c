"""A worker that is slower than the others: it sleeps between computing its gradients and handing them in, by two ops of its graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter_ns
from typing import Any

import numpy as np

from pslab.graph.build import apply, apply_op
from pslab.graph.dtypes import int64
from pslab.graph.operation import Operation
from pslab.graph.registry import NotYet, register
from pslab.graph.shape import scalar
from pslab.graph.tensor import Tensor
from pslab.train.delays import Delay

STRAGGLER = "straggler"
"""Key of a task's `Straggler` among its resources."""


class Straggler:
    """How much longer a worker takes in each step. It has one sleep at a time. A state machine: no threads, no clock of its own.

    Attributes:
        delay: the delay of its steps; None where it is as fast as it can be.
    """

    def __init__(self) -> None:
        self.delay: Delay | None = None
        self._rng = np.random.default_rng()
        self._sleep = 0
        self._ends_ns = 0
        self._awake = False

    def slow(self, delay: Delay | None, seed: int) -> None:
        """Take on a delay. A sleep in progress ends; where the delay is the one that it has already, nothing happens.

        Args:
            delay: from the next step on.
            seed: the sequence of delays that are drawn depends on it alone.
        """
        if delay != self.delay:
            self.delay = delay
            self._rng = np.random.default_rng(seed)
            self._ends_ns = 0

    def wake(self) -> None:
        """End the sleep in progress, and let none begin until `doze`."""
        self._awake = True
        self._ends_ns = 0

    def doze(self) -> None:
        """Let sleeps begin again."""
        self._awake = False

    def begin(self, now_ns: int) -> int:
        """Begin the sleep of a step; its number. One that is still in progress, of a step that was given up, ends."""
        self._sleep += 1
        self._ends_ns = 0 if self.delay is None or self._awake else now_ns + round(self.delay.draw(self._rng) * 1e9)
        return self._sleep

    def left_ns(self, sleep: int, now_ns: int) -> int:
        """Nanoseconds until a sleep is over; 0 if it is."""
        return max(0, self._ends_ns - now_ns) if sleep == self._sleep else 0


def straggler_of(state: Any) -> Straggler:
    """How a task is held up. Call it under the task's monitor."""
    return state.resource(STRAGGLER, Straggler)  # type: ignore[no-any-return]


@contextmanager
def changing(state: Any) -> Iterator[Straggler]:
    """A block that changes how a task is held up, at once."""
    with state.monitor:
        yield straggler_of(state)
        state.monitor.notify_all()


def held_up(gradients: Sequence[Tensor]) -> Operation:
    """An op after which a step may go on that has computed ``gradients``: the time until then counts as computing."""
    with gradients[0].graph.control_dependencies([g.op for g in gradients]):
        return apply_op("StragglerSleep", [apply("StragglerBegin", ())])


def _begin(state: Any, name: str, xp: Any) -> Any:
    if straggler_of(state).delay is None:  # as in most steps, which shall not pay for it
        return _NO_SLEEP
    with state.monitor:
        return np.int64(straggler_of(state).begin(perf_counter_ns()))


_NO_SLEEP = np.int64(0)


def _sleep(state: Any, name: str, xp: Any, sleep: Any) -> Any:
    left = straggler_of(state).left_ns(int(sleep), perf_counter_ns())
    return NotYet(left * 1e-9) if left else None


register("StragglerBegin", infer=lambda op: [(int64, scalar())], kernel=_begin, stateful=True, locked=False, host_only=True)
register("StragglerSleep", infer=lambda op: [], kernel=_sleep, stateful=True, blocking=True, busy=True, host_only=True)
