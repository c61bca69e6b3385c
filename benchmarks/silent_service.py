"""A task whose steps are written nowhere."""

from typing import Any

from pslab.train import service
from pslab.train.step_recorder import StepRecorder


class _Silent(StepRecorder):
    def record(self, *values: Any, **named: Any) -> None:
        """Write nothing."""


service.StepRecorder = _Silent  # type: ignore[misc]


class SilentTaskService(service.TaskService):
    """See `pslab.train.service.TaskService`."""
