"""All that decides how a training goes, but for its data and its seed: what an experiment changes."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pslab.data.division import Division
from pslab.data.partitions import DataSource
from pslab.errors import PslabError, UsageError
from pslab.lab.recipe import Recipe
from pslab.train.model import Model
from pslab.train.reading import Reading, check_passes
from pslab.train.strategy import Strategy


@dataclass(frozen=True)
class Setup:
    """How a training is set up.

    Attributes:
        strategy: how the replicas work together.
        recipe: the model.
        batch_size: examples per step of a worker: one number for all, or one per worker.
        reading: how examples come in.
        ps: number of parameter servers.
        workers: number of workers.
        shares: which part of the examples each worker has as its own; None deals out one stream.
        passes: how often a worker goes through what it gets; None is for ever.
    """

    strategy: Strategy
    recipe: Recipe
    batch_size: int | Sequence[int]
    reading: Reading
    ps: int
    workers: int
    shares: Sequence[float] | None = None
    passes: int | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The value of each setting, by its name among `KEYS`."""
        return {key: getattr(self if part is None else getattr(self, part), field) for key, (part, field) in KEYS.items()}

    def changed(self, point: Mapping[str, Any]) -> Setup:
        """The same with other values of some settings.

        Raises:
            UsageError: there is no such setting, or a value does not fit.
        """
        own: dict[str, Any] = {}
        parts: dict[str, dict[str, Any]] = {}
        for key, value in point.items():
            check_key(key)
            part, field = KEYS[key]
            (own if part is None else parts.setdefault(part, {}))[field] = value
        try:
            return dataclasses.replace(self, **own, **{part: dataclasses.replace(getattr(self, part), **fields) for part, fields in parts.items()})
        except (TypeError, ValueError) as error:  # a UsageError is one
            raise misfit(point, error) from None

    def check(self, dataset: DataSource) -> Model:
        """Try it out on a data set, as far as that goes without training; returns the model.

        Raises:
            UsageError: something does not fit the rest, or the data.
        """
        for name in ("ps", "workers"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise UsageError(f"{name} must be a whole number from 1 on, found {value!r}")
        self.strategy.check(self.workers)
        self.division().check(self.workers, dataset.examples)
        check_passes(self.reading, self.division())
        return self.recipe.model(dataset)

    def division(self, seed: int = 0) -> Division:
        """How the data are divided."""
        return Division(self.batch_size, self.shares, self.passes, seed)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reading", Reading(self.reading))
        division = self.division()
        for name in ("batch_size", "shares"):
            object.__setattr__(self, name, getattr(division, name))


def check_key(key: str) -> None:
    """Refuse what is no setting.

    Raises:
        UsageError: there is none of this name; the hint has the nearest that there is.
    """
    if key not in KEYS:
        close = difflib.get_close_matches(key, KEYS, n=1)
        raise UsageError(f"there is no setting {key!r}", f"did you mean {close[0]!r}?" if close else f"one of: {', '.join(KEYS)}")


def said(point: Mapping[str, Any]) -> str:
    """A point of a grid, for people."""
    return ", ".join(f"{key}={value}" for key, value in point.items())


def misfit(point: Mapping[str, Any], error: Exception) -> UsageError:
    """What is wrong with a point of a grid, from what is wrong with a value of it."""
    message, hint = (error.message, error.hint) if isinstance(error, PslabError) else (str(error), "")
    return UsageError(f"{said(point)}: {message}", hint)


def _keys() -> dict[str, tuple[str | None, str]]:
    parts = {"strategy": Strategy, "recipe": Recipe}
    nested = {field.name: (part, field.name) for part, kind in parts.items() for field in dataclasses.fields(kind)}
    own = {field.name: (None, field.name) for field in dataclasses.fields(Setup) if field.name not in parts}
    del nested["seed"]  # each run has its own
    nested["model"] = nested.pop("source")
    return {**nested, **own}


KEYS: dict[str, tuple[str | None, str]] = _keys()
"""Every setting: its name, the part of a `Setup` that it belongs to (None for the setup itself), and its field there."""
