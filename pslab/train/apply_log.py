"""The apply log: from where a training began, and in which order what its workers brought was applied. All that there is to know of it, without loss."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pslab.checkpoint.atomic import named_errors, publish, staging
from pslab.checkpoint.data_file import DataFile, as_text, describe, write_data
from pslab.data.division import Division
from pslab.errors import DataLossError
from pslab.train.reading import Reading
from pslab.train.strategy import Strategy
from pslab.train.strategy_data import as_data, from_data

_KIND = "apply_log"
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class EpochLog:
    """One activation of a mode.

    Attributes:
        strategy: the mode.
        first_step: the global step at its beginning.
        last_step: that at its end.
        orders: per ps, its ledger's entries as int32, as `pslab.sync.ledger.Ledger.order` has them; empty where a mode keeps none.
        places: of data that end, the batch with which each worker began; empty otherwise.
        out: workers that were out of data at the end.
        generators: of each task that had drawn at random before, where its sequences were, by the key of each: a `generator_state`.
    """

    strategy: Strategy
    first_step: int
    last_step: int
    orders: Sequence[Array]
    places: tuple[int, ...] = ()
    out: tuple[int, ...] = ()
    generators: dict[str, dict[str, Array]] = field(default_factory=dict)

    def updates(self, ps: int, workers: int) -> Array:
        """Where in the order of a ps its updates are: entries of who brought what was applied; or of the chief, whose number is that of ``workers``."""
        order = self.orders[ps]
        if not self.strategy.gathered:
            return np.flatnonzero(order >= 0)
        made = np.flatnonzero(order == workers)
        return made[1::2] if ps == 0 else made  # on the first it counts them, too


@dataclass(frozen=True, eq=False)
class ApplyLog:
    """A training since it began, was restored or reset, or was set up anew after a task was lost or the cluster was scaled.

    Attributes:
        ps: number of parameter servers.
        workers: number of workers.
        division: how the data are divided among the workers.
        reading: how examples come in.
        fingerprint: of the data set and the model, as `pslab.train.fingerprint` has it.
        beginning: parameters, slots and the global step when it began, by name.
        epochs: what was done since.
        outcome: `pslab.train.fingerprint.digests` of the parameters at its end.
    """

    ps: int
    workers: int
    division: Division
    reading: Reading
    fingerprint: Mapping[str, str]
    beginning: Mapping[str, Array]
    epochs: Sequence[EpochLog]
    outcome: Mapping[str, str]

    @property
    def last_step(self) -> int:
        """The global step at the end."""
        return self.epochs[-1].last_step if self.epochs else int(self.beginning["global_step"])

    def save(self, path: str | Path) -> str:
        """Write it to a file, whole or not at all; returns the path.

        Raises:
            OpError: it cannot be written.
        """
        target = str(Path(path).expanduser().resolve())
        arrays = {f"beginning/{name}": np.asarray(value, order="C") for name, value in self.beginning.items()}
        for i, epoch in enumerate(self.epochs):
            arrays.update({f"order/{i}/{j}": order for j, order in enumerate(epoch.orders)})
            arrays.update({f"generator/{i}/{task}/{key}": state for task, states in epoch.generators.items() for key, state in states.items()})
        epochs = [
            {"strategy": as_data(e.strategy), "first_step": e.first_step, "last_step": e.last_step, "places": list(e.places), "out": list(e.out)}
            for e in self.epochs
        ]
        numbers = {"ps": self.ps, "workers": self.workers, "division": asdict(self.division), "reading": str(self.reading)}
        extra = {"kind": _KIND, **numbers, "fingerprint": dict(self.fingerprint), "outcome": dict(self.outcome), "epochs": epochs}
        about = as_text(describe(arrays, {}, global_step=self.last_step, extra=extra))
        with named_errors("write", target), staging(os.path.dirname(target)) as stage:
            staged = os.path.join(stage, "log")
            write_data(staged, arrays, about, target)
            publish(staged, target)
        return target

    @classmethod
    def load(cls, path: str | Path) -> ApplyLog:
        """Read it from a file.

        Raises:
            NotFoundError: there is none.
            DataLossError: the file is truncated or changed, or is no apply log.
        """
        source = str(Path(path).expanduser().resolve())
        file = DataFile(source)
        try:
            extra = file.about["extra"]
            if not isinstance(extra, dict) or extra.get("kind") != _KIND:
                raise DataLossError(f"{source} is no apply log", "lab.log().save(path) writes one")
            arrays = {name: file.read(name) for name in file.shapes}
            beginning = {name.removeprefix("beginning/"): array for name, array in arrays.items() if name.startswith("beginning/")}
            epochs = [_epoch(e, [arrays[f"order/{i}/{j}"] for j in range(extra["ps"])]) for i, e in enumerate(extra["epochs"])]
            for name in (n for n in arrays if n.startswith("generator/")):
                _, i, task, key = name.split("/", 3)
                epochs[int(i)].generators.setdefault(task, {})[key] = arrays[name]
            division, reading = Division(**extra["division"]), Reading(extra["reading"])
            return cls(extra["ps"], extra["workers"], division, reading, dict(extra["fingerprint"]), beginning, epochs, dict(extra["outcome"]))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise DataLossError(f"{source} has a damaged header: {type(error).__name__}: {error}") from None
        finally:
            file.close()


def _epoch(data: Mapping[str, Any], orders: Sequence[Array]) -> EpochLog:
    return EpochLog(from_data(data["strategy"]), int(data["first_step"]), int(data["last_step"]), orders, tuple(data["places"]), tuple(data["out"]))
