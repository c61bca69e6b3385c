"""A strategy as plain data, and back: what a file says of a mode."""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import Any

from pslab.train.collective import Pipeline, RingAllReduce
from pslab.train.commits import Differences, Elastic, Gradients
from pslab.train.compression import COMPRESSIONS
from pslab.train.strategy import Strategy
from pslab.train.updates import SSP, Async, KAsync, Sync

_KINDS = {
    kind.__name__: kind
    for kind in (Strategy, Sync, KAsync, Async, SSP, RingAllReduce, Pipeline, Gradients, Differences, Elastic, *COMPRESSIONS.values())
}


def as_data(value: Any) -> Any:
    """A strategy, or a part of one, as JSON has it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__, **{f.name: as_data(getattr(value, f.name)) for f in dataclasses.fields(value)}}
    return value.value if isinstance(value, Enum) else value


def from_data(data: Any) -> Any:
    """What `as_data` was given.

    Raises:
        KeyError, TypeError, ValueError: it is no such data.
    """
    if not isinstance(data, dict):
        return data
    fields = {name: from_data(value) for name, value in data.items() if name != "type"}
    return _KINDS[data["type"]](**fields)
