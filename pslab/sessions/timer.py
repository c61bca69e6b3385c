"""When something is due: every so many seconds, or every so many steps (TensorFlow 1's ``tf.train.SecondOrStepTimer``)."""

from __future__ import annotations

from time import monotonic

from pslab.errors import UsageError


class SecondOrStepTimer:
    """Says when something is due.

    Args:
        every_secs: seconds between two times.
        every_steps: or steps.

    Raises:
        UsageError: both are given, or neither.
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if (every_secs is None) == (every_steps is None):
            raise UsageError(f"exactly one of every_secs and every_steps must be given, found {every_secs} and {every_steps}")
        self._every_secs = every_secs
        self._every_steps = every_steps
        self._last_time: float | None = None
        self._last_step: int | None = None

    def reset(self) -> None:
        """Begin anew: the next time is due at once."""
        self._last_time = self._last_step = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it is due at this step. It never is twice at the same."""
        if self._last_step is None or self._last_time is None:
            return True
        if step == self._last_step:
            return False
        if self._every_secs is not None:
            return monotonic() >= self._last_time + self._every_secs
        return self._every_steps is not None and step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Note that it was done; returns seconds and steps since the last time, None at the first."""
        now = monotonic()
        elapsed = (None, None) if self._last_time is None or self._last_step is None else (now - self._last_time, step - self._last_step)
        self._last_time, self._last_step = now, step
        return elapsed

    def last_triggered_step(self) -> int | None:
        """The step at which it was done last."""
        return self._last_step
