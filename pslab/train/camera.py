"""A camera on the steps of a task's loops: while it runs, they are traced op by op; at other times it costs nothing."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pslab.errors import FailedPreconditionError
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.tensor import Tensor
from pslab.runtime.master import StepResult
from pslab.runtime.run_options import PLAIN, RunOptions
from pslab.runtime.session import Session, Step
from pslab.runtime.tracing import Span

EXCHANGES = ("Send", "Recv", "Wait")
"""Types of spans that are no ops."""
MOST = 200
"""Shots that a camera keeps: the latest."""


class Shot(NamedTuple):
    """One run of a step.

    Attributes:
        spans: each task's ops and exchanges, one by one.
    """

    spans: Mapping[str, Sequence[Span]]

    @property
    def ops(self) -> int:
        """How many ops ran."""
        return sum(map(len, self.spans.values()))

    @property
    def began(self) -> int:
        """When its first op began, in nanoseconds since 1970."""
        return min(span.began for spans in self.spans.values() for span in spans)

    @property
    def ended(self) -> int:
        """When its last op ended."""
        return max(span.began + span.duration for spans in self.spans.values() for span in spans)


def full_shots(shots: Sequence[Shot]) -> list[Shot]:
    """Those among some shots that are of whole steps: a claim, say, has fewer ops."""
    most = max((shot.ops for shot in shots), default=0)
    return [shot for shot in shots if shot.ops > most // 2]


class Timeline(NamedTuple):
    """What all tasks did during one step.

    Attributes:
        spans: each task's ops and exchanges, in order; those that reach over an end of the step are cut off there.
        began: when the step began, in nanoseconds since 1970.
        ended: when it ended.
    """

    spans: Mapping[str, Sequence[Span]]
    began: int
    ended: int

    @classmethod
    def of(cls, whose: Sequence[Shot], shots: Sequence[Shot]) -> Timeline:
        """The timeline of a step among ``whose``, of what was traced meanwhile.

        Raises:
            FailedPreconditionError: there is none.
        """
        found = full_shots(whose)
        if not found:
            raise FailedPreconditionError("no step was made while it was traced")
        step = found[-2:][0]  # the last but one: others are through with what they did meanwhile
        began, ended = step.began, step.ended
        spans: dict[str, list[Span]] = {}
        for shot in shots:
            for task, seen in shot.spans.items():
                for span in seen:
                    first, last = max(span.began, began), min(span.began + span.duration, ended)
                    if last > first:
                        spans.setdefault(task, []).append(span._replace(began=first, duration=last - first))
        return cls({task: sorted(seen, key=lambda s: s.began) for task, seen in sorted(spans.items())}, began, ended)

    def busy(self, task: str) -> float:
        """The share of the step in which a task computed, from 0 to 1; what runs at once counts once."""
        total, reached = 0, self.began
        for span in self.spans.get(task, ()):
            if span.type not in EXCHANGES:
                total += max(0, span.began + span.duration - max(reached, span.began))
                reached = max(reached, span.began + span.duration)
        return total / (self.ended - self.began)


class Camera:
    """Keeps what was traced while it runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shots: list[Shot] = []
        self.runs = False

    def start(self) -> None:
        """Trace the steps that begin from now on."""
        with self._lock:
            self._shots, self.runs = [], True

    def stop(self) -> list[Shot]:
        """Trace no further steps; those that were."""
        with self._lock:
            self.runs = False
            return self._shots

    def shots(self) -> list[Shot]:
        """What was traced until now."""
        with self._lock:
            return list(self._shots)

    def keep(self, result: StepResult) -> None:
        """Keep what a traced step gave."""
        with self._lock:
            if self.runs and result.spans:
                self._shots = [*self._shots[1 - MOST :], Shot(result.spans)]


class FilmedSession(Session):
    """A session whose prepared steps a camera looks at.

    Args:
        camera: the camera.
        target: as of `Session`.
        graph: as of `Session`.
    """

    def __init__(self, camera: Camera, target: str, graph: Graph) -> None:
        super().__init__(target, graph)
        self._camera = camera

    def prepare(self, fetches: Sequence[Tensor | Operation], feeds: Sequence[Tensor]) -> Step:
        """As `Session.prepare`."""
        return _Filmed(super().prepare(fetches, feeds), self._camera)


class _Filmed:
    def __init__(self, step: Step, camera: Camera) -> None:
        self._step = step
        self._camera = camera

    @property
    def borrowed(self) -> Sequence[bool]:
        return self._step.borrowed

    def run(self, feeds: Sequence[Any], options: RunOptions = PLAIN) -> StepResult:
        if not self._camera.runs:
            return self._step.run(feeds, options)
        result = self._step.run(feeds, _TRACED)
        self._camera.keep(result)
        return result


_TRACED = RunOptions(trace_level=RunOptions.FULL_TRACE)
