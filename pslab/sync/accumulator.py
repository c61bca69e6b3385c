"""Gathering the gradients of one variable from many workers (the rule of TensorFlow's ``ConditionalAccumulator``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from pslab.errors import InvalidArgumentError
from pslab.graph.registry import NOT_YET
from pslab.sync.weighing import weighted_mean


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


class _Handed(NamedTuple):
    """A gradient that was handed in."""

    worker: int
    weight: int
    gradient: Any


class Accumulator:
    """The pending gradients of one variable, and the global step that they must not be older than.

    Gradients are kept one by one and added up in the order of their workers when they are taken, so that the sum is the same, bit for bit, in
    whatever order they arrive. The arrays are kept, not copied: nobody may write to an array once it is handed in.

    Attributes:
        global_step: gradients computed at an older step are stale.
    """

    def __init__(self, global_step: int = 0) -> None:
        self.global_step = global_step
        self._gradients: list[_Handed] = []
        self._applied = 0
        self._dropped = 0

    def apply_grad(self, worker: int, local_step: int, gradient: Any, weight: int = 1) -> bool:
        """Hand in a gradient.

        Args:
            worker: index of the worker; it sets the place in the sum. Gradients of one worker are added in the order they come.
            local_step: the global step of the parameters that the gradient was computed at.
            gradient: an array.
            weight: how much it counts in a weighted mean; at least 1.

        Returns:
            Whether it was accepted: False if ``local_step`` is less than the global step; it is dropped then, and counted.

        Raises:
            InvalidArgumentError: its shape or dtype is not that of the pending gradients, or it weighs less than 1.
        """
        if weight < 1:
            raise InvalidArgumentError(f"the gradient of worker {worker} weighs {weight}; a weight is at least 1")
        if local_step < self.global_step:
            self._dropped += 1
            return False
        if self._gradients:
            first = self._gradients[0].gradient
            if gradient.shape != first.shape or gradient.dtype != first.dtype:
                raise InvalidArgumentError(
                    f"the gradient of worker {worker} is {gradient.dtype} of shape {gradient.shape}, "
                    f"that of worker {self._gradients[0].worker} {first.dtype} of shape {first.shape}"
                )
        self._gradients.append(_Handed(worker, weight, gradient))
        self._applied += 1
        return True

    def take_grad(self, num_required: int) -> Any:
        """The mean of all pending gradients, or `NOT_YET` while there are fewer than ``num_required``. See `take`."""
        return self.take(num_required, "mean")

    def take(self, num_required: int, aggregation: str) -> Any:
        """The aggregate of all pending gradients, or `NOT_YET` while there are fewer than ``num_required``.

        When taken, none is pending any more and the global step is one more, so that a gradient still on its way is stale.

        Args:
            num_required: how many to wait for.
            aggregation: ``"mean"``, ``"sum"``, or ``"weighted"``: their `weighted_mean`.

        Raises:
            InvalidArgumentError: ``num_required`` is less than 1.
        """
        if num_required < 1:
            raise InvalidArgumentError(f"expected to wait for at least 1 gradient, not {num_required}")
        if len(self._gradients) < num_required:
            return NOT_YET
        return self._take(self._gradients, [], aggregation)

    def has(self, workers: Sequence[int]) -> bool:
        """Whether gradients of these workers are pending; one entry per gradient."""
        return Counter(workers) <= Counter(handed.worker for handed in self._gradients)

    def take_of(self, workers: Sequence[int], aggregation: str) -> Any:
        """The aggregate of the oldest gradients of these workers, or `NOT_YET` while one of them is missing; others stay pending.

        Args:
            workers: one entry per gradient, at least one.
            aggregation: as of `take`.
        """
        taken: list[_Handed] = []
        rest: list[_Handed] = []
        missing = Counter(workers)
        for handed in self._gradients:
            missing[handed.worker] -= 1
            (taken if missing[handed.worker] >= 0 else rest).append(handed)
        return NOT_YET if len(taken) < len(workers) else self._take(taken, rest, aggregation)

    def _take(self, taken: list[_Handed], rest: list[_Handed], aggregation: str) -> Any:
        """The aggregate of some gradients, added up in the order of their workers; of one worker, in that of arrival. The ``rest`` stays."""
        self._gradients = rest
        self.global_step += 1
        ordered = sorted(taken, key=lambda handed: handed.worker)
        if aggregation == "weighted":
            return weighted_mean([h.weight for h in ordered], [h.gradient for h in ordered])
        total = ordered[0].gradient.copy()
        for handed in ordered[1:]:
            total += handed.gradient
        if aggregation == "mean" and len(ordered) > 1:
            total /= len(ordered)
        return total

    def set_global_step(self, step: int) -> None:
        """Go to global step ``step``, which may be an earlier one: a checkpoint was restored. Pending gradients stay."""
        self.global_step = step

    def pending(self) -> int:
        """The number of gradients accepted and not yet taken."""
        return len(self._gradients)

    @property
    def workers(self) -> tuple[int, ...]:
        """Whose gradients are accepted and not yet taken, in the order of arrival."""
        return tuple(handed.worker for handed in self._gradients)

    def stats(self) -> AccumulatorStats:
        """Counts of gradients."""
        return AccumulatorStats(self._applied, self._dropped, len(self._gradients))
