"""A set-up as one line of text: what a class begins from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pslab.errors import UsageError
from pslab.lab.recipe import Recipe
from pslab.lab.setup import KEYS, Setup, check_key
from pslab.lab.values import call, read
from pslab.runtime.transport.network import Link, Network
from pslab.train.collective import Pipeline, RingAllReduce
from pslab.train.commits import Differences, Elastic, Gradients
from pslab.train.compression import COMPRESSIONS
from pslab.train.delays import Constant, Delay, Exponential, Pareto, check_delay
from pslab.train.reading import Reading
from pslab.train.strategy import Strategy
from pslab.train.updates import SSP, Async, KAsync, Sync

_NAME = "pslab"
_KINDS: Mapping[str, type] = {
    kind.__name__: kind
    for kind in (
        *(Sync, Async, SSP, KAsync, RingAllReduce, Pipeline),
        *(Gradients, Differences, Elastic),
        *COMPRESSIONS.values(),
        *(Network, Link),
        *(Constant, Exponential, Pareto),
    )
}


@dataclass(frozen=True)
class Origin:
    """Where data come from.

    Attributes:
        data: the name of a data set, or URLs of files.
        label: of tables and files, the column of the targets.
        classes: of data in parts, how many classes there are; None where the first part tells.
    """

    data: str | tuple[str, ...] = "digits"
    label: str | int | None = None
    classes: int | None = None


_SETUP, _DIGITS, _NETWORK = Setup(Strategy(), Recipe(), 64, Reading.FEEDING, 1, 2), Origin(), Network()


@dataclass(frozen=True)
class Share:
    """All that decides how a training goes, from its beginning.

    Attributes:
        setup: mode, model, how the data are divided, and among how many tasks.
        origin: where the data come from.
        data_seed: seed of the order of the examples.
        seed: of the initial parameters.
        network: what the links are like.
        slow: the workers that are slow: pairs of a task and its delay.
    """

    setup: Setup = _SETUP
    origin: Origin = _DIGITS
    data_seed: int = 0
    seed: int = 0
    network: Network = _NETWORK
    slow: tuple[tuple[str, Delay], ...] = ()

    def __post_init__(self) -> None:
        for name in ("data_seed", "seed"):
            if not isinstance(value := getattr(self, name), int) or isinstance(value, bool) or value < 0:
                raise UsageError(f"{name} must be a whole number from 0 on, found {value!r}")
        if not isinstance(self.network, Network):
            raise UsageError(f"network must be such as Network(latency=0.001), found {self.network!r}")
        for pair in self.slow if isinstance(self.slow, tuple) else (self.slow,):
            if not (isinstance(pair, tuple) and len(pair) == 2):
                raise UsageError(f"slow must be such as {_SLOW}, found {pair!r}")
            check_delay(pair[1])
        tasks = {f"{job}:{i}" for job, count in (("ps", self.setup.ps), ("worker", self.setup.workers), ("client", 1)) for i in range(count)}
        for task in (*(task for pair, _ in self.network.links for task in pair), *(task for task, _ in self.slow)):
            if task not in tasks:
                raise UsageError(f"there is no task {task!r} among {self.setup.ps} ps and {self.setup.workers} workers")

    @property
    def values(self) -> dict[str, Any]:
        """Every value, by name."""
        return {**dataclasses.asdict(self.origin), **self.setup.settings, **{name: getattr(self, name) for name in _OWN}}

    def __str__(self) -> str:
        usual = Share().values
        return call(_NAME, {name: value for name, value in self.values.items() if value != usual[name]})


_SLOW = '(("worker:1", Constant(seconds=0.05)),)'
_OWN = ("data_seed", "seed", "network", "slow")


def read_share(text: str) -> Share:
    """What a line of text means.

    Raises:
        UsageError: it cannot be meant, or a value does not fit.
    """
    values = read(text, _NAME, _KINDS)
    usual = Share()
    origin = {field.name: values.pop(field.name) for field in dataclasses.fields(Origin) if field.name in values}
    own = {name: values.pop(name) for name in _OWN if name in values}
    for key in values:
        check_key(key)
    setup = usual.setup.changed({key: values[key] for key in KEYS if key in values})
    try:
        return dataclasses.replace(usual, setup=setup, origin=Origin(**origin), **own)
    except TypeError:  # some part of a part
        raise UsageError(f"{call(_NAME, own)} has a value that does not fit", "what share tells does") from None
