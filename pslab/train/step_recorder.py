"""How a worker's steps become records."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter, time
from typing import Any

import numpy as np

from pslab.runtime.driver import PhaseTimes
from pslab.trace.recorder import Recorder

_NS = 1e-9


class StepRecorder:
    """Writes the records of one worker's steps in one epoch.

    Args:
        recorder: where to.
        worker: index of the worker.
        epoch: the epoch, which stands for the strategy.
    """

    def __init__(self, recorder: Recorder, worker: int, epoch: int) -> None:
        self._recorder = recorder
        self._worker = worker
        self._epoch = epoch
        self._steps = 0
        self._ended = perf_counter()

    def record(
        self,
        global_step: int,
        loss: Any,
        metrics: Sequence[Any],
        times: PhaseTimes,
        *,
        staleness: float = np.nan,
        divergence: float = np.nan,
        paused_ns: int = 0,
        torn: int = 0,
        observed: bool = False,
    ) -> None:
        """Write one step, which has just ended; of its time, ``paused_ns`` is not to be counted."""
        now = perf_counter()
        self._steps += 1
        self._recorder.append(
            (
                time(),
                self._worker,
                self._steps,
                global_step,
                self._epoch,
                float(loss),
                *(float(m) for m in metrics),
                staleness,
                divergence,
                now - self._ended - paused_ns * _NS,
                times.compute * _NS,
                max(0, times.wait - paused_ns) * _NS,
                times.push * _NS,
                times.pull * _NS,
                times.bytes_sent,
                times.bytes_received,
                times.bytes_fed,
                torn,
                observed,
            )
        )
        self._ended = now
