"""Driving a program: performing its effects, and taking the time of each phase where it happens."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Condition
from time import monotonic, perf_counter_ns
from typing import Any, Protocol

import numpy as np

from pslab.errors import CancelledError
from pslab.execution.compiler import Program
from pslab.execution.effects import Recv, Send, Wait
from pslab.graph.plan import Cut
from pslab.graph.registry import NotYet
from pslab.runtime.rendezvous import POLL_S
from pslab.runtime.tracing import Tracer

TELL_S = 10.0
"""Seconds after which an op that waits says so."""
_log = logging.getLogger("pslab.waiting")
"""Long waits are told here; ``pslab run`` shows them."""


@dataclass(slots=True)
class PhaseTimes:
    """Where the time of one task's part of a step went, in nanoseconds, and what it moved, in bytes on the wire.

    Attributes:
        compute: inside ops, those among them in which the task is slow on purpose.
        wait: waiting for a rule of consistency (a token, a mean gradient) or for the step to begin.
        push: sending.
        pull: receiving, without the waiting that the sender reported.
        bytes_sent: payload and headers sent.
        bytes_received: payload and headers received.
        bytes_fed: bytes that came as feeds, which are part of neither of the above.
        idle: between the last step that the same master drove here and the start of this one.
    """

    compute: int = 0
    wait: int = 0
    push: int = 0
    pull: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    bytes_fed: int = 0
    idle: int = 0

    def as_fields(self) -> tuple[int, ...]:
        """The numbers in order, for a message."""
        return (self.compute, self.wait, self.push, self.pull, self.bytes_sent, self.bytes_received, self.bytes_fed, self.idle)


class Link(Protocol):
    """A task's view of the others during one step."""

    def send(self, cut: Cut, arrays: tuple[Any, ...]) -> int:
        """Send a cut; returns bytes on the wire."""

    def recv(self, cut: Cut) -> tuple[tuple[Any, ...], int]:
        """Receive a cut; returns the arrays and bytes on the wire."""

    def alive(self) -> bool:
        """Whether somebody still wants the step's result."""


def drive(program: Program, feeds: Iterable[Any], link: Link, monitor: Condition, tracer: Tracer | None = None) -> tuple[tuple[Any, ...], PhaseTimes]:
    """Run ``program`` to its end.

    Args:
        program: the program.
        feeds: values of its fed tensors.
        link: the way to the other tasks of the step.
        monitor: what its blocking ops wait on.
        tracer: what looks at its ops one by one.

    Returns:
        The fetched values, and the phase times.

    Raises:
        OpError: an op failed (with its name, device and origin), a peer was lost, or the step was cancelled.
    """
    with np.errstate(all="ignore"):  # as TensorFlow: what is not finite is a value, not a warning
        if tracer is None:
            return _drive(program, feeds, link, monitor, None)
        with tracer:
            return _drive(program, feeds, link, monitor, tracer)


def _drive(program: Program, feeds: Iterable[Any], link: Link, monitor: Condition, tracer: Tracer | None) -> tuple[tuple[Any, ...], PhaseTimes]:
    times = PhaseTimes()
    steps = program.start(feeds)
    result: Any = None
    size = 0
    clock = perf_counter_ns()
    try:
        while True:
            effect = steps.send(result)
            now = perf_counter_ns()
            times.compute += now - clock
            try:
                if type(effect) is Send:
                    result = None
                    size = link.send(effect.cut, effect.arrays)
                    times.bytes_sent += size
                    clock = perf_counter_ns()
                    times.push += clock - now
                elif type(effect) is Recv:
                    result, size = link.recv(effect.cut)
                    times.bytes_received += size
                    clock = perf_counter_ns()
                    times.pull += clock - now
                elif type(effect) is Wait:
                    result = _wait(effect, monitor, link)
                    clock = perf_counter_ns()
                    if effect.busy:
                        times.compute += clock - now
                    else:
                        times.wait += clock - now
            except Exception as error:
                steps.throw(error)
            if tracer is not None:
                tracer.effect(effect, now, clock, size)
    except StopIteration as end:
        times.compute += perf_counter_ns() - clock
        return end.value, times
    except Exception as error:
        explained = program.explain(error)
        if explained is error:
            raise
        raise explained from error


def _wait(effect: Wait, monitor: Condition, link: Link) -> Any:
    with monitor:
        if isinstance(result := effect.poll(), NotYet):
            result = _wait_long(effect, monitor, link)
        monitor.notify_all()
    return result


def _wait_long(effect: Wait, monitor: Condition, link: Link) -> Any:
    began = monotonic()
    told = False
    while isinstance(result := effect.poll(), NotYet):
        if not monitor.wait(min(POLL_S, result.seconds)) and not link.alive():
            raise CancelledError(f"nobody waits for {effect.what!r} any more")
        if not told and monotonic() >= began + TELL_S:
            told = True
            _log.info("%r has been waiting for %.0f s", effect.what, TELL_S)
    return result
