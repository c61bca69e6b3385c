"""The model that a trainer trains, as it is now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pslab.data.partitions import DataSource
from pslab.errors import OpError, UsageError
from pslab.train.crew import PATIENCE_S
from pslab.train.loop import LoopStatus
from pslab.train.model_session import CHUNK
from pslab.train.watch import Watch


class TrainedModel(Watch):
    """What can be asked of the present parameters, at a quiet moment where they live on the workers; the chief answers."""

    _dataset: DataSource

    def evaluate(self, chunk: int = CHUNK) -> dict[str, float]:
        """Loss and metrics on the test set, with the present parameters; ``chunk`` examples at a time."""
        self._rest()
        return self._crew.ask("evaluate", x=self._dataset.x_test, y=self._dataset.y_test, chunk=chunk)  # type: ignore[no-any-return]

    def predict(self, x: np.ndarray[Any, Any], chunk: int = CHUNK) -> dict[str, np.ndarray[Any, Any]]:
        """The model's outputs for examples, ``chunk`` of them at a time, by name.

        Raises:
            UsageError: the model has none, or ``x`` has another shape than the examples.
        """
        x = np.asarray(x, self._crew.features.x_dtype)
        if x.shape[1:] != self._crew.features.x_shape:
            raise UsageError(f"an example has shape {self._crew.features.x_shape}, found {x.shape[1:]}")
        self._rest()
        return self._crew.ask("predict", x=x, chunk=chunk)  # type: ignore[no-any-return]

    def parameters(self) -> dict[str, np.ndarray[Any, Any]]:
        """The present values of the trained variables, by name."""
        self._rest()
        return self._crew.ask("parameters")  # type: ignore[no-any-return]

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """No update is under way within the block."""
        if not (self._crew.active and self._state == "running"):
            yield
            return
        self._crew.pause()
        try:
            self._settle()
            yield
        finally:
            self._crew.limit(self._target)

    def _rest(self) -> None:
        """Let the parameters be on the ps as they are now, where they live on the workers."""
        with self._lock:
            if self._crew.active and self._strategy.resident:
                with self._quiet():
                    self._until(lambda: self._crew.settled() or self._failures() or self._stuck(), PATIENCE_S, "the updates in flight")
                    self._publish()

    def _publish(self) -> None:
        """Let the ps have the parameters that live on the workers; where some of them are lost, recover."""
        try:
            self._crew.publish()
        except OpError as error:
            self._recover(error)

    def _failures(self) -> list[LoopStatus]:
        return [loop for loops in self._crew.loops().values() for loop in loops if loop.error is not None]

    def _stuck(self) -> bool:
        """Whether what was claimed waits for a worker that is out of data."""
        finite = self._crew.division.passes is not None
        return finite and self._strategy.resident and any(loop.out for loops in self._crew.loops().values() for loop in loops)

    def _settle(self) -> None:
        """Wait until the updates that were claimed are made."""
        with self._crew.sleepers.awake():
            self._until(lambda: self._crew.settled() or self._stuck(), PATIENCE_S, "the updates in flight")
