"""Looking at one run op by op: when each began, and how long it took (what TensorFlow 1's ``RunOptions.FULL_TRACE`` asks for).

A compiled program is Python, a line per op, so Python's own tracing tells when each line begins and ends; steps that are not traced pay nothing for it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from pslab.execution.compiler import Program
from pslab.execution.effects import Recv, Send, Wait
from pslab.graph.node import Node
from pslab.graph.packing import pack, unpack
from pslab.runtime.run_options import DeviceStepStats, NodeExecStats, StepStats


class Span(NamedTuple):
    """One op, or one exchange with another task.

    Attributes:
        name: the op's name; for an exchange, what it was.
        type: the op's type, ``Send``, ``Recv`` or ``Wait``.
        device: where it ran.
        began: nanoseconds since 1970.
        duration: nanoseconds.
        size: bytes on the wire; 0 for an op.
    """

    name: str
    type: str
    device: str
    began: int
    duration: int
    size: int


def pack_spans(spans: Iterable[Span]) -> bytes:
    """Encode spans for a message."""
    return pack(tuple(tuple(span) for span in spans))


def unpack_spans(data: bytes) -> list[Span]:
    """Decode what `pack_spans` encoded; no bytes are no spans."""
    return [Span(*plain) for plain in unpack(data)] if data else []


class Tracer:
    """Traces the ops that a program runs in this thread while it is entered.

    Args:
        program: the program.

    Attributes:
        spans: what was seen, in order.
    """

    def __init__(self, program: Program) -> None:
        self.spans: list[Span] = []
        self._program = program
        job, _, index = program.partition.task.partition(":")
        self._device = f"/job:{job}/replica:0/task:{index}/device:CPU:0"  # where exchanges are shown
        self._epoch = time.time_ns() - time.perf_counter_ns()
        self._open: tuple[Node, int] | None = None

    def __enter__(self) -> Tracer:
        self._before = sys.gettrace()
        sys.settrace(self._enter_frame)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        sys.settrace(self._before)

    def effect(self, effect: Send | Recv | Wait, began: int, ended: int, size: int) -> None:
        """An effect was performed, between these two readings of the clock."""
        self.spans.append(Span(_name(effect), type(effect).__name__, self._device, self._epoch + began, ended - began, size))

    def _enter_frame(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if frame.f_code.co_filename == self._program.file else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        now = time.perf_counter_ns()
        if self._open is not None:
            node, began = self._open
            self.spans.append(Span(node.name, node.type, node.device, self._epoch + began, now - began, 0))
        node_here = self._program.node_at(frame.f_lineno) if event == "line" else None
        self._open = (node_here, time.perf_counter_ns()) if node_here is not None else None
        return self._line


def _name(effect: Send | Recv | Wait) -> str:
    if isinstance(effect, Wait):
        return effect.what
    return f"{effect.cut.source} → {effect.cut.destination}: {', '.join(effect.cut.tensors) or 'control'}"


def step_stats(spans: Mapping[str, Iterable[Span]]) -> StepStats:
    """What was traced on each task, by device."""
    devices: dict[str, DeviceStepStats] = {}
    for traced in spans.values():
        for span in traced:
            device = devices.setdefault(span.device, DeviceStepStats(span.device))
            device.node_stats.append(NodeExecStats(span.name, span.type, span.began // 1000, max(1, span.duration // 1000), span.size))
    return StepStats(sorted(devices.values(), key=lambda d: d.device))
