"""How many global steps there are per second."""

from __future__ import annotations

import logging
from time import monotonic

from pslab.graph.variables import Variable
from pslab.runtime.session import Session
from pslab.summary.writer import FileWriter

_log = logging.getLogger("pslab.program")


class StepRate:
    """Logs and writes the steps per second since it was called last.

    Args:
        session: reads the step.
        global_step: the step.
        writer: writes the summary.
    """

    def __init__(self, session: Session, global_step: Variable, writer: FileWriter) -> None:
        self._session = session
        self._global_step = global_step
        self._writer = writer
        self._last: tuple[float, int] | None = None

    def __call__(self) -> None:
        """Look at the step, and tell of the time since the last look."""
        now, step = monotonic(), int(self._session.run(self._global_step))
        if self._last is not None and now > self._last[0]:
            rate = (step - self._last[1]) / (now - self._last[0])
            tag = f"{self._global_step.op.name}/sec"
            _log.info("%s: %g", tag, rate)
            self._writer.add_scalar(tag, rate, step)
        self._last = now, step
