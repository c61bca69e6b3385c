"""The model that a trainer trains, as it is now."""

from __future__ import annotations

from typing import Any

import numpy as np

from pslab.data.partitions import DataSource
from pslab.errors import UsageError
from pslab.train.crew import Crew
from pslab.train.model_session import CHUNK


class TrainedModel:
    """What can be asked of the present parameters; the chief answers."""

    _crew: Crew
    _dataset: DataSource

    def evaluate(self, chunk: int = CHUNK) -> dict[str, float]:
        """Loss and metrics on the test set, with the present parameters; ``chunk`` examples at a time."""
        return self._crew.ask("evaluate", x=self._dataset.x_test, y=self._dataset.y_test, chunk=chunk)  # type: ignore[no-any-return]

    def predict(self, x: np.ndarray[Any, Any], chunk: int = CHUNK) -> dict[str, np.ndarray[Any, Any]]:
        """The model's outputs for examples, ``chunk`` of them at a time, by name.

        Raises:
            UsageError: the model has none, or ``x`` has another shape than the examples.
        """
        x = np.asarray(x, self._crew.features.x_dtype)
        if x.shape[1:] != self._crew.features.x_shape:
            raise UsageError(f"an example has shape {self._crew.features.x_shape}, found {x.shape[1:]}")
        return self._crew.ask("predict", x=x, chunk=chunk)  # type: ignore[no-any-return]

    def parameters(self) -> dict[str, np.ndarray[Any, Any]]:
        """The present values of the trained variables, by name."""
        return self._crew.ask("parameters")  # type: ignore[no-any-return]
