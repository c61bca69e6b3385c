"""The store of a task's variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pslab.errors import FailedPreconditionError


class VariableStore:
    """Values by variable name. The arrays in it are never written to: an update puts another array in place of the old one, so a reader keeps what it read.

    The task's monitor must be held by whoever reads several values that belong together, or reads and then assigns.
    """

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def read(self, name: str) -> Any:
        """The present value.

        Raises:
            FailedPreconditionError: the variable has none yet.
        """
        try:
            return self._values[name]
        except KeyError:
            raise FailedPreconditionError(
                f"variable {name!r} is not initialised", "run pslab.global_variables_initializer(), or restore a checkpoint"
            ) from None

    def assign(self, name: str, value: Any) -> Any:
        """Replace the value, and return it. Nobody may write to the array from now on."""
        self._values[name] = value
        return value

    def discard(self, name: str) -> None:
        """Forget a variable, if it is there."""
        self._values.pop(name, None)

    def clear(self) -> None:
        """Forget all variables."""
        self._values.clear()

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._values))

    def __len__(self) -> int:
        return len(self._values)
