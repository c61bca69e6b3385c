"""Gathering the gradients of one variable from many workers (the rule of TensorFlow's ``ConditionalAccumulator``)."""

from __future__ import annotations

from typing import Any, NamedTuple

from pslab.errors import InvalidArgumentError
from pslab.graph.registry import NOT_YET


class AccumulatorStats(NamedTuple):
    """What became of the gradients that were handed in.

    Attributes:
        applied: accepted since the accumulator was made, those taken and those pending together.
        dropped: refused because they were stale.
        pending: accepted and not yet taken.
    """

    applied: int
    dropped: int
    pending: int


class Accumulator:
    """The pending gradients of one variable, and the global step that they must not be older than.

    Gradients are kept one by one and added up in the order of their workers when they are taken, so that the sum is the same, bit for bit, in
    whatever order they arrive. The arrays are kept, not copied: nobody may write to an array once it is handed in.

    Attributes:
        global_step: gradients computed at an older step are stale.
    """

    def __init__(self, global_step: int = 0) -> None:
        self.global_step = global_step
        self._gradients: list[tuple[int, Any]] = []
        self._applied = 0
        self._dropped = 0

    def apply_grad(self, worker: int, local_step: int, gradient: Any) -> bool:
        """Hand in a gradient.

        Args:
            worker: index of the worker; it sets the place in the sum. Gradients of one worker are added in the order they come.
            local_step: the global step of the parameters that the gradient was computed at.
            gradient: an array.

        Returns:
            Whether it was accepted: False if ``local_step`` is less than the global step; it is dropped then, and counted.

        Raises:
            InvalidArgumentError: its shape or dtype is not that of the pending gradients.
        """
        if local_step < self.global_step:
            self._dropped += 1
            return False
        if self._gradients:
            first = self._gradients[0][1]
            if gradient.shape != first.shape or gradient.dtype != first.dtype:
                raise InvalidArgumentError(
                    f"the gradient of worker {worker} is {gradient.dtype} of shape {gradient.shape}, "
                    f"that of worker {self._gradients[0][0]} {first.dtype} of shape {first.shape}"
                )
        self._gradients.append((worker, gradient))
        self._applied += 1
        return True

    def take_grad(self, num_required: int) -> Any:
        """The mean of all pending gradients, or `NOT_YET` while there are fewer than ``num_required``. See `take_sum`."""
        count = len(self._gradients)
        total = self.take_sum(num_required)
        if total is not NOT_YET and count > 1:
            total /= count
        return total

    def take_sum(self, num_required: int) -> Any:
        """The sum of all pending gradients, or `NOT_YET` while there are fewer than ``num_required``.

        When taken, none is pending any more and the global step is one more, so that a gradient still on its way is stale.

        Raises:
            InvalidArgumentError: ``num_required`` is less than 1.
        """
        if num_required < 1:
            raise InvalidArgumentError(f"expected to wait for at least 1 gradient, not {num_required}")
        if len(self._gradients) < num_required:
            return NOT_YET
        (_, first), *others = sorted(self._gradients, key=lambda entry: entry[0])  # stable: the order of arrival within a worker
        total = first.copy()
        for _, gradient in others:
            total += gradient
        self._gradients = []
        self.global_step += 1
        return total

    def set_global_step(self, step: int) -> None:
        """Go to global step ``step``, which may be an earlier one: a checkpoint was restored. Pending gradients stay."""
        self.global_step = step

    def pending(self) -> int:
        """The number of gradients accepted and not yet taken."""
        return len(self._gradients)

    def stats(self) -> AccumulatorStats:
        """Counts of gradients."""
        return AccumulatorStats(self._applied, self._dropped, len(self._gradients))
