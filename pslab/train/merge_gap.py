"""What merging replicas does to the loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class MergeGap:
    """The loss of averaged parameters against the losses of those that were averaged, all on the test set.

    On a convex loss the gap is never positive (Jensen). It is where replicas lie in basins of their own, between which the loss is higher (Frankle et
    al., 2020, "Linear Mode Connectivity and the Lottery Ticket Hypothesis").

    Attributes:
        steps: the global step of each replica's last commit, by its worker.
        losses: the loss of each replica as it came to that commit, by its worker.
        average: the loss of the mean of their parameters.
    """

    steps: dict[str, int]
    losses: dict[str, float]
    average: float

    @property
    def global_step(self) -> int:
        """The latest of the steps."""
        return max(self.steps.values())

    @property
    def gap(self) -> float:
        """Loss of the average, less the mean of the losses."""
        return self.average - float(np.mean(list(self.losses.values())))

    def __str__(self) -> str:
        lines = [f"{worker:<12}{loss:10.4f}" for worker, loss in self.losses.items()]
        return "\n".join(
            [f"test loss, commits of step {self.global_step}", *lines, f"{'average':<12}{self.average:10.4f}", f"{'gap':<12}{self.gap:+10.4f}"]
        )
