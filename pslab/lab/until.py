"""When a run of an experiment ends."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pslab.errors import UsageError

LIMIT = 5000
"""Updates after which a run is given up, where nothing else was said."""


@dataclass(frozen=True)
class Until:
    """When a run ends: whichever comes first.

    Loss and accuracy are those of the whole test set. They are measured before the first update and then every ``every`` updates (fewer where workers
    commit only every k steps: ``every``/k), with the training paused: that takes no training time. So what it takes to reach a target is known to
    within so many updates, and never told too low.

    Attributes:
        steps: updates of the parameters, at most; 5000 if None.
        loss: reached where the loss on the test set is no greater.
        accuracy: reached where the accuracy on the test set is no less; from 0 to 1.
        seconds: of training, at most; the updates in flight then are made.
        every: updates between two measurements.

    Raises:
        UsageError: a number is out of its range, or nothing was said.
    """

    steps: int | None = None
    loss: float | None = None
    accuracy: float | None = None
    seconds: float | None = None
    every: int = 25

    def __post_init__(self) -> None:
        if self.steps is self.loss is self.accuracy is self.seconds is None:
            raise UsageError("nothing says when a run ends", "such as Until(accuracy=0.95) or Until(steps=500)")
        for name in ("steps", "every"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                raise UsageError(f"Until({name}=…) must be a whole number from 1 on, found {value!r}")
        for name, least, most in (("loss", -math.inf, math.inf), ("accuracy", 0.0, 1.0), ("seconds", 0.0, math.inf)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and math.isfinite(value) and least <= value <= most):
                within = f" from {least:g} to {most:g}" if most < math.inf else " from 0 on" if least == 0 else ""
                raise UsageError(f"Until({name}=…) must be a finite number{within}, found {value!r}")

    @classmethod
    def of(cls, until: Until | None, goals: Mapping[str, Any]) -> Until:
        """What was said, as a value or as keywords.

        Raises:
            UsageError: both, or a keyword that there is not.
        """
        known = [field.name for field in dataclasses.fields(cls)]
        for name in goals:
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                raise UsageError(f"a run has no end {name!r}", f"did you mean {close[0]!r}?" if close else f"one of: {', '.join(known)}")
        if until is None:
            return cls(**goals)
        if not isinstance(until, Until) or goals:
            found = f"{until!r} and {', '.join(goals)}" if goals else repr(until)
            raise UsageError(f"until must be one pslab.Until(…), found {found}", "such as until=pslab.Until(accuracy=0.95, steps=2000)")
        return until

    @property
    def limit(self) -> int:
        """Updates of the parameters, at most."""
        return LIMIT if self.steps is None else self.steps

    @property
    def target(self) -> str:
        """What is to be reached, for people; empty where nothing is."""
        goals = {"accuracy": self.accuracy, "loss": self.loss}
        return " or ".join(f"{name} {goal:g}" for name, goal in goals.items() if goal is not None)

    def check(self, metrics: Sequence[str]) -> None:
        """Whether a model with these metrics can be measured so.

        Raises:
            UsageError: an accuracy is to be reached, and it has none.
        """
        if self.accuracy is not None and "accuracy" not in metrics:
            raise UsageError(f"the model has no metric 'accuracy'; it has {', '.join(metrics) or 'none'}", "Until(loss=…)")

    def reached(self, measured: Mapping[str, float]) -> bool:
        """Whether a target is reached with these figures of the test set: ``"loss"`` and the metrics."""
        by_loss = self.loss is not None and measured["loss"] <= self.loss
        return by_loss or (self.accuracy is not None and measured["accuracy"] >= self.accuracy)

    def over(self, steps: int, seconds: float) -> bool:
        """Whether there is no more to be made."""
        return steps >= self.limit or (self.seconds is not None and seconds >= self.seconds)

    def __str__(self) -> str:
        said = {"accuracy": self.accuracy, "loss": self.loss, "steps": self.steps, "seconds": self.seconds}
        return ", ".join(f"{name} {value:g}" for name, value in said.items() if value is not None)
