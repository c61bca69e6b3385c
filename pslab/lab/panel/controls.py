"""The controls: what can be set, what is in force, and how another value is asked for. A further one is a further entry of `CONTROLS`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pslab.errors import UsageError
from pslab.lab.mode_words import COMMITS, UPDATES
from pslab.lab.panel.desk import Desk
from pslab.train.compression import COMPRESSIONS
from pslab.train.strategy import Replication
from pslab.train.updates import SSP, Async, KAsync, Sync

MOST_TASKS = 16
"""Tasks of a kind that a panel asks for at most."""


@dataclass(frozen=True)
class Face:
    """How a control looks now.

    Attributes:
        label: what it is called.
        value: what is in force; None where nobody can tell.
        words: the same, for a mark in the plots.
        options: what can be chosen among; empty where it is a number.
        least: the smallest number.
        most: the largest number; None without a bound.
        factor: what a click multiplies or divides the number by; 0 where it adds or takes one.
        hint: what it does, in a sentence.
    """

    label: str
    value: Any
    words: str
    options: tuple[str, ...] = ()
    least: float = 1
    most: float | None = None
    factor: float = 0
    hint: str = ""


@dataclass(frozen=True)
class Control:
    """Something that can be set.

    Attributes:
        name: what it is known by.
        face: how it looks.
        apply: asks the lab for another value; raises where that cannot be.
    """

    name: str
    face: Callable[[Desk], Face]
    apply: Callable[[Desk, Any], object]


def _word(kinds: Mapping[str, Any], value: Any) -> str:
    return next(word for word, kind in kinds.items() if isinstance(value, kind))


def _replication(desk: Desk) -> Face:
    now = str(desk.lab.strategy.replication)
    return Face("Replication", now, now, tuple(str(r) for r in Replication), hint="Who builds the graph: each worker, or one client")


def _update(desk: Desk) -> Face:
    now = _word(UPDATES, desk.lab.strategy.update)
    return Face("Update", now, now, tuple(UPDATES), hint="When what workers commit is applied")


def _set_update(desk: Desk, word: Any) -> None:
    if word not in UPDATES:
        raise UsageError(f"there is no update rule {word!r}", f"one of: {', '.join(UPDATES)}")
    kind = UPDATES[word]
    if not isinstance(desk.lab.strategy.update, kind):
        desk.lab.mode(update=kind(k=max(1, _workers_now(desk) - 1)) if kind is KAsync else kind())


@dataclass(frozen=True)
class _Parameter:
    field: str
    label: str
    least: int
    hint: str


_PARAMETERS = {
    Sync: _Parameter("backup", "Backups", 0, "How many of the slowest workers a step does without"),
    SSP: _Parameter("staleness", "Staleness", 0, "How many steps one worker may be ahead of the slowest"),
    KAsync: _Parameter("k", "k", 1, "How many contributions make an update"),
}
_LOCKS = {"on": True, "off": False}


def _parameter(desk: Desk) -> Face:
    update = desk.lab.strategy.update
    if isinstance(update, Async):
        return Face(
            "Locks",
            "on" if update.lock else "off",
            "locks" if update.lock else "no locks",
            tuple(_LOCKS),
            hint="One at a time, or as they come (Hogwild)",
        )
    parameter = _PARAMETERS[type(update)]
    value = getattr(update, parameter.field)
    return Face(parameter.label, value, f"{parameter.label.lower()} {value}", (), parameter.least, MOST_TASKS, hint=parameter.hint)


def _set_parameter(desk: Desk, value: Any) -> None:
    update = desk.lab.strategy.update
    if isinstance(update, Async):
        desk.lab.mode(update=dataclasses.replace(update, lock=_LOCKS[value]))
    else:
        fields: dict[str, Any] = {_PARAMETERS[type(update)].field: _whole(value)}
        desk.lab.mode(update=dataclasses.replace(update, **fields))


def _commit(desk: Desk) -> Face:
    now = _word(COMMITS, desk.lab.strategy.commit)
    return Face("Commit", now, now, tuple(COMMITS), hint="What a worker commits: its gradient, or what became of a copy of its own")


def _set_commit(desk: Desk, word: Any) -> None:
    if word not in COMMITS:
        raise UsageError(f"there is no commit {word!r}", f"one of: {', '.join(COMMITS)}")
    if not isinstance(desk.lab.strategy.commit, COMMITS[word]):
        desk.lab.mode(commit=COMMITS[word]())


def _commit_every(desk: Desk) -> Face:
    now = desk.lab.strategy.commit_every
    return Face("Commit every", now, f"commit every {now}", (), 1, 1024, 2, "After how many of its steps a worker commits")


_NONE = "none"


def _compression(desk: Desk) -> Face:
    compression = desk.lab.strategy.compression
    now = _NONE if compression is None else compression.name
    return Face("Compression", now, "no compression" if now == _NONE else now, (_NONE, *COMPRESSIONS), hint="How commits are made smaller")


def _set_compression(desk: Desk, word: Any) -> None:
    if word != _NONE and word not in COMPRESSIONS:
        raise UsageError(f"there is no compression {word!r}", f"one of: {', '.join(COMPRESSIONS)}")
    desk.lab.mode(compression=None if word == _NONE else COMPRESSIONS[word]())


def _workers_now(desk: Desk) -> int:
    return desk.lab.cluster.workers or desk.workers


def _ps_now(desk: Desk) -> int:
    return desk.lab.cluster.ps or desk.ps


def _workers(desk: Desk) -> Face:
    now = _workers_now(desk)
    return Face("Workers", now, f"{now} workers", (), 1, MOST_TASKS, hint="How many replicas compute gradients")


def _set_workers(desk: Desk, value: Any) -> None:
    if desk.lab.cluster.running:
        desk.lab.cluster.scale(workers=_whole(value))
    else:
        desk.lab.strategy.check(_whole(value))
        desk.workers = _whole(value)


def _ps(desk: Desk) -> Face:
    now = _ps_now(desk)
    return Face("Servers (ps)", now, f"{now} ps", (), 1, MOST_TASKS, hint="How many tasks the parameters are spread over")


def _set_ps(desk: Desk, value: Any) -> None:
    if desk.lab.cluster.running:
        desk.lab.cluster.scale(ps=_whole(value))
    else:
        desk.ps = _whole(value)


def _rate(desk: Desk) -> Face:
    now = desk.lab.learning_rate
    hint = "How far a step goes along the gradient" if now is not None else "The optimizer was made by a function, which alone knows its rate"
    return Face("Learning rate", now, f"rate {now:g}" if now is not None else "", (), 0, None, 2, hint)


def _batch(desk: Desk) -> Face:
    now = desk.lab.batch_size
    if not isinstance(now, int):
        sizes = ", ".join(map(str, now))
        return Face("Batch size", None, f"batches {sizes}", (), 1, None, 2, f"Each worker has its own: {sizes}")
    return Face("Batch size", now, f"batch {now}", (), 1, None, 2, "Examples per worker and step")


def _whole(value: Any) -> int:
    if not isinstance(value, int | float) or value != int(value) or value < 0:
        raise UsageError(f"a whole number from 0 on is wanted, found {value!r}")
    return int(value)


CONTROLS = (
    Control("replication", _replication, lambda desk, value: desk.lab.mode(replication=value)),
    Control("update", _update, _set_update),
    Control("parameter", _parameter, _set_parameter),
    Control("commit", _commit, _set_commit),
    Control("commit_every", _commit_every, lambda desk, value: desk.lab.mode(commit_every=_whole(value))),
    Control("compression", _compression, _set_compression),
    Control("workers", _workers, _set_workers),
    Control("ps", _ps, _set_ps),
    Control("learning_rate", _rate, lambda desk, value: desk.lab.adjust(learning_rate=float(value))),
    Control("batch_size", _batch, lambda desk, value: desk.lab.adjust(batch_size=_whole(value))),
)
"""All controls, in the order they are shown."""
