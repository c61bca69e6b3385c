"""When a run is given up."""

from __future__ import annotations

from time import monotonic

from pslab.errors import DeadlineExceededError


class Deadline:
    """So many seconds from now.

    Args:
        *seconds: the least of these counts; None stands for never.

    Attributes:
        given: whether there is an end at all.
    """

    def __init__(self, *seconds: float | None) -> None:
        limits = [s for s in seconds if s is not None]
        self.given = bool(limits)
        self._seconds = min(limits, default=0.0)
        self._end = monotonic() + self._seconds

    def check(self, at_work: str) -> None:
        """See whether it is over.

        Raises:
            DeadlineExceededError: it is; the message names what is still at work.
        """
        if self.given and monotonic() > self._end:
            raise DeadlineExceededError(f"the step was not done in {self._seconds:g} s; still at work: {at_work}")
